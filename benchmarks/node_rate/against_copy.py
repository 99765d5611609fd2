# SPDX-License-Identifier: Apache-2.0
"""
Command: scripts/env.sh python -m benchmarks.node_rate.against_copy [--seconds S] [--pairs N].

Runs inverse_dynamics_node and a node that only copies states (`copy_node.py`) in turn, at 1 kHz,
at real-time priority (needs the right to it). Seven joints, four modes, torque_model
flexible_hybrid; markers beside it, a service call every 100 ms, and half way a parameter that
needs new code. Prints the unanswered part, the delays of answers, and processor time, and ends
with code 1 where the inverse dynamics exceed the bars below.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import sys
import time
from typing import Any, NamedTuple

from benchmarks.node_rate.__main__ import (
    expanded,
    listening_probe,
    Probe,
    running,
    wait_for_answer,
)
import numpy as np
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter

RATE = 1000.0  # [Hz]
CALLS = 0.1  # between two service calls [s]
PRIORITY, PROBE_PRIORITY = 10, 20
MODULES = {
    'copy': 'benchmarks.node_rate.copy_node',
    'inverse dynamics': 'flexdyn_ros.nodes.inverse_dynamics_node',
}
# Beyond the copy: unanswered states [1], 99th percentile of the delay [s], processor time [1].
MORE_UNANSWERED, MORE_DELAY, MOST_TIME = 1e-3, 3e-4, 2.0 / 3.0


class Measurement(NamedTuple):
    """Measurements of one run: unanswered part, delays [s], part of a core."""

    unanswered: float
    median: float
    late: float
    core: float


def main() -> int:
    """Run the nodes in turn; return 1 where the bars are exceeded."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.node_rate.against_copy')
    parser.add_argument('--seconds', type=float, default=60.0, help='of one run')
    parser.add_argument('--pairs', type=int, default=2, help='number of runs of each node')
    call = parser.parse_args()
    text = expanded('modes:=2')
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PROBE_PRIORITY))
    found: dict[str, list[Measurement]] = {name: [] for name in MODULES}
    print('node               unanswered  delay median, 99th percentile [ms]  of a core  load')
    with listening_probe() as probe:
        for _ in range(call.pairs):
            for name in MODULES:
                run = _run(probe, name, text, call.seconds)
                found[name].append(run)
                load = Path('/proc/loadavg').read_text(encoding='ascii').split()[0]
                print(f'{name:18}  {run.unanswered:8.3%}   {1e3 * run.median:.2f}, '
                      f'{1e3 * run.late:.2f} {run.core:30.1%} {load:>8}', flush=True)
    copy, own = (Measurement(*np.mean(found[name], axis=0)) for name in MODULES)
    more = own.unanswered - copy.unanswered, own.late - copy.late, own.core / copy.core
    print(f'unanswered {more[0]:+.3%}, 99th percentile {1e3 * more[1]:+.2f} ms, processor time '
          f'{more[2]:.2f} of the copy')
    return int(any(a > b for a, b in zip(more, (MORE_UNANSWERED, MORE_DELAY, MOST_TIME))))


def _run(probe: Probe, name: str, text: str, seconds: float) -> Measurement:
    parameters: dict[str, Any] = {
        'robot_description': text, 'torque_model': 'flexible_hybrid', 'payload.link': '',
    }
    markers = {'robot_description': text, 'deflection': 'quasi_static'}
    with running('flexdyn_ros.nodes.deflection_markers_node', markers), \
            running(MODULES[name], parameters, PRIORITY) as node:
        wait_for_answer(probe, node)
        time.sleep(1.0)
        probe.sent.clear()
        probe.delays.clear()
        before = _processor_time(node.pid)
        start = time.monotonic()
        _stream(probe, seconds)
        used = (_processor_time(node.pid) - before) / (time.monotonic() - start)
        time.sleep(0.3)
    count = int(RATE * seconds)
    median, late = np.percentile(probe.delays, (50, 99))
    return Measurement(1.0 - len(probe.delays) / count, float(median), float(late), used)


def _stream(probe: Probe, seconds: float) -> None:
    """Publish states, call a service, and set a parameter that needs code."""
    node = 'inverse_dynamics_node'
    asking = probe.create_client(GetParameters, f'{node}/get_parameters')
    setting = probe.create_client(SetParameters, f'{node}/set_parameters')
    payload = Parameter('payload.link', value='link5').to_parameter_msg()
    start, calls = time.monotonic(), round(RATE * CALLS)
    count = int(RATE * seconds)
    for step in range(count):
        probe.send(time.time())
        if step % calls == calls // 2:
            asking.call_async(GetParameters.Request(names=['timeout']))
        if step == count // 2:
            setting.call_async(SetParameters.Request(parameters=[payload]))
        time.sleep(max(0.0, start + (step + 1) / RATE - time.monotonic()))
    probe.destroy_client(asking)
    probe.destroy_client(setting)


def _processor_time(pid: int) -> float:
    """Return the processor time of a process [s], without its children."""
    fields = Path(f'/proc/{pid}/stat').read_text(encoding='ascii').rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


if __name__ == '__main__':
    sys.exit(main())

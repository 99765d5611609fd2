# SPDX-License-Identifier: Apache-2.0
"""
Command: scripts/env.sh python -m benchmarks.soak [--minutes M] [--rate HZ] [--mode MODE].

Runs inverse_dynamics_node under a steady stream of joint states, and prints its memory and its
delays twelve times. Ends with code 1 where memory grew after the first quarter, or where the node
stopped answering. States that arrive during a computation are dropped: on a busy machine only a
part of them is answered.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import sys
import time

from benchmarks.node_rate.__main__ import answering_node, expanded, listening_probe, MODES, Probe
import numpy as np

ROWS = 12
WARM_UP = ROWS // 4  # rows before memory has to be flat
GROWTH = 1.0  # of resident memory that caches and the allocator may still cause [MB]
FEWEST = 0.1  # part of the states of a row that must be answered [1]


def main() -> int:
    """Run the node; return 1 where it did not hold out."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.soak')
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--rate', type=float, default=500.0, help='of joint states [Hz]')
    parser.add_argument('--mode', choices=MODES, default='flexible_hybrid')
    call = parser.parse_args()
    memory, shares = [], []
    with listening_probe() as probe:
        parameters = {'robot_description': expanded(), 'torque_model': call.mode}
        with answering_node(probe, parameters) as node:
            print('time [s]  memory [MB]  answered  delay median, 99th percentile [ms]')
            for row in range(ROWS):
                share = stream(probe, call.rate, 60.0 * call.minutes / ROWS)
                memory.append(resident(node.pid))
                shares.append(share)
                delays = np.percentile(1e3 * np.array(probe.delays or [np.nan]), (50, 99))
                print(f'{(row + 1) * 60.0 * call.minutes / ROWS:8.0f}  {memory[-1]:11.2f}  '
                      f'{share:8.2%}  {delays[0]:.2f}, {delays[1]:.2f}', flush=True)
    grown = max(memory[WARM_UP:]) - memory[WARM_UP]
    kept = grown <= GROWTH and min(shares) >= FEWEST
    print(f'memory grew by {grown:.2f} MB after the first quarter; at least {min(shares):.2%} of '
          f'the states were answered: {"passed" if kept else "failed"}')
    return 0 if kept else 1


def stream(probe: Probe, rate: float, seconds: float) -> float:
    """Publish states for a while; return the fraction of them that was answered."""
    probe.sent.clear()
    probe.delays.clear()
    count = int(rate * seconds)
    start = time.monotonic()
    for step in range(count):
        probe.send(time.time())
        time.sleep(max(0.0, start + (step + 1) / rate - time.monotonic()))
    time.sleep(0.3)
    return len(probe.delays) / count


def resident(pid: int) -> float:
    """Return the resident memory of a process [MB]."""
    pages = int(Path(f'/proc/{pid}/statm').read_text(encoding='ascii').split()[1])
    return 1e-6 * pages * os.sysconf('SC_PAGE_SIZE')


if __name__ == '__main__':
    sys.exit(main())

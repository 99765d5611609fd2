# SPDX-License-Identifier: Apache-2.0
"""
Command: scripts/env.sh python -m benchmarks.node_rate [--backend BACKEND] [RATE ...].

Starts inverse_dynamics_node as a process of its own, and publishes joint states at each rate [Hz]
from this one. Prints the number of torques that came back, and their delay.
"""

from __future__ import annotations

import argparse
from array import array
from contextlib import contextmanager
import math
import os
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Iterator

from builtin_interfaces.msg import Time
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.nodes.common.subscription_thread import OutsideExecutor, SubscriptionThread
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
import yaml

URDF = Path(__file__).resolve().parents[2] / 'urdf' / 'cobot7.urdf.xacro'
MODES = ('gravity', 'rigid', 'flexible_quasi_static', 'flexible_hybrid')
SECONDS = 5.0
PATIENCE = 60.0


class Probe(Node):
    """Publishes joint states and times the torques that answer them."""

    def __init__(self, joints: tuple[str, ...]):
        """Create the topics."""
        super().__init__('node_rate_probe')
        self.joints = list(joints)
        self.sent: dict[tuple[int, int], float] = {}
        self.delays: list[float] = []
        self.publisher = self.create_publisher(JointState, 'joint_states', 1)
        answers = self.create_subscription(
            JointState, 'inverse_dynamics_node/joint_torques', self._answer,
            qos_profile_sensor_data, callback_group=OutsideExecutor(),
        )
        # An executor would take longer than the measured time.
        self.answers = SubscriptionThread(self, [answers])

    def callback_failed(self, what: str, error: Exception) -> None:
        """End the benchmark."""
        raise error

    def _answer(self, message: JointState) -> None:
        sent = self.sent.pop((message.header.stamp.sec, message.header.stamp.nanosec), None)
        if sent is not None:
            self.delays.append(time.monotonic() - sent)

    def send(self, moment: float) -> None:
        """Publish one state of a slow swing."""
        stamp = Time(sec=int(moment), nanosec=int(moment % 1.0 * 1e9))
        swing = 0.3 * math.sin(moment)
        message = JointState(name=self.joints)
        message.header.stamp = stamp
        message.position = array('d', [swing] * len(self.joints))
        message.velocity = array('d', [0.3 * math.cos(moment)] * len(self.joints))
        self.sent[stamp.sec, stamp.nanosec] = time.monotonic()
        self.publisher.publish(message)


def main() -> int:
    """Measure all modes at all rates."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.node_rate')
    parser.add_argument('rates', nargs='*', type=float, default=[200.0, 500.0, 1000.0])
    parser.add_argument('--backend', default='auto', help='as the parameter of the node')
    arguments = parser.parse_args()
    with listening_probe() as probe:
        print(f'{load_robot(URDF)}; backend "{arguments.backend}"; {SECONDS:g} s a row')
        print('mode                    sent [1/s]  answered  delay median, 99th percentile [ms]')
        for mode in MODES:
            parameters = {'backend': arguments.backend, 'robot_description': expanded()}
            _measure_mode(probe, {**parameters, 'torque_model': mode}, arguments.rates)
    return 0


@contextmanager
def listening_probe(joints: tuple[str, ...] = ()) -> Iterator[Probe]:
    """Run a probe that sends states of these joints, by default the arm's."""
    rclpy.init()
    probe = Probe(joints or load_robot(URDF).joint_names)
    try:
        yield probe
    finally:
        probe.answers.stop()
        probe.destroy_node()
        rclpy.try_shutdown()


def expanded(*arguments: str) -> str:
    """Return the arm's description, with arguments of xacro."""
    command = ['xacro', str(URDF), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _measure_mode(probe: Probe, parameters: dict[str, str], rates: list[float]) -> None:
    with answering_node(probe, parameters):
        for rate in rates:
            _measure(probe, parameters['torque_model'], rate)


@contextmanager
def answering_node(probe: Probe, parameters: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run inverse_dynamics_node with parameters, from its first answer on."""
    with running('flexdyn_ros.nodes.inverse_dynamics_node', parameters) as node:
        wait_for_answer(probe, node)
        yield node


@contextmanager
def running(
    module: str, parameters: dict[str, Any], priority: int = 0
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a module with parameters of ROS, at a real-time priority unless 0, and end it."""
    command = [sys.executable, '-m', module, '--ros-args', '--log-level', 'error']
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'parameters.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}))
        chrt = ['chrt', '-f', str(priority)] if priority else []
        node = subprocess.Popen(
            [*chrt, *command, '--params-file', str(file)],
            # So that traced code is not found on disk.
            env={**os.environ, 'FLEXDYN_CACHE_DIR': folder} if priority else None,
        )
        try:
            yield node
        finally:
            node.send_signal(signal.SIGINT)
            node.wait(20.0)


def wait_for_answer(probe: Probe, node: subprocess.Popen[bytes]) -> None:
    """Return when the node answers."""
    end = time.monotonic() + PATIENCE
    probe.delays.clear()
    while not probe.delays:
        if node.poll() is not None or time.monotonic() > end:
            raise SystemExit('inverse_dynamics_node does not answer')
        probe.send(time.time())
        time.sleep(0.05)


def _measure(probe: Probe, mode: str, rate: float) -> None:
    time.sleep(0.2)
    probe.sent.clear()
    probe.delays.clear()
    count = int(rate * SECONDS)
    start = time.monotonic()
    for step in range(count):
        probe.send(time.time())
        time.sleep(max(0.0, start + (step + 1) / rate - time.monotonic()))
    took = time.monotonic() - start
    time.sleep(0.3)
    delays = 1e3 * np.array(probe.delays or [np.nan])
    middle, late = np.percentile(delays, (50, 99))
    share = len(probe.delays) / count
    print(f'{mode:22}  {count / took:10.0f}  {share:7.1%}   {middle:.2f}, {late:.2f}', flush=True)


if __name__ == '__main__':
    sys.exit(main())

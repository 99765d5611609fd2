# SPDX-License-Identifier: Apache-2.0
"""Nodes as processes of their own, and a probe node that talks to them over DDS."""

import os
import signal
import subprocess
import time

from contexts import end_context, new_context
from diagnostic_msgs.msg import DiagnosticArray
from fork_server import COMMANDS, Forked
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
import yaml

RUNNING = []  # processes that must not end by themselves
# Limit of every wait; conditions usually hold within a second, but machines are busy [s].
LIMIT = 60.0


class NodeProcess:
    """
    A node of the package in a process of its own.

    Attributes:
        log: Its output so far.
    """

    def __init__(self, folder, node, parameters, ros_arguments=(), may_end=False):
        """
        Start a node.

        Args:
            folder: Folder of its files.
            node: Name of the node.
            parameters: A dictionary, groups by dots or nested.
            ros_arguments: More of the command line.
            may_end: Whether it may end by itself without failing every wait.
        """
        folder = folder / f'{node}_{time.monotonic_ns()}'
        folder.mkdir(parents=True)
        file = folder / 'parameters.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}))
        self._log = folder / 'log.txt'
        module = f'flexdyn_ros.nodes.{node}'
        self._log.touch()
        self._process = Forked(
            COMMANDS, [module, '--ros-args', '--params-file', file, *ros_arguments], folder,
            dict(os.environ), stdout=self._log, stderr=self._log,
        )
        if not may_end:
            RUNNING.append(self)

    @property
    def log(self):
        """Return everything printed so far."""
        return self._log.read_text()

    @property
    def pid(self):
        """Return the process id."""
        return self._process.pid

    def running(self):
        """Return whether the process still runs."""
        return self._process.poll() is None

    def stop(self, number=signal.SIGINT):
        """Send a signal, wait, and return the exit code."""
        if self in RUNNING:
            RUNNING.remove(self)
        if self.running():
            self._process.send_signal(number)
        try:
            return self._process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(LIMIT)
            raise AssertionError(f'still running after signal {number}: {self.log}') from None


class Probe:
    """
    A node in the test's process that publishes, listens and waits for conditions.

    Attributes:
        node: The rclpy node.
    """

    def __init__(self):
        """Create the node in a context of its own."""
        self._context = new_context()
        self.node = rclpy.create_node('probe', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._publishers = {}

    def close(self):
        """Destroy node and context."""
        self._executor.shutdown()
        end_context(self._context, self.node)

    def listen(self, kind, topic, qos=50):
        """Return a list that grows by each message on a topic."""
        received = []
        self.node.create_subscription(kind, topic, received.append, qos)
        return received

    def publish(self, topic, message, qos=10):
        """Publish a message; the publisher is kept."""
        key = (topic, str(qos))
        if key not in self._publishers:
            self._publishers[key] = self.node.create_publisher(type(message), topic, qos)
        self._publishers[key].publish(message)

    def wait_for(self, condition, what, meanwhile=lambda: None, limit=LIMIT):
        """
        Spin until a condition holds, and return its value.

        `meanwhile` is called every ten milliseconds, to publish an input again and again.
        """
        end = time.monotonic() + limit
        while time.monotonic() < end:
            meanwhile()
            self._executor.spin_once(timeout_sec=0.01)
            value = condition()
            if value:
                return value
            for process in RUNNING:
                assert process.running(), f'a node ended while waiting for {what}: {process.log}'
        logs = ''.join(process.log for process in RUNNING)
        raise AssertionError(f'not within {limit} s: {what}; the nodes say: {logs or "nothing"}')

    def call(self, kind, name, request):
        """Call a service and return its response."""
        client = self.node.create_client(kind, name)
        self.wait_for(client.service_is_ready, f'service {name}')
        future = client.call_async(request)
        return self.wait_for(lambda: future.done() and future.result(), f'answer of {name}')

    def statuses(self):
        """Return a list that grows by each diagnostic array."""
        return self.listen(DiagnosticArray, '/diagnostics')


def joint_state(names, positions, velocities, time_stamp=None):
    """Return a JointState; a time stamp [s] where given."""
    message = JointState(name=list(names))
    message.position = list(map(float, positions))
    message.velocity = list(map(float, velocities))
    if time_stamp is not None:
        message.header.stamp.sec = int(time_stamp)
        message.header.stamp.nanosec = round((time_stamp % 1.0) * 1e9)
    return message


def trajectory(names, *points):
    """Return a JointTrajectory of points (time, positions, velocities, accelerations)."""
    message = JointTrajectory(joint_names=list(names))
    for when, positions, velocities, accelerations in points:
        point = JointTrajectoryPoint()
        point.positions = list(map(float, positions))
        point.velocities = list(map(float, velocities))
        point.accelerations = list(map(float, accelerations))
        point.time_from_start.sec = int(when)
        point.time_from_start.nanosec = round((when % 1.0) * 1e9)
        message.points.append(point)
    return message


def key_values(array):
    """Return the key-value pairs of the first status of a diagnostic array."""
    return {pair.key: pair.value for pair in array.status[0].values}

# SPDX-License-Identifier: Apache-2.0
"""
The process that listens to everything, and writes data and report of a run.

Messages are not waited for one by one, which would cost more than the simulation: they gather in
the queues of the subscriptions, which are emptied many times a second.
"""

from __future__ import annotations

import sys
import time
from typing import Any
from typing import Optional

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from flexdyn_ros.demo import plan
from flexdyn_ros.demo.companion import run_companion
from flexdyn_ros.demo.recording import Recording
from flexdyn_ros.demo.reference_node import LATCHED
from flexdyn_ros.demo.run_report import write_report
from flexdyn_ros.nodes.ros_time import NANOSECONDS
from flexdyn_ros.nodes.ros_time import nanoseconds
from geometry_msgs.msg import PoseArray
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

QUEUE = QoSProfile(depth=1000)
PERIOD = 0.02  # real time between two looks at the queues [s]
SHOW_EVERY = 0.5  # real time between two lines of progress [s]
MOST_MARKERS = 20  # about as many of them are kept, evenly spread
QUIET = 0.5  # real time without news after the last state, before the record is closed [s]


class Recorder(Node):
    """Counts and keeps messages; `done` once the last state has been heard."""

    def __init__(self, run: plan.Run):
        """
        Subscribe.

        Args:
            run: What is recorded.
        """
        super().__init__('recorder')
        self.run = run
        self.recording = Recording(run)
        self._end = round(run.duration * NANOSECONDS)
        self._heard_last: Optional[float] = None
        self._shown = 0.0
        self._ready = self.create_publisher(Bool, plan.READY, LATCHED)
        self._is_ready = False
        self._inputs = [
            self._listen(JointState, plan.STATES, self._on_states),
            self._listen(JointState, plan.MODES, self._on_modes),
            self._listen(PoseArray, plan.TIPS, self._on_tips),
            self._listen(JointState, plan.TORQUES, self._on_torques),
            self._listen(JointTrajectory, plan.REFERENCE, self._on_reference),
            self._listen(JointTrajectory, plan.PD_REFERENCE, self._on_reference),
            self._listen(Clock, '/clock', self._on_clock),
            # Markers are large: they are kept as they come, and read when the run is over.
            self._listen(MarkerArray, plan.MARKERS, self._on_markers, raw=True),
            self._listen(DiagnosticArray, '/diagnostics', self._on_diagnostics),
        ]

    def _listen(self, kind: Any, topic: str, keep: Any, raw: bool = False) -> Any:
        full = topic if topic.startswith('/') else f'/{topic}'
        name = f'{kind.__module__.split(".")[0]}/{kind.__name__}'
        log = self.recording.log(full, name)
        subscription = self.create_subscription(kind, topic, _not_called, QUEUE, raw=raw)
        return subscription, log, keep

    def empty_queues(self) -> None:
        """Take over all messages that have come."""
        for subscription, log, keep in self._inputs:
            with subscription.handle:
                while True:
                    taken = subscription.handle.take_message(
                        subscription.msg_type, subscription.raw)
                    if taken is None:
                        break
                    message, about = taken
                    keep(log, message, 1e-9 * received(about))
        self._look_ready()

    def _look_ready(self) -> None:
        """Say that recording has begun, once the simulator is heard on all its topics."""
        if not self._is_ready and self.recording.hears_simulator():
            self._is_ready = True
            self._ready.publish(Bool(data=True))

    def _on_states(self, log: Any, message: JointState, now: float) -> None:
        stamp = nanoseconds(message.header.stamp)
        if log.heard(now, stamp):
            self.recording.add_state(stamp, message, now)
            if time.monotonic() - self._shown > SHOW_EVERY:
                self._shown = time.monotonic()
                print(f'progress {stamp * 1e-9:.3f}', flush=True)
        if stamp >= self._end and self._heard_last is None:
            self._heard_last = time.monotonic()

    def _on_modes(self, log: Any, message: JointState, now: float) -> None:
        stamp = nanoseconds(message.header.stamp)
        if log.heard(now, stamp):
            self.recording.modes.add(stamp, message.name, message.position, message.velocity)

    def _on_tips(self, log: Any, message: PoseArray, now: float) -> None:
        stamp = nanoseconds(message.header.stamp)
        if log.heard(now, stamp):
            place = message.poses[0].position
            self.recording.tips.add(stamp, ('x', 'y', 'z'), (place.x, place.y, place.z))

    def _on_torques(self, log: Any, message: JointState, now: float) -> None:
        stamp = nanoseconds(message.header.stamp)
        if log.heard(now, stamp):
            self.recording.torques.add(stamp, message.name, message.effort)

    def _on_reference(self, log: Any, message: JointTrajectory, now: float) -> None:
        log.heard(now, nanoseconds(message.header.stamp))

    def _on_clock(self, log: Any, message: Clock, now: float) -> None:
        log.heard(now, nanoseconds(message.clock))

    def _on_markers(self, log: Any, message: bytes, now: float) -> None:
        log.heard(now)
        self.recording.marker_messages.append(message)

    def _on_diagnostics(self, log: Any, message: DiagnosticArray, now: float) -> None:
        log.heard(now)
        for status in message.status:
            if status.level == DiagnosticStatus.ERROR and self.recording.started:
                self.recording.errors.append(f'{status.name}: {status.message}')

    @property
    def done(self) -> bool:
        """Whether the run is over and nothing more is to be expected."""
        return self._heard_last is not None and time.monotonic() - self._heard_last > QUIET


def _not_called(message: Any) -> None:
    """Stand in for a callback: the queues are emptied by hand, and no executor spins."""


def received(about: Any) -> int:
    """Return when a message arrived [ns], from what rclpy tells about it."""
    if isinstance(about, dict):
        return int(about['received_timestamp'])
    return int(about.received_timestamp)


def work(recorder: Recorder) -> None:
    """Record until the run is over, then write."""
    while rclpy.ok() and not recorder.done:
        recorder.empty_queues()
        time.sleep(PERIOD)
    if recorder.done:
        messages = recorder.recording.marker_messages
        chosen = messages[:: max(1, len(messages) // MOST_MARKERS)]
        markers = [deserialize_message(message, MarkerArray) for message in chosen]
        write_report(recorder.recording, markers)
        print('recorded', flush=True)


def main() -> int:
    """Run the process."""
    return run_companion(Recorder, work)


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""
The process that says what the arm shall do: reference motion, and a vendor's robot_description.

It answers each state of the simulator with the desired motion of the period that follows, under
the stamp of that state, so that the whole loop advances in step: state, reference, torque, next
state. A state that the simulator repeats is answered again, and what is late or double counts for
nothing: however slow a process is, no torque is applied to another period than its own. The
desired values are those of the middle of the period, during which the simulator holds them: that
makes the held torque right to second order.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from flexdyn_ros.demo import plan
from flexdyn_ros.demo.companion import run_companion
from flexdyn_ros.nodes.ros_time import NANOSECONDS
from flexdyn_ros.nodes.ros_time import nanoseconds
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_msgs.msg import Header
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
PATIENCE = 2.0  # with an answer about the inverse dynamics, before asking again [s]


class ReferencePublisher(Node):
    """Answers joint states with the desired motion, until the run is over."""

    def __init__(self, run: plan.Run):
        """
        Create publishers and subscriptions.

        Args:
            run: What to do.
        """
        super().__init__('reference_publisher')
        self._run = run
        self._motion = run.motion
        self._joints = list(run.demo_robot.joints)
        self._end = round(run.duration * NANOSECONDS)
        self._connected = False
        self._recording = False
        self._controlling = False
        self._reference = self.create_publisher(JointTrajectory, plan.REFERENCE, 10)
        self._pd_reference = self.create_publisher(JointTrajectory, plan.PD_REFERENCE, 10)
        self._description = self.create_publisher(String, 'robot_description', LATCHED)
        if run.as_topic:
            with open(run.description_file, encoding='utf-8') as file:
                self._description.publish(String(data=file.read()))
        self._client: Any = self.create_client(GetState, 'inverse_dynamics_node/get_state')
        self._inputs = (
            self.create_subscription(JointState, plan.STATES, self._on_state, 10),
            self.create_subscription(Bool, plan.READY, self._on_ready, LATCHED),
        )
        self._timer = self.create_timer(0.1, self._ask)
        self._pending: Any = None
        self._asked_at = 0.0

    def _ask(self) -> None:
        """
        Ask whether the inverse dynamics is active, until it is.

        A service that has seen this client's request and not yet its reader drops the answer, so
        that an answer may never come.
        """
        late = self._pending is not None and time.monotonic() - self._asked_at > PATIENCE
        if late and not self._pending.done():
            self._client.remove_pending_request(self._pending)
            self._pending = None
        if self._pending is None and self._client.service_is_ready():
            self._asked_at = time.monotonic()
            self._pending = self._client.call_async(GetState.Request())
        elif self._pending is not None and self._pending.done():
            result = self._pending.result()
            self._pending = None
            if result.current_state.id == State.PRIMARY_STATE_ACTIVE:
                self._controlling = True
                self._timer.cancel()

    def _on_ready(self, message: Bool) -> None:
        self._recording = message.data

    def _on_state(self, message: JointState) -> None:
        stamp = nanoseconds(message.header.stamp)
        # The last state stays unanswered, which halts the simulator there.
        if self._may_begin() and stamp < self._end:
            self._answer(message.header, stamp / NANOSECONDS)

    def _may_begin(self) -> bool:
        """Return whether the inverse dynamics, the simulator and the recorder listen."""
        if not self._connected and self._recording and self._controlling:
            self._connected = all(
                publisher.get_subscription_count() >= 2
                for publisher in (self._reference, self._pd_reference)
            )
        return self._connected

    def _answer(self, header: Header, now: float) -> None:
        """Publish the desired motion, stamped as the state that it answers."""
        q, qd, qdd = self._motion.at(now + 0.5 / self._run.rate)
        point = JointTrajectoryPoint(positions=q.tolist(), velocities=qd.tolist())
        message = JointTrajectory(header=header, joint_names=self._joints, points=[point])
        self._pd_reference.publish(message)
        point.accelerations = qdd.tolist()
        self._reference.publish(message)


def main() -> int:
    """Run the process."""
    return run_companion(ReferencePublisher, rclpy.spin)


if __name__ == '__main__':
    sys.exit(main())

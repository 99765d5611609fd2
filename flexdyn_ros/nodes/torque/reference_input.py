# SPDX-License-Identifier: Apache-2.0
"""The desired motion, from a JointTrajectory or from the state of a trajectory controller."""

from __future__ import annotations

from dataclasses import dataclass
import time
from typing import Any, Callable, Mapping, Optional, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.nodes.arm.plausibility import Bound, check_desired, Plausible
from flexdyn_ros.nodes.arm.reference import Reference, ReferenceRefused
from flexdyn_ros.nodes.arm.times import MessageStamps, nanoseconds, NodeClock, Watchdog
from flexdyn_ros.nodes.common.diagnostics import ERROR
from flexdyn_ros.nodes.common.topics import count_lost
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
import numpy as np
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

try:
    from control_msgs.msg import JointTrajectoryControllerState
except ImportError:
    JointTrajectoryControllerState = None

REFERENCE_TOPIC = '~/reference'
CONTROLLER_STATE = 'JointTrajectoryControllerState'
MOST_BYTES = 32768  # of a reference: their conversion holds Python's interpreter for 1 ms


@dataclass(frozen=True)
class ControllerReference:
    """
    The desired state in a trajectory controller's state, with the fields of a JointTrajectory.

    Attributes:
        header: Header of the message.
        joint_names: The joints.
        points: The desired state, alone; none where the controller has none.
    """

    header: Any
    joint_names: Sequence[str]
    points: Sequence[Any]

    @classmethod
    def of(cls, message: Any) -> ControllerReference:
        """
        Return the desired state of a message.

        Args:
            message: Fields as control_msgs/JointTrajectoryControllerState; releases before iron
                call the field "desired".
        """
        point = message.reference if hasattr(message, 'reference') else message.desired
        return cls(message.header, message.joint_names, [point] if len(point.positions) else [])


class ReferenceInput:
    """
    Keeps the newest reference.

    Attributes:
        reference: The newest one; None where there is none.
        watchdog: Its age.
        refused: Number of references that were refused.
        subscription: The subscription; None where the message type is not installed.
    """

    def __init__(self, node: Any, kind: str, on_new: Callable[[Any], None]):
        """
        Subscribe.

        Args:
            node: An InverseDynamicsNode.
            kind: Message type, "JointTrajectory" or CONTROLLER_STATE.
            on_new: Called with the message after a reference that counts.
        """
        self.reference: Optional[Reference] = None
        self.watchdog = Watchdog(0.0)
        self.refused = 0
        self._node = node
        self._on_new = on_new
        self._feed_forward: Any = None
        self._bounds: Mapping[str, Bound] = {}
        self._plausible = Plausible()
        self._stamps = MessageStamps()
        self._kind = kind
        self.subscription: Any = None
        of_controller = kind == CONTROLLER_STATE
        message_type = JointTrajectoryControllerState if of_controller else JointTrajectory
        if message_type is not None:
            self.subscription = node.create_subscription(
                message_type, REFERENCE_TOPIC, self._on_message, 1,
                event_callbacks=count_lost(node.lost, REFERENCE_TOPIC),
                callback_group=node.outside_executor, raw=not of_controller)

    def set_arm(
        self, feed_forward: FeedForward, limits: Mapping[str, Bound], plausible: Plausible
    ) -> None:
        """
        Discard the reference, and set the feed-forward of the next ones.

        Args:
            feed_forward: Computes the torques.
            limits: Bounds of plausible motion, by joint.
            plausible: The same, of accelerations.

        Raises:
            FlexdynError: The message type is not installed.
        """
        if self.subscription is None:
            raise FlexdynError(
                f'reference_type {self._kind} needs control_msgs, which is not installed. Install '
                'ros-$ROS_DISTRO-control-msgs, or set reference_type to JointTrajectory.')
        self._feed_forward, self._bounds, self._plausible = feed_forward, limits, plausible
        self.clear()

    def clear(self) -> None:
        """Discard the reference."""
        self.reference = None
        self.watchdog.clear()
        self._stamps = MessageStamps(self._plausible.patience)

    def _on_message(self, received: Any) -> None:
        if not self._node.active:
            return
        try:
            message = self._message(received)
            if not message.points:
                self.clear()
                return
            aged = self._has_aged(message)
            self.reference = self._read(message)
        except ReferenceRefused as error:
            self.refused += 1
            self._node.get_logger().warning(str(error), throttle_duration_sec=1.0)
            self._node.diagnostics.report(ERROR, str(error))
            return
        if not aged:
            self.watchdog.feed(time.monotonic())
        self._on_new(message)

    def _message(self, received: Any) -> Any:
        """Return a message with the fields of a JointTrajectory."""
        if self._kind == CONTROLLER_STATE:
            return ControllerReference.of(received)
        if len(received) > MOST_BYTES:
            raise ReferenceRefused(
                f'it has {len(received)} bytes, expected at most {MOST_BYTES}; send its last '
                'point alone')
        return deserialize_message(received, JointTrajectory)

    def _has_aged(self, message: Any) -> bool:
        """
        Return whether a message repeats an old one, where its stamp is the time of the torque.

        Raises:
            ReferenceRefused: The stamp is wrong.
        """
        p = self._node.parameters
        if p['compute_on'] != 'reference':
            return False
        clock = NodeClock.of(self._node.get_clock(), p['max_delay'])
        point = message.points[-1]
        content = [point.positions, point.velocities, point.accelerations]
        found = self._stamps.problem(
            tuple(message.joint_names), nanoseconds(message.header.stamp), content, clock)
        if found:
            raise ReferenceRefused(found[1])
        return self._stamps.repeated and not clock.simulated

    def _read(self, message: Any) -> Reference:
        places, base = self._feed_forward.coordinates.places, self._feed_forward.base
        reference = Reference(message, places, base.follows)
        point = message.points[-1]
        problem = check_desired(
            message.joint_names, point.positions, point.velocities, point.accelerations,
            self._bounds, self._plausible)
        if problem:
            raise ReferenceRefused(problem)
        return reference

    def over(self, measured: JointSample) -> JointSample:
        """Return the measured joint motion with the desired values in place."""
        return self.reference.over(measured) if self.reference else measured

    def desired_velocities(self, count: int) -> np.ndarray:
        """Return whether each of `count` joint velocities is a desired one, shape (count,)."""
        desired = np.zeros(count, dtype=bool)
        if self.reference is not None:
            desired[self.reference.velocity_columns] = True
        return desired

# SPDX-License-Identifier: Apache-2.0
"""Publishers of a joint torque: the controller's command and the messages with names."""

from __future__ import annotations

from array import array
from typing import Sequence

from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.nodes.description import LATCHED
from flexdyn_ros.nodes.effort_limits import declared_effort
import numpy as np
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray


class TorqueOutput:
    """
    Publishes torques on ~/commands, ~/joint_torques and ~/effort_display.

    ~/effort_display carries the joints with an effort limit alone, for the Effort display of
    RViz, which needs the limit to scale its arrows.
    """

    def __init__(self, node: LifecycleNode, command_type: str):
        """
        Create the publishers.

        Args:
            node: The node.
            command_type: Message type of ~/commands, "Float64MultiArray" or "JointState".
        """
        self._node = node
        self._as_state = command_type == 'JointState'
        kind = JointState if self._as_state else Float64MultiArray
        self._commands = node.create_lifecycle_publisher(kind, '~/commands', 1)
        self._torques = node.create_lifecycle_publisher(JointState, '~/joint_torques', 1)
        self._display = node.create_lifecycle_publisher(JointState, '~/effort_display', 1)
        self._names = node.create_publisher(JointState, '~/joint_names', LATCHED)
        self._joints: tuple[str, ...] = ()
        self._limited: list[int] = []

    def set_joints(self, robot: Robot, joints: Sequence[str]) -> None:
        """
        Set and publish (latched) the order of the torques.

        Args:
            robot: The robot.
            joints: Joint names in the order of the command.
        """
        self._joints = tuple(joints)
        self._limited = [
            k for k, name in enumerate(joints) if declared_effort(robot, name) is not None
        ]
        self._names.publish(JointState(name=list(joints)))

    def publish(self, torque: np.ndarray, stamp) -> None:
        """
        Publish one torque.

        Args:
            torque: One finite value for each joint, shape (n,) [N m | N].
            stamp: Time of the state that it belongs to.

        Raises:
            ValueError: The vector has the wrong length or is not finite.
        """
        if len(torque) != len(self._joints) or not np.all(np.isfinite(torque)):
            raise ValueError(f'torque is not {len(self._joints)} finite numbers: {torque}')
        state = self._state(range(len(self._joints)), torque, stamp)
        values = state.effort
        self._commands.publish(state if self._as_state else Float64MultiArray(data=values))
        self._torques.publish(state)
        if self._limited:
            self._display.publish(self._state(self._limited, torque[self._limited], stamp))

    def _state(self, indices, torque: np.ndarray, stamp) -> JointState:
        state = JointState(name=[self._joints[k] for k in indices])
        state.effort = array('d', np.ascontiguousarray(torque, dtype=float).tobytes())
        state.header.stamp = stamp
        return state

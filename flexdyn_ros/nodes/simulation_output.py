# SPDX-License-Identifier: Apache-2.0
"""Publishers of a simulated arm: joint states, modal states, tip poses and the clock."""

from __future__ import annotations

from array import array
from typing import Sequence

from builtin_interfaces.msg import Time
from flexdyn_ros.nodes.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.ros_time import NANOSECONDS
from flexdyn_ros.nodes.rotation import quaternion
from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose
from geometry_msgs.msg import PoseArray
from geometry_msgs.msg import Quaternion
import numpy as np
from rclpy.lifecycle import LifecycleNode
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState


def doubles(values: np.ndarray) -> array:
    """Return the numbers as ROS messages keep them."""
    return array('d', np.ascontiguousarray(values, dtype=float).tobytes())


class SimulationOutput:
    """Publishes the state of a simulator; joint states carry link sides, then motor sides."""

    def __init__(self, node: LifecycleNode, frame_prefix: str, publish_clock: bool):
        """
        Create the publishers.

        Args:
            node: The node.
            frame_prefix: Prefix of frame names.
            publish_clock: Whether to publish /clock.
        """
        self._prefix = frame_prefix
        create = node.create_lifecycle_publisher
        self._joint_states = create(JointState, 'joint_states', 10)
        self._modal_states = create(JointState, '~/modal_states', 10)
        self._tip_poses = create(PoseArray, '~/tip_poses', 10)
        self._clock = create(Clock, '/clock', 1) if publish_clock else None

    def set_robot(self, dyn, simulator: ArmSimulator, tips: Sequence[str]) -> None:
        """
        Set what is published.

        Args:
            dyn: The dynamics.
            simulator: The simulator.
            tips: Frames of ~/tip_poses.
        """
        self._dyn = dyn
        self._simulator = simulator
        self._tips = tuple(tips)
        coordinates = simulator.coordinates
        self._motors = [joint for joint, _ in coordinates.elastic]
        motor_names = [f'{coordinates.joint_names[joint]}_motor' for joint in self._motors]
        self._names = [*coordinates.joint_names, *motor_names]

    def publish(self, when: int) -> None:
        """
        Publish the state of the simulator.

        Args:
            when: Its stamp [ns].
        """
        stamp = Time(sec=when // NANOSECONDS, nanosec=when % NANOSECONDS)
        if self._clock:
            self._clock.publish(Clock(clock=stamp))
        simulator = self._simulator
        coordinates = simulator.coordinates
        n = coordinates.n_joints
        q, qd = simulator.q, simulator.qd
        motor_effort = simulator.torque(q, qd)[self._motors]
        joints = JointState(name=self._names)
        joints.header.stamp = stamp
        joints.position = doubles(np.append(coordinates.link_side(q), q[self._motors]))
        joints.velocity = doubles(np.append(coordinates.link_side(qd), qd[self._motors]))
        joints.effort = doubles(np.append(simulator.joint_effort(), motor_effort))
        modes = JointState(name=list(self._dyn.robot.mode_names))
        modes.header.stamp = stamp
        modes.position, modes.velocity = doubles(q[n:]), doubles(qd[n:])
        self._modal_states.publish(modes)
        self._tip_poses.publish(self._poses(q, stamp))
        # Last, so that whoever answers joint_states finds the rest there.
        self._joint_states.publish(joints)

    def _poses(self, q: np.ndarray, stamp) -> PoseArray:
        message = PoseArray()
        message.header.stamp = stamp
        message.header.frame_id = self._prefix + self._dyn.robot.root
        message.poses = [pose_message(self._dyn.frame_pose(q, tip)) for tip in self._tips]
        return message


def pose_message(transform: np.ndarray) -> Pose:
    """Return a homogeneous transform, shape (4, 4), as a message."""
    x, y, z = (float(value) for value in transform[:3, 3])
    qx, qy, qz, qw = (float(value) for value in quaternion(transform[:3, :3]))
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))

# SPDX-License-Identifier: Apache-2.0
"""Publishers of a simulated arm: states of joints and modes, tip poses and the clock."""

from __future__ import annotations

from array import array
from typing import Sequence

from builtin_interfaces.msg import Time
from flexdyn_ros.nodes.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.measured_state import JOINT_STATES, MULTI_DOF
from flexdyn_ros.nodes.ros_time import NANOSECONDS
from flexdyn_ros.nodes.rotation import quaternion
from geometry_msgs.msg import Point, Pose, PoseArray, Quaternion, Transform, Twist, Vector3
import numpy as np
from rclpy.lifecycle import LifecycleNode
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState


def doubles(values: np.ndarray) -> array:
    """Return the numbers as ROS messages keep them."""
    return array('d', np.ascontiguousarray(values, dtype=float).tobytes())


class SimulationOutput:
    """
    Publishes the state of a simulator.

    joint_states carry link sides, then motor sides, and multi_dof_joint_states the joints that a
    transform tells.
    """

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
        self._joint_states = create(JointState, JOINT_STATES, 10)
        self._multi_dof = create(MultiDOFJointState, MULTI_DOF, 10)
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
        self._coordinates = simulator.coordinates
        motors, self._motor_positions, self._motor_velocities = self._coordinates.motors()
        self._names = [*self._coordinates.places, *motors]

    def publish(self, when: int) -> None:
        """
        Publish the state of the simulator.

        Args:
            when: Its stamp [ns].
        """
        stamp = Time(sec=when // NANOSECONDS, nanosec=when % NANOSECONDS)
        if self._clock:
            self._clock.publish(Clock(clock=stamp))
        q, qd = self._simulator.q, self._simulator.qd
        modes = JointState(name=list(self._dyn.robot.mode_names))
        modes.header.stamp = stamp
        modes.position = doubles(q[self._coordinates.n_positions :])
        modes.velocity = doubles(qd[self._coordinates.n_joints :])
        self._modal_states.publish(modes)
        self._tip_poses.publish(self._poses(q, stamp))
        if self._coordinates.multi_dof:
            self._multi_dof.publish(self._transforms(q, qd, stamp))
        # Last, so that whoever answers joint_states finds the rest there.
        self._joint_states.publish(self._joints(q, qd, stamp))

    def _joints(self, q: np.ndarray, qd: np.ndarray, stamp) -> JointState:
        coordinates, simulator = self._coordinates, self._simulator
        at, moving = self._motor_positions, self._motor_velocities
        message = JointState(name=self._names)
        message.header.stamp = stamp
        message.position = doubles(np.append(coordinates.link_side_positions(q), q[at]))
        message.velocity = doubles(np.append(coordinates.link_side_velocities(qd), qd[moving]))
        motor_effort = simulator.torque(q, qd)[moving]
        message.effort = doubles(np.append(simulator.joint_effort(), motor_effort))
        return message

    def _transforms(self, q: np.ndarray, qd: np.ndarray, stamp) -> MultiDOFJointState:
        message = MultiDOFJointState()
        message.header.stamp = stamp
        for joint in self._coordinates.multi_dof:
            own = q[joint.positions]
            position, turn = joint.pose(own)
            linear, angular = joint.twist(own, qd[joint.velocities])
            message.joint_names.append(joint.name)
            message.transforms.append(
                Transform(translation=vector_message(position), rotation=turn_message(turn)))
            message.twist.append(
                Twist(linear=vector_message(linear), angular=vector_message(angular)))
        return message

    def _poses(self, q: np.ndarray, stamp) -> PoseArray:
        message = PoseArray()
        message.header.stamp = stamp
        message.header.frame_id = self._prefix + self._dyn.robot.root
        message.poses = [pose_message(self._dyn.frame_pose(q, tip)) for tip in self._tips]
        return message


def pose_message(transform: np.ndarray) -> Pose:
    """Return a homogeneous transform, shape (4, 4), as a message."""
    x, y, z = (float(value) for value in transform[:3, 3])
    turn = turn_message(quaternion(transform[:3, :3]))
    return Pose(position=Point(x=x, y=y, z=z), orientation=turn)


def vector_message(vector: np.ndarray) -> Vector3:
    """Return a vector, shape (3,), as a message."""
    x, y, z = (float(value) for value in vector)
    return Vector3(x=x, y=y, z=z)


def turn_message(turn: np.ndarray) -> Quaternion:
    """Return a quaternion x, y, z, w as a message."""
    x, y, z, w = (float(value) for value in turn)
    return Quaternion(x=x, y=y, z=z, w=w)

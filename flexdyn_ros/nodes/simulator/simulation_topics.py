# SPDX-License-Identifier: Apache-2.0
"""Topics of a simulated arm: torques, references, wrenches in; states, poses, the clock out."""

from __future__ import annotations

from typing import Optional, Sequence

from builtin_interfaces.msg import Time
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.measured_state import JOINT_STATES, MULTI_DOF
from flexdyn_ros.nodes.arm.reference import Reference
from flexdyn_ros.nodes.arm.times import NANOSECONDS, nanoseconds
from flexdyn_ros.nodes.common.message_bytes import doubles
from flexdyn_ros.nodes.simulator.arm_simulator import ArmSimulator
from geometry_msgs.msg import (
    Point,
    Pose,
    PoseArray,
    Quaternion,
    Transform,
    Twist,
    Vector3,
    WrenchStamped,
)
import numpy as np
from rclpy.lifecycle import LifecycleNode
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

# Names of inputs that answer a state in lockstep.
EFFORTS = '~/joint_efforts'
PD_REFERENCE = '~/pd_reference'
TRAJECTORY = '~/joint_trajectory'


class EffortsRefused(FlexdynError):
    """Efforts do not fit the commanded joints or are not finite."""


def efforts_by_name(message, joints: Sequence[str], held: np.ndarray) -> np.ndarray:
    """
    Return the torques of the commanded joints, shape (n,) [N m | N].

    Args:
        message: Fields as sensor_msgs/JointState.
        joints: The commanded joints.
        held: Torques of joints that the message does not name, shape (n,) [N m | N].

    Raises:
        EffortsRefused: A name is unknown or comes twice, or the efforts are not one finite number
            for each name.
    """
    unknown = [name for name in message.name if name not in joints]
    if unknown:
        raise EffortsRefused(
            f'unknown joints {", ".join(unknown)}, expected some of {", ".join(joints)}.'
        )
    if len(set(message.name)) != len(message.name):
        raise EffortsRefused(f'a name comes twice in {", ".join(message.name)}. Keep one.')
    values = np.array(message.effort, dtype=float)
    if len(values) != len(message.name) or not np.all(np.isfinite(values)):
        raise EffortsRefused(
            f'effort must be {len(message.name)} finite numbers, got {values.tolist()}.'
        )
    efforts = held.copy()
    efforts[[joints.index(name) for name in message.name]] = values
    return efforts


class SimulationInput:
    """
    Subscribes to the inputs of a simulator and passes them on.

    Attributes:
        rejected: Number of messages that were refused.
    """

    def __init__(self, node):
        """
        Subscribe.

        Args:
            node: A ForwardDynamicsNode; its `lock` guards its `simulator` and its `lockstep`.
        """
        self.rejected = 0
        self._node = node
        create = node.create_subscription
        self._subscriptions = (
            # An executor takes ready callbacks in this order. In lockstep a torque may start
            # the next cycle: a reference that was sent before it must count in that one.
            create(JointTrajectory, PD_REFERENCE, self._on_reference, 1),
            create(JointTrajectory, TRAJECTORY, self._on_trajectory, 1),
            create(Float64MultiArray, '~/effort_commands', self._on_commands, 1),
            create(JointState, EFFORTS, self._on_efforts, 1),
            create(WrenchStamped, '~/wrench', self._on_wrench, 10),
        )

    def _reject(self, what: str) -> None:
        self.rejected += 1
        self._node.get_logger().warning(what, throttle_duration_sec=1.0)

    def _answers(self, name: str, stamp: Optional[int]) -> bool:
        """Return whether a message counts: in lockstep as the answer to a state, else always."""
        lockstep = self._node.lockstep
        return lockstep is None or name not in lockstep.inputs or lockstep.answer(name, stamp)

    def _on_commands(self, message: Float64MultiArray) -> None:
        node = self._node
        if node.simulator is None:
            return
        effort = np.array(message.data)
        if len(effort) != len(node.simulator.joints) or not np.all(np.isfinite(effort)):
            self._reject(
                f'~/effort_commands ignored: expected {len(node.simulator.joints)} finite '
                f'numbers, got {effort.tolist()}'
            )
            return
        with node.lock:
            self._answers(EFFORTS, None)
            node.simulator.effort = effort

    def _on_efforts(self, message: JointState) -> None:
        node = self._node
        if node.simulator is None:
            return
        try:
            with node.lock:
                simulator = node.simulator
                effort = efforts_by_name(message, simulator.joints, simulator.effort)
                if self._answers(EFFORTS, nanoseconds(message.header.stamp)):
                    simulator.effort = effort
        except EffortsRefused as error:
            self._reject(f'{EFFORTS} ignored: {error}')

    def _on_reference(self, message: JointTrajectory) -> None:
        node = self._node
        if node.simulator is None or not message.points:
            return
        try:
            places = {name: (k, k) for k, name in enumerate(node.simulator.joints)}
            reference = Reference(message, places)
        except FlexdynError as error:
            self._reject(f'{PD_REFERENCE}: {error}')
            return
        with node.lock:
            if not self._answers(PD_REFERENCE, nanoseconds(message.header.stamp)):
                return
            controller = node.simulator.controller
            controller.trajectory = None
            controller.position, controller.velocity = reference.positions_and_velocities(
                controller.position
            )

    def _on_trajectory(self, message: JointTrajectory) -> None:
        simulator = self._node.simulator
        if simulator is None:
            return
        try:
            with self._node.lock:
                simulator.controller.follow(message, simulator.joints, simulator.time)
        except FlexdynError as error:
            self._reject(f'{TRAJECTORY} ignored: {error}')

    def _on_wrench(self, message: WrenchStamped) -> None:
        node = self._node
        if node.simulator is None:
            return
        frame = message.header.frame_id
        prefix = node.parameters['frame_prefix']
        frame = frame[len(prefix) :] if frame.startswith(prefix) else frame
        force, torque = message.wrench.force, message.wrench.torque
        six = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        if frame not in node.robot.frame_names or not np.all(np.isfinite(six)):
            self._reject(f'~/wrench ignored: frame_id "{frame}" must be a link, {six} finite')
            return
        with node.lock:
            node.simulator.wrenches[frame] = six


class SimulationOutput:
    """
    Publishes the state of a simulator.

    joint_states carry link sides, then motor sides, and multi_dof_joint_states the joints that a
    transform describes.
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
        Set the published simulation.

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
        # Last: subscribers of joint_states then find the other messages published.
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
            position, rotation = joint.pose(own)
            linear, angular = joint.twist(own, qd[joint.velocities])
            message.joint_names.append(joint.name)
            message.transforms.append(Transform(
                translation=vector_message(position), rotation=quaternion_message(rotation)))
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
    quaternion = Rotation.from_matrix(transform[:3, :3]).as_quat()
    quaternion = -quaternion if quaternion[3] < 0.0 else quaternion
    return Pose(position=Point(x=x, y=y, z=z), orientation=quaternion_message(quaternion))


def vector_message(vector: np.ndarray) -> Vector3:
    """Return a vector, shape (3,), as a message."""
    x, y, z = (float(value) for value in vector)
    return Vector3(x=x, y=y, z=z)


def quaternion_message(quaternion: np.ndarray) -> Quaternion:
    """Return a quaternion x, y, z, w as a message."""
    x, y, z, w = (float(value) for value in quaternion)
    return Quaternion(x=x, y=y, z=z, w=w)

# SPDX-License-Identifier: Apache-2.0
"""Inputs of a simulated arm: torques, references of its joint controller, and wrenches."""

from __future__ import annotations

from typing import Optional, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.reference import Reference
from flexdyn_ros.nodes.ros_time import nanoseconds
from geometry_msgs.msg import WrenchStamped
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

# Names of inputs that answer a state in lockstep.
EFFORTS = '~/joint_efforts'
PD_REFERENCE = '~/pd_reference'


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
        EffortsRefused: A name is unknown, or the efforts are not one finite number for each name.
    """
    unknown = [name for name in message.name if name not in joints]
    if unknown:
        raise EffortsRefused(
            f'unknown joints {", ".join(unknown)}; commanded are {", ".join(joints)}.'
        )
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
    Subscribes to the inputs of a simulator and hands them on.

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
            # An executor takes what is ready in this order, and in lockstep a torque may start
            # the next cycle: a reference that was sent before it must count in that one.
            create(JointTrajectory, PD_REFERENCE, self._on_reference, 1),
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
            controller.position, controller.velocity = reference.positions_and_velocities(
                controller.position
            )

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

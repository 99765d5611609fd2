# SPDX-License-Identifier: Apache-2.0
"""The inputs of the torque: reference, wrenches, modes, gravity, acceleration of a base."""

from __future__ import annotations

from abc import ABC, abstractmethod
import time
from typing import Any, Callable, Mapping, Optional, Union

from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.nodes.arm.joint_motion import FilteredDifferentiator, JointSample
from flexdyn_ros.nodes.arm.joint_state_cache import JointStateCache
from flexdyn_ros.nodes.arm.modal_integrator import VibratingArm
from flexdyn_ros.nodes.arm.multi_dof_joint import vector_components
from flexdyn_ros.nodes.arm.plausibility import AccelerationGuard, Bound, Plausible
from flexdyn_ros.nodes.arm.times import Watchdog
from flexdyn_ros.nodes.common.diagnostics import listed
from flexdyn_ros.nodes.common.gravity import GravityFrame, ImuGravity
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.reference_input import REFERENCE_TOPIC, ReferenceInput
from flexdyn_ros.nodes.torque.wrench_input import WrenchInput
from geometry_msgs.msg import AccelStamped
import numpy as np
from sensor_msgs.msg import JointState

BASE_TOPIC = '~/base_acceleration'
MODAL_TOPIC = 'modal_states'


class CheckedInput(ABC):
    """
    A topic of the node whose messages are taken or refused.

    Attributes:
        watchdog: The age of the newest message that was taken.
        refused: Number of messages that were refused.
    """

    def __init__(self, node: Any, kind: type, topic: str):
        """
        Subscribe.

        Args:
            node: An InverseDynamicsNode.
            kind: Type of the messages.
            topic: Name of the topic.
        """
        self.watchdog = Watchdog(0.0)
        self.refused = 0
        self._node = node
        self._topic = topic
        self._subscription = node.create_subscription(kind, topic, self._on_message, 1)

    @abstractmethod
    def _on_message(self, message: Any) -> None:
        """Take or refuse a message."""

    def _refuse(self, why: str) -> None:
        self.refused += 1
        self._node.get_logger().warning(
            f'{self._topic} ignored: {why}. Check its publisher.', throttle_duration_sec=1.0)


class BaseInput(CheckedInput):
    """
    Keeps the newest acceleration of a prescribed base; without one the base moves evenly.

    Pose and velocity of the base come in multi_dof_joint_states, as those of its floating joint.
    """

    def __init__(self, node: Any):
        """Subscribe to BASE_TOPIC of an InverseDynamicsNode."""
        super().__init__(node, AccelStamped, BASE_TOPIC)
        self._acceleration = np.zeros(BASE_COORDINATES)

    def clear(self) -> None:
        """Discard the acceleration."""
        self._acceleration = np.zeros(BASE_COORDINATES)
        self.watchdog.clear()

    def _on_message(self, message: AccelStamped) -> None:
        node = self._node
        if not node.active:
            return
        values = vector_components(message.accel.linear, message.accel.angular)
        largest = node.parameters['plausible.acceleration']
        if node.robot.base_motion != 'prescribed' or not (np.abs(values) <= largest).all():
            self._refuse('it needs <base motion="prescribed"/> and plausible numbers, got '
                         f'{values.tolist()}')
            return
        self._acceleration = values
        self.watchdog.feed(time.monotonic())

    def put(self, velocities: np.ndarray, accelerations: np.ndarray) -> None:
        """
        Write the rates of the base's velocities.

        With v and w in axes of the body, which turn, dv/dt = a - w x v.

        Args:
            velocities: Of the joints, shape (n_joints,) [m/s, rad/s].
            accelerations: The same, to be written into [m/s^2, rad/s^2].
        """
        if not self.watchdog.started:
            return
        base = self._acceleration.copy()
        base[:3] -= np.cross(velocities[3:6], velocities[:3])
        accelerations[:BASE_COORDINATES] = base


class ModalInput(CheckedInput):
    """
    Corrects the modes of flexible_hybrid by estimates, where `modes.observed` is set.

    Between estimates, and after they have stopped, the modes are integrated.
    """

    def __init__(self, node: Any):
        """Subscribe to MODAL_TOPIC of an InverseDynamicsNode."""
        super().__init__(node, JointState, MODAL_TOPIC)
        self._arm: Optional[VibratingArm] = None
        self._names: tuple[str, ...] = ()

    def set_arm(self, arm: Any) -> None:
        """Discard all estimates, and set the arm whose modes they correct."""
        observed = self._node.parameters['modes.observed'] and isinstance(arm, VibratingArm)
        self._arm = arm if observed else None
        self._names = self._node.robot.mode_names
        self.watchdog.clear()

    def _on_message(self, message: JointState) -> None:
        if not self._node.active or self._arm is None:
            return
        now = time.monotonic()
        cache = JointStateCache(self._names)
        dropped = cache.update(message.name, message.position, message.velocity, now, MODAL_TOPIC)
        why = dropped or listed(cache.problems(now, np.inf))
        if why:
            self._refuse(why)
            return
        self._arm.take(cache.positions, cache.velocities)
        self.watchdog.feed(now)


class TorqueInputs:
    """
    The reference, wrenches, the acceleration of the base, gravity, and measured accelerations.

    Attributes:
        reference: The desired motion.
        wrenches: Wrenches of the environment.
        base: Acceleration of a prescribed base.
        modes: Estimates of the modes.
        gravity: Turns gravity to the root frame.
        differentiator: Estimates accelerations; None where they are not estimated.
    """

    def __init__(self, node: Any, on_reference: Callable[[Any], None]):
        """
        Subscribe.

        Args:
            node: An InverseDynamicsNode.
            on_reference: Called with the message after a reference that counts.
        """
        p = node.parameters
        self.reference = ReferenceInput(node, p['reference_type'], on_reference)
        self.wrenches = WrenchInput(node)
        self.base = BaseInput(node)
        self.modes = ModalInput(node)
        self.gravity: Union[GravityFrame, ImuGravity]
        timeout = p['gravity_frame_timeout']
        if p['gravity_from_imu']:
            self.gravity = ImuGravity(
                node, timeout, p['imu_cutoff_frequency'], p['frame_prefix'])
        else:
            self.gravity = GravityFrame(node, p['gravity_frame'], timeout)
        self.differentiator: Any = None
        self._accelerations: Any = None
        self._node = node

    def set_robot(self) -> None:
        """Take note of the loaded robot."""
        if isinstance(self.gravity, ImuGravity):
            self.gravity.set_robot(self._node.robot)

    def set_arm(
        self, feed_forward: FeedForward, limits: Mapping[str, Bound], plausible: Plausible
    ) -> None:
        """
        Discard all inputs, and set the feed-forward that they enter.

        Args:
            feed_forward: Computes the torques.
            limits: Bounds of plausible motion, by joint.
            plausible: The same, of accelerations.
        """
        p = self._node.parameters
        self._feed_forward = feed_forward
        self.wrenches.set_arm(feed_forward)
        self.reference.set_arm(feed_forward, limits, plausible)
        self.modes.set_arm(feed_forward.arm)
        self.differentiator = None
        if p['differentiator.enabled']:
            self.differentiator = FilteredDifferentiator(p['differentiator.cutoff_frequency'])
        names = feed_forward.coordinates.joint_names
        self._accelerations = AccelerationGuard(names, plausible)

    def apply_timeouts(self) -> None:
        """Take over the timeouts of the parameters."""
        p = self._node.parameters
        self.reference.watchdog.timeout = p['reference_timeout']
        self.base.watchdog.timeout = p['timeout']

    def clear(self) -> None:
        """Discard all inputs."""
        self.reference.clear()
        self.wrenches.clear()
        self.base.clear()

    @property
    def awaited(self) -> str:
        """The input that must come before a torque is computed; empty for none."""
        started = self.reference.watchdog.started
        waits = self._node.parameters['compute_on'] == 'reference' and not started
        return REFERENCE_TOPIC if waits else ''

    def stale(self, now: float) -> str:
        """Return the input that has fallen silent, at a steady time [s]; empty for none."""
        if self.reference.watchdog.stale(now):
            return REFERENCE_TOPIC
        return BASE_TOPIC if self.base.watchdog.stale(now) else ''

    def motion(
        self, when: float, positions: np.ndarray, velocities: np.ndarray
    ) -> JointSample:
        """
        Return the motion to compute the torque of.

        Args:
            when: Time of the state [s].
            positions: Measured, shape (n_positions,) [rad | m].
            velocities: Measured, shape (n_joints,) [rad/s | m/s].

        Raises:
            ImplausibleMotion: Some joint's acceleration was implausible too often in a row.
        """
        accelerations = np.zeros(len(velocities))
        if self.differentiator:
            accelerations = self._accelerations.accepted(
                self.differentiator.acceleration(when, velocities)).copy()
        self.base.put(velocities, accelerations)
        if self._feed_forward.quiet is not None:
            self._feed_forward.quiet.desired = self.reference.desired_velocities(len(velocities))
        return self.reference.over(JointSample(when, positions, velocities, accelerations))

    def values(self, now: float) -> dict[str, Any]:
        """Return key-value pairs for diagnostics, at a steady time [s]."""
        return {
            'reference_age': self.reference.watchdog.age(now),
            'references_refused': self.reference.refused,
            'wrenches_refused': self.wrenches.refused,
            'modal_states_age': self.modes.watchdog.age(now),
            'modal_states_refused': self.modes.refused,
            'base_accelerations_refused': self.base.refused,
            'accelerations_left_out': self._accelerations.left_out,
        }

# SPDX-License-Identifier: Apache-2.0
"""What enters a torque beside the measured joint states."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Union

from flexdyn_ros.nodes.base_input import BaseInput, TOPIC as BASE
from flexdyn_ros.nodes.differentiator import FilteredDifferentiator
from flexdyn_ros.nodes.feed_forward import FeedForward
from flexdyn_ros.nodes.gravity_frame import GravityFrame
from flexdyn_ros.nodes.imu_gravity import ImuGravity
from flexdyn_ros.nodes.joint_motion import JointSample
from flexdyn_ros.nodes.lost_messages import LostMessages
from flexdyn_ros.nodes.plausibility import AccelerationGuard, Bound, Plausible
from flexdyn_ros.nodes.reference_input import ReferenceInput, TOPIC as REFERENCE
from flexdyn_ros.nodes.wrench_input import WrenchInput
import numpy as np


class TorqueInputs:
    """
    The reference, wrenches, the acceleration of the base, gravity, and measured accelerations.

    Attributes:
        reference: The desired motion.
        wrenches: Wrenches of the environment.
        base: Acceleration of a prescribed base.
        gravity: What turns gravity to the root frame.
        differentiator: Estimates accelerations; None where that is not asked for.
    """

    def __init__(self, node: Any, lost: LostMessages, on_reference: Callable[[Any], None]):
        """
        Subscribe.

        Args:
            node: An InverseDynamicsNode.
            lost: Counts what the middleware drops.
            on_reference: Called with the message after a reference that counts.
        """
        p = node.parameters
        self.reference = ReferenceInput(node, p['reference_type'], lost, on_reference)
        self.wrenches = WrenchInput(node)
        self.base = BaseInput(node)
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
        Forget all inputs, and set what they enter.

        Args:
            feed_forward: Computes the torques.
            limits: What motion is plausible, by joint.
            plausible: The same, of accelerations.
        """
        p = self._node.parameters
        self._feed_forward = feed_forward
        self.wrenches.set_arm(feed_forward)
        self.reference.set_arm(feed_forward, limits, plausible)
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
        """Forget all inputs."""
        self.reference.clear()
        self.wrenches.clear()
        self.base.clear()

    def stale(self, now: float) -> str:
        """Return the input that has fallen silent, at a steady time [s]; empty for none."""
        if self.reference.watchdog.stale(now):
            return REFERENCE
        return BASE if self.base.watchdog.stale(now) else ''

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
        accelerations = np.zeros_like(velocities)
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
            'base_accelerations_refused': self.base.refused,
            'accelerations_left_out': self._accelerations.left_out,
        }

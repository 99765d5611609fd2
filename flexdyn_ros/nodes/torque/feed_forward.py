# SPDX-License-Identifier: Apache-2.0
"""The torque for a joint motion, in the mode and with the terms that a node is set to."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Mapping, Optional, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.closed_motion import following_motion
from flexdyn_ros.nodes.arm.deflection import ModalEquations, RigidArm
from flexdyn_ros.nodes.arm.joint_motion import JointSample, ModalState
from flexdyn_ros.nodes.arm.modal_integrator import ModalSettings, VibratingArm
from flexdyn_ros.nodes.common.run_time_model import Values
from flexdyn_ros.nodes.torque.torque_terms import (
    DynamicsUnderWrenches,
    force_terms,
    Motion,
    QuietFriction,
    TorqueTerms,
)
import numpy as np

ALL_TERMS = TorqueTerms()
MODES = ('gravity', 'rigid', 'flexible_quasi_static', 'flexible_hybrid')


class FeedForward:
    """
    Inverse dynamics of an arm whose joint motion is known and whose modes are not.

    Attributes:
        mode: One of MODES.
        terms: The terms that the torque contains.
        coordinates: Map from joint values to the robot's coordinates.
        base: The coordinates that follow the motion.
        arm: The model of the deflection.
        state: Modal state behind the last torque.
        wrenches: Wrench of the environment by link, six numbers in root axes [N, N m], to be
            written into.
        quiet: The friction law near standstill; None for the friction of the model.
    """

    def __init__(
        self,
        dyn,
        mode: str = 'rigid',
        terms: TorqueTerms = ALL_TERMS,
        measured_side: str = 'motor',
        settings: Optional[ModalSettings] = None,
        free: Sequence[str] = (),
        wrench_links: Sequence[str] = (),
        plotted: bool = False,
    ):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            mode: One of MODES.
            terms: The terms that the torque contains.
            measured_side: Side that joint values of elastic joints refer to, "motor" or "link".
            settings: Those of the modal integration.
            free: Joint coordinates that no force acts on, such as a satellite's.
            wrench_links: Links that `wrenches` act on.
            plotted: Whether `prepare` makes the code of `motion` and its terms too.
        """
        self.mode = mode
        self._plotted = plotted
        self._sample: Optional[JointSample] = None  # behind the last torque
        self.terms = terms
        self.coordinates = ArmCoordinates(dyn.robot, measured_side)
        self.wrenches = {link: np.zeros(6) for link in wrench_links}
        self._dyn = DynamicsUnderWrenches(dyn, self.wrenches) if wrench_links else dyn
        self.quiet: Optional[QuietFriction] = None
        self.base = following_motion(self._dyn, self.coordinates, free)
        self._equations: Optional[ModalEquations] = None
        self.arm = self._deflection_model(settings or ModalSettings())
        self.state = ModalState.zero(self.coordinates.n_modes)

    @classmethod
    def of(
        cls, dyn, values: Mapping[str, Any] | Values, joints: Sequence[str],
        wrench_links: Sequence[str] = (),
    ) -> FeedForward:
        """
        Return the computation that parameters of the inverse dynamics node choose.

        Args:
            dyn: The dynamics.
            values: Parameter values.
            joints: The driven joints.
            wrench_links: Links that wrenches act on.
        """
        settings = ModalSettings(
            values['modes.step'], values['modes.maximum_gap'], values['modes.spectral_radius'])
        free: tuple[str, ...] = ()
        if values['base_acceleration'] == 'free' and values['torque_model'] != 'gravity':
            free = ArmCoordinates(dyn.robot).undriven(joints)
        return cls(
            dyn, values['torque_model'], TorqueTerms.of(values), values['measured_side'],
            settings, free, wrench_links, values['plot_topics'])

    def _deflection_model(self, settings: ModalSettings):
        if self.mode in ('gravity', 'rigid') or self.coordinates.n_modes == 0:
            return RigidArm(self.coordinates.n_modes)
        self._equations = ModalEquations(self._dyn, self.coordinates, self.base)
        if self.mode == 'flexible_quasi_static':
            return self._equations
        return VibratingArm(self._equations, settings)

    def prepare(self) -> None:
        """Compute once, at rest, so that code is generated before the first sample comes."""
        rest = np.zeros(self.coordinates.n_joints)
        for time in (0.0, 0.001):
            self.torque(JointSample(time, self.base.rest_positions, rest, rest))
        # The stale policy may call this. A failure at rest has no effect before.
        with suppress(FlexdynError):
            self.gravity_torque(self.base.rest_positions)
        if self._equations is not None:
            # For searches of a deflection that do not converge at once, and for trajectories.
            self._equations.residual(
                JointSample(0.0, self.base.rest_positions, rest, rest), self.state)
        if self.terms.friction:
            self._dyn.friction_vector(np.zeros(self._dyn.robot.nv))
        for link in self.wrenches:
            self._dyn.frame_pose(self._dyn.robot.neutral_configuration(), link)
        if self._plotted:
            force_terms(self._dyn, *self.motion())
        self.reset()

    def reset(self) -> None:
        """Discard the modal state."""
        self.arm.reset()

    def torque(self, sample: JointSample) -> np.ndarray:
        """
        Return the joint torques for a sample of the joint motion.

        Args:
            sample: Joint motion, values on the measured side.

        Returns:
            Torques, shape (n_joints,) [N m | N].
        """
        if self.mode == 'gravity':
            still = np.zeros(self.coordinates.n_joints)
            self._sample = JointSample(sample.time, sample.q, still, still)
            return self.gravity_torque(sample.q)
        return self.torque_with(sample, self.arm.at(sample))

    def torque_with(self, sample: JointSample, state: ModalState) -> np.ndarray:
        """Return the joint torques for a joint sample and a modal state, shape (n_joints,)."""
        self._sample, self.state = sample, state
        count = self.coordinates.n_joints
        quiet = self.quiet if self.terms.friction else None
        if state.torque is not None and self.terms == ALL_TERMS:
            if quiet is None:
                return state.torque
            change = quiet.correction(self._dyn, self.coordinates.join(sample.qd, state.rate))
            return state.torque if change is None else state.torque + change[:count]
        join, moved = self.coordinates.join, self.base.completed(sample, state)
        at = self.coordinates.configuration(moved.q, state.delta)
        qd = join(moved.qd, state.rate)
        total = self.terms.sum(self._dyn, at, qd, join(moved.qdd, state.acceleration))
        change = None if quiet is None else quiet.correction(self._dyn, qd)
        if change is not None:
            total = total + self._dyn.actuated_forces(at, change)
        return total[:count]

    def motion(self) -> Motion:
        """Return the motion of the last torque, with the forces that all its terms add up to."""
        sample, state = self._sample, self.state
        assert sample is not None
        moved, join = self.base.completed(sample, state), self.coordinates.join
        q = self.coordinates.configuration(moved.q, state.delta)
        qd, qdd = join(moved.qd, state.rate), join(moved.qdd, state.acceleration)
        return q, qd, self._dyn.inverse_dynamics(q, qd, qdd), self.wrenches

    def gravity_torque(self, q: np.ndarray) -> np.ndarray:
        """
        Return the torque that holds the undeformed arm against gravity.

        Args:
            q: Joint positions, shape (n_positions,) [rad | m].

        Returns:
            Torques, shape (n_joints,) [N m | N].
        """
        state = ModalState.zero(self.coordinates.n_modes)
        if self._dyn.robot.loops:
            rest = np.zeros(self.coordinates.n_joints)
            q = self.base.completed(JointSample(0.0, q, rest, rest), state).q
        at = self.coordinates.configuration(q, state.delta)
        gravity = self._dyn.actuated_forces(at, self._dyn.gravity_vector(at))
        return gravity[: self.coordinates.n_joints]

# SPDX-License-Identifier: Apache-2.0
"""
Models of the deflection along a joint motion: none, quasi-static, or vibrating.

Each model turns a sample of the joint motion into modal positions, rates and accelerations.
"""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Union

from flexdyn_ros.dynamics.modal_motion import alpha_step
from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.closed_motion import ClosedMotion, following_motion
from flexdyn_ros.nodes.arm.free_base import FreeBase
from flexdyn_ros.nodes.arm.joint_motion import JointSample, ModalState
from flexdyn_ros.quasi_static.static_deflection import SMALLEST_DEFLECTION, StaticDeflection
from flexdyn_ros.simulation.frequencies import damping_matrix
import numpy as np

# Of a deflection, the last change that the compiled iteration may leave.
TOLERANCE = 1e-7
# Newton steps of a time step where a free base or loops follow, which its matrix leaves out.
MAX_ITERATIONS = 10


class RigidArm:
    """Modes held at zero."""

    def __init__(self, n_modes: int):
        self._zero = ModalState.zero(n_modes)

    def at(self, sample: JointSample) -> ModalState:
        """Return zeros."""
        return self._zero

    def reset(self) -> None:
        """Do nothing: it has no memory."""


class ModalEquations:
    """
    The modal rows of the equations of motion with the joint motion given, solved at rest or not.

    For a tree whose joints all move as given, the functions of the dynamics solve them, compiled
    where these are. Where loops or a free base follow, or joints are measured behind their
    springs, the same methods do so on numbers.
    """

    def __init__(
        self,
        dyn,
        coordinates: ArmCoordinates,
        base: Optional[Union[FreeBase, ClosedMotion]] = None,
    ):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            coordinates: Its coordinates.
            base: The free base or passive joints that follow the motion; None where no base is
                free.

        Raises:
            FlexdynError: A mode has no elastic force at any deflection.
            NotYetSupported: The loops hold modes of their own accord.
        """
        self._dyn = dyn
        self._coordinates = coordinates
        self._base = base or following_motion(dyn, coordinates)
        if isinstance(self._base, ClosedMotion) and self._base.bound:
            raise NotYetSupported(
                f'the deflection of {", ".join(self._base.bound)}, which the loops prevent, is '
                'not estimated from joint states yet',
                file=dyn.robot.source,
                element='loop',
                name=dyn.robot.loops[0].name,
                advice='Use torque_model gravity or rigid, deflection modal_states, and '
                'initial_deflection zero',
            )
        self._modes = slice(coordinates.n_joints, None)
        self._zero = np.zeros(coordinates.n_modes)
        self._static = StaticDeflection(dyn)
        self._last: Optional[np.ndarray] = None
        follows = isinstance(self._base, ClosedMotion) or bool(self._base.names)
        self._direct = not (follows or coordinates.behind_springs)
        # Compiled now: a search that does not converge at once needs it in the middle of work.
        rest = np.zeros(coordinates.n_joints)
        self.residual(
            JointSample(0.0, self._base.rest_positions, rest, rest),
            ModalState.zero(coordinates.n_modes))

    def residual(self, sample: JointSample, state: ModalState) -> np.ndarray:
        """Return the modal forces that the motion would need, zero in free motion, (m,)."""
        return self._base.forces(sample, state)[self._modes]

    def reset(self) -> None:
        """Start the next search for a deflection from the undeformed arm."""
        self._last = None

    def at(self, sample: JointSample) -> ModalState:
        """
        Return the quasi-static deflection, modal rates and accelerations zero.

        Args:
            sample: Joint motion.

        Raises:
            DeflectionNotFound: The iteration does not converge.
        """
        if self._direct and not self._static.backlash.modes:
            torque, delta, change = self._dyn.quasi_static_torque(sample.q, sample.qd, sample.qdd)
            size = max(np.abs(delta).max(initial=0.0), SMALLEST_DEFLECTION)
            if np.abs(change).max(initial=0.0) <= TOLERANCE * size:
                return ModalState(delta, self._zero, self._zero, torque)

        def residual(delta: np.ndarray) -> np.ndarray:
            return self.residual(sample, ModalState(delta, self._zero, self._zero))

        self._last = self._static.find(residual, self._last)
        return ModalState(self._last, self._zero, self._zero)

    def accelerated(self, sample: JointSample, state: ModalState) -> ModalState:
        """Return a state with the accelerations of hybrid dynamics; they enter linearly."""
        delta, rate = state.delta, state.rate
        if self._direct:
            torque, acceleration = self._dyn.hybrid_dynamics(
                np.concatenate((sample.q, delta)), np.concatenate((sample.qd, rate)), sample.qdd)
            return ModalState(delta, rate, acceleration, torque)
        force = self.residual(sample, ModalState(delta, rate, self._zero))
        return ModalState(delta, rate, -np.linalg.solve(self._mass(sample, delta), force))

    def step(
        self, sample: JointSample, modal_state: np.ndarray, step: tuple[float, float]
    ) -> tuple[Optional[np.ndarray], np.ndarray]:
        """
        Return the joint torques, where they come with it, and the modal state after a time step.

        Args:
            sample: Joint motion at the end of the step.
            modal_state: See `Dynamics.hybrid_step`, (4 m,).
            step: The same.
        """
        if self._direct:
            found = self._dyn.hybrid_step(sample.q, sample.qd, sample.qdd, modal_state, step)
            return found[0], found[1]
        parts = modal_state.reshape(4, -1).tolist()

        def forces(*motion: list[float]) -> list[float]:
            return self.residual(sample, ModalState(*map(np.array, motion))).tolist()

        matrices = self._mass(sample, np.array(parts[0])), self._damping, self._static.stiffness
        after = alpha_step(
            forces, [each.tolist() for each in matrices], parts, step, MAX_ITERATIONS)
        return None, np.concatenate(after)

    @cached_property
    def _damping(self) -> np.ndarray:
        rest = self._dyn.robot.neutral_configuration()
        return damping_matrix(self._dyn, rest)[self._modes, self._modes]

    def _mass(self, sample: JointSample, delta: np.ndarray) -> np.ndarray:
        """Return the mass matrix of the modes, free coordinates following, (m, m)."""
        moved = self._base.completed(sample, ModalState(delta, self._zero, self._zero))
        q = self._coordinates.configuration(moved.q, delta)
        return self._base.condensed(self._dyn.mass_matrix(q), self._modes, q)

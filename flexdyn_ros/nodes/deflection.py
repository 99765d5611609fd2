# SPDX-License-Identifier: Apache-2.0
"""
Models of the deflection that goes with a joint motion: none, quasi-static, or vibrating.

Each model turns a sample of the joint motion into modal positions, rates and accelerations.
"""

from __future__ import annotations

from typing import Optional
from typing import Union

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.nodes.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.closed_motion import ClosedMotion
from flexdyn_ros.nodes.closed_motion import what_follows
from flexdyn_ros.nodes.free_base import FreeBase
from flexdyn_ros.nodes.free_play import FreePlay
from flexdyn_ros.nodes.joint_motion import JointSample
from flexdyn_ros.nodes.joint_motion import ModalState
from flexdyn_ros.simulation.frequencies import damping_matrix
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np

RELATIVE_TOLERANCE = 1e-9
# Deflections below this size need not be resolved further [m | rad].
SMALLEST_DEFLECTION = 1e-6


class DeflectionNotFound(FlexdynError):
    """The quasi-static deflection did not converge: the loads are near those of buckling."""

    def __init__(self, last_step: float):
        self.last_step = last_step
        super().__init__(
            f'The quasi-static deflection did not converge (last step {last_step:.3g}). '
            'Check stiffnesses and payload: the arm may buckle under these loads.'
        )


class RigidArm:
    """Modes held at zero."""

    def __init__(self, n_modes: int):
        self._zero = ModalState.zero(n_modes)

    def at(self, sample: JointSample) -> ModalState:
        """Return zeros."""
        return self._zero

    def reset(self) -> None:
        """Nothing is remembered."""


class ModalEquations:
    """
    The modal rows of the equations of motion with the joint motion given.

    Attributes:
        stiffness: Derivative of the elastic forces by the modal positions, (m, m).
        damping: Derivative of the elastic forces by the modal rates, (m, m).
        free_play: The modes without stiffness at rest.
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
            base: What follows the motion; None where no base is free to.

        Raises:
            FlexdynError: A mode has no elastic force at any deflection.
            NotYetSupported: The loops hold modes of their own accord.
        """
        self._dyn = dyn
        self._coordinates = coordinates
        self._base = base or what_follows(dyn, coordinates)
        if isinstance(self._base, ClosedMotion) and self._base.bound:
            raise NotYetSupported(
                f'the deflection of {", ".join(self._base.bound)}, which the loops hold as the '
                'passive joints cannot give way, is not estimated from joint states yet',
                file=dyn.robot.source,
                element='loop',
                name=dyn.robot.loops[0].name,
                advice='Use mode gravity or rigid, deflection from modal_states, and '
                'initial_deflection zero',
            )
        self._modes = slice(coordinates.n_joints, None)
        rest = dyn.robot.neutral_configuration()
        self.stiffness = stiffness_matrix(dyn, rest)[self._modes, self._modes]
        self.damping = damping_matrix(dyn, rest)[self._modes, self._modes]
        self.free_play = FreePlay(dyn, self.stiffness)

    def residual(self, sample: JointSample, state: ModalState) -> np.ndarray:
        """Return the modal forces that the motion would need, zero in free motion, (m,)."""
        return self._base.forces(sample, state)[self._modes]

    def mass(self, sample: JointSample, delta: np.ndarray) -> np.ndarray:
        """Return the mass matrix of the modes, whatever is free following them, (m, m)."""
        zero = np.zeros_like(delta)
        moved = self._base.released(sample, ModalState(delta, zero, zero))
        q = self._coordinates.configuration(moved.q, delta)
        return self._base.condensed(self._dyn.mass_matrix(q), self._modes, q)


class QuasiStaticArm:
    """
    The deflection under the loads of the joint motion, modal rates and accelerations zero.

    Solved by a chord Newton iteration on the elastic stiffness, which falls back to the full
    Jacobian (by differences) where that contracts slowly.
    """

    def __init__(self, equations: ModalEquations, max_iterations: int = 30):
        self._equations = equations
        self._max_iterations = max_iterations
        self._last: Optional[np.ndarray] = None

    def reset(self) -> None:
        """Start the next solution from the undeformed arm."""
        self._last = None

    def at(self, sample: JointSample) -> ModalState:
        """
        Return the deflection.

        Args:
            sample: Joint motion.

        Raises:
            DeflectionNotFound: The iteration does not converge.
        """
        count = len(self._equations.stiffness)
        zero = np.zeros(count)
        if count == 0:
            return ModalState.zero(0)

        def residual(delta: np.ndarray) -> np.ndarray:
            return self._equations.residual(sample, ModalState(delta, zero, zero))

        start = zero if self._last is None else self._last
        jacobian = self._equations.stiffness
        play = self._equations.free_play
        if play.modes:
            # Inside the play Newton's step is not defined: start where the springs bear.
            slack = start.copy()
            slack[play.modes] = 0.0
            start = play.carrying(-residual(slack), start)
            jacobian = _jacobian(residual, start)
        self._last = self._solve(residual, start, jacobian)
        return ModalState(self._last, zero, zero)

    def _solve(self, residual, delta: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
        size = np.inf
        for _ in range(self._max_iterations):
            value = residual(delta)
            if not np.any(value):
                return delta
            try:
                step = np.linalg.solve(jacobian, value)
            except np.linalg.LinAlgError:
                break
            previous, size = size, np.abs(step).max()
            delta = delta - step
            if size <= RELATIVE_TOLERANCE * max(np.abs(delta).max(), SMALLEST_DEFLECTION):
                return delta
            if size > 0.3 * previous or not np.isfinite(size):
                jacobian = _jacobian(residual, delta)
        raise DeflectionNotFound(size)


def _jacobian(residual, delta: np.ndarray) -> np.ndarray:
    base = residual(delta)
    columns = []
    for k in range(len(delta)):
        moved = delta.copy()
        moved[k] += SMALLEST_DEFLECTION
        columns.append((residual(moved) - base) / SMALLEST_DEFLECTION)
    return np.array(columns).T

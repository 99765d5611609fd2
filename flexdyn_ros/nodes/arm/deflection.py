# SPDX-License-Identifier: Apache-2.0
"""
Models of the deflection that goes with a joint motion: none, quasi-static, or vibrating.

Each model turns a sample of the joint motion into modal positions, rates and accelerations.
"""

from __future__ import annotations

from typing import Optional, Union

from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.closed_motion import ClosedMotion, what_follows
from flexdyn_ros.nodes.arm.free_base import FreeBase
from flexdyn_ros.nodes.arm.joint_motion import JointSample, ModalState
from flexdyn_ros.quasi_static.static_deflection import StaticDeflection
from flexdyn_ros.simulation.frequencies import damping_matrix
import numpy as np


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
        static: Finds static deflections.
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
                f'the deflection of {", ".join(self._base.bound)}, which the loops prevent, is '
                'not estimated from joint states yet',
                file=dyn.robot.source,
                element='loop',
                name=dyn.robot.loops[0].name,
                advice='Use torque_model gravity or rigid, deflection modal_states, and '
                'initial_deflection zero',
            )
        self._modes = slice(coordinates.n_joints, None)
        rest = dyn.robot.neutral_configuration()
        self.static = StaticDeflection(dyn)
        self.stiffness = self.static.stiffness
        self.damping = damping_matrix(dyn, rest)[self._modes, self._modes]

    def residual(self, sample: JointSample, state: ModalState) -> np.ndarray:
        """Return the modal forces that the motion would need, zero in free motion, (m,)."""
        return self._base.forces(sample, state)[self._modes]

    def mass(self, sample: JointSample, delta: np.ndarray) -> np.ndarray:
        """Return the mass matrix of the modes, whatever is free following them, (m, m)."""
        zero = np.zeros_like(delta)
        moved = self._base.completed(sample, ModalState(delta, zero, zero))
        q = self._coordinates.configuration(moved.q, delta)
        return self._base.condensed(self._dyn.mass_matrix(q), self._modes, q)


class QuasiStaticArm:
    """The deflection under the loads of the joint motion, modal rates and accelerations zero."""

    def __init__(self, equations: ModalEquations):
        self._equations = equations
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
        zero = np.zeros(len(self._equations.stiffness))

        def residual(delta: np.ndarray) -> np.ndarray:
            return self._equations.residual(sample, ModalState(delta, zero, zero))

        self._last = self._equations.static.find(residual, self._last)
        return ModalState(self._last, zero, zero)

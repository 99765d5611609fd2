# SPDX-License-Identifier: Apache-2.0
"""A base that nothing holds: it accelerates as the motion of the arm makes it."""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.joint_motion import JointSample, ModalState
import numpy as np


class FreeBase:
    """
    Coordinates that no force acts on, such as those of a satellite's floating joint.

    Let b denote them and r the rest, whose accelerations are known. Their rows of M qdd + bias = 0
    give qdd_b = -M_bb^-1 (M_br qdd_r + bias_b).

    Attributes:
        names: The free coordinates.
        follows: Joints whose positions need not be measured: none.
        problem: The fault of the joints' positions: nothing.
        rest_positions: Joint positions with all coordinates zero, shape (n_positions,).
    """

    def __init__(self, dyn, coordinates: ArmCoordinates, names: Sequence[str] = ()):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            coordinates: Its coordinates.
            names: The free coordinates; none for an arm that stands on ground.
        """
        self.names = tuple(names)
        self.follows: tuple[str, ...] = ()
        self.problem = ''
        self.rest_positions = coordinates.neutral_positions
        self._columns = coordinates.columns(names)
        self._dyn = dyn
        self._coordinates = coordinates

    def completed(self, sample: JointSample, state: ModalState) -> JointSample:
        """
        Return the sample with the accelerations that the free coordinates take.

        Args:
            sample: Joint motion; its accelerations of free coordinates are not looked at.
            state: Modal state.
        """
        if not self.names:
            return sample
        join = self._coordinates.join
        q = self._coordinates.configuration(sample.q, state.delta)
        qdd = sample.qdd.copy()
        qdd[self._columns] = 0.0
        force = self._dyn.inverse_dynamics(
            q, join(sample.qd, state.rate), join(qdd, state.acceleration))
        mass = self._dyn.mass_matrix(q)[np.ix_(self._columns, self._columns)]
        qdd[self._columns] = -np.linalg.solve(mass, force[self._columns])
        return JointSample(sample.time, sample.q, sample.qd, qdd)

    def forces(self, sample: JointSample, state: ModalState) -> np.ndarray:
        """Return the generalised forces of a motion, free coordinates following, shape (nv,)."""
        join = self._coordinates.join
        return self._dyn.inverse_dynamics(
            self._coordinates.configuration(sample.q, state.delta),
            join(sample.qd, state.rate),
            join(self.completed(sample, state).qdd, state.acceleration),
        )

    def condensed(self, mass: np.ndarray, rows: slice, q: np.ndarray) -> np.ndarray:
        """
        Return the mass matrix that some coordinates have while the free ones follow.

        Args:
            mass: Mass matrix of the robot, shape (nv, nv).
            rows: The coordinates, m in number.
            q: Configuration, not looked at.

        Returns:
            M_mm - M_mb M_bb^-1 M_bm, shape (m, m).
        """
        if not self.names:
            return mass[rows, rows]
        coupling = mass[self._columns, rows]
        own = mass[np.ix_(self._columns, self._columns)]
        return mass[rows, rows] - coupling.T @ np.linalg.solve(own, coupling)

# SPDX-License-Identifier: Apache-2.0
"""
The velocities that a prescribed base and loops leave, in a step of the implicit method.

Loops act in the middle of a step, by forces J(q_m)^T f, and hold its end, J(q_1) v_1 = 0. This is
the projected midpoint rule. It is of second order, as the exact motion always meets J v = 0
(Hairer, Lubich and Wanner, Geometric Numerical Integration, 2006, section VII.1). With bases N of
the free motions there, the velocity at the end that a matrix A and a force take is

    v_1 = N(q_1) [N(q_m)^T A N(q_1)]^-1 N(q_m)^T (A v + force).
"""

from __future__ import annotations

from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
import numpy as np


class ConstrainedSpace:
    """
    The free velocities of one step.

    Attributes:
        constrained: Whether loops take part.
    """

    def __init__(self, equations: EquationsOfMotion, q: np.ndarray):
        """
        Find the rank of the loops.

        Args:
            equations: The equations of motion.
            q: Configuration at the start, (nq,), where loops are closed.
        """
        self._loops, self._held = equations.loops, equations.held_coordinates
        self.constrained = self._loops is not None
        if self._loops is not None:
            self._loops.find_rank(q)

    def move(self, middle: np.ndarray, end: np.ndarray) -> None:
        """Take the free motions at other configurations in the middle and at the end, (nq,)."""
        if self._loops is not None:
            self._middle, self._end = map(self._loops.free_motions, (middle, end))

    def inverse(self, matrix: np.ndarray) -> np.ndarray:
        """Return the velocities that unit impulses give by a matrix, (nv, nv)."""
        if self.constrained:
            block = self._middle.T @ matrix @ self._end
            return np.asarray(self._end @ np.linalg.solve(block, self._middle.T))
        found, free = np.zeros_like(matrix), slice(self._held, None)
        found[free, free] = np.linalg.inv(matrix[free, free])
        return found

    def end(
        self, inverse: np.ndarray, matrix: np.ndarray, v: np.ndarray, impulse: np.ndarray
    ) -> np.ndarray:
        """
        Return the velocity at the end, (nv,).

        Args:
            inverse: See `inverse`.
            matrix: The matrix of that inverse, (nv, nv).
            v: Velocity that the impulse changes, (nv,).
            impulse: (nv,).
        """
        if self.constrained:
            return np.asarray(inverse @ (matrix @ v + impulse))
        return np.asarray(v + inverse @ impulse)

# SPDX-License-Identifier: Apache-2.0
"""
The deflection at which modal forces vanish: a chord Newton iteration on the exact equations.

The elastic stiffness stands for the derivative of all forces, which is close to it as long as
loads are far from those of buckling; where that contracts slowly, the full derivative is taken.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.quasi_static.free_play import FreePlay
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np

# Deflections below this size need not be resolved further [m | rad].
SMALLEST_DEFLECTION = 1e-6
MAX_ITERATIONS = 30
# Of a deflection: loads that cancel leave more of it than steps can resolve.
ROUNDING = 1e-7

Residual = Callable[[np.ndarray], np.ndarray]


class DeflectionNotFound(FlexdynError):
    """The quasi-static deflection did not converge: the loads are near those of buckling."""

    def __init__(self, last_step: float):
        self.last_step = last_step
        super().__init__(
            f'The quasi-static deflection did not converge (last step {last_step:.3g}). '
            'Check stiffnesses and payload: the arm may buckle under these loads.'
        )


class StaticDeflection:
    """
    Finds static deflections of one robot.

    Attributes:
        stiffness: Derivative of the elastic forces by the modal positions at rest, (m, m).
        free_play: The modes without stiffness at rest.
    """

    def __init__(self, dyn: Any, tolerance: float = 1e-9):
        """
        Prepare.

        Args:
            dyn: The dynamics.
            tolerance: Of a deflection, relative to the largest of them.

        Raises:
            FlexdynError: A mode has no elastic force at any deflection.
        """
        robot = dyn.robot
        modes = slice(robot.n_joints, None)
        rest = robot.neutral_configuration()
        self.stiffness = stiffness_matrix(dyn, rest)[modes, modes]
        self.free_play = FreePlay(dyn, self.stiffness)
        self._tolerance = tolerance

    def find(self, residual: Residual, start: Optional[np.ndarray] = None) -> np.ndarray:
        """
        Return the deflection at which `residual` vanishes, (m,).

        Args:
            residual: From a deflection, (m,), to the modal forces that would hold it, (m,).
            start: Where to begin; the undeformed arm when None.

        Raises:
            DeflectionNotFound: The iteration does not converge.
        """
        delta = np.zeros(len(self.stiffness)) if start is None else start
        if not len(delta):
            return delta
        jacobian, play = self.stiffness, self.free_play
        if play.modes:
            # Inside the play Newton's step is not defined: start where the springs bear.
            slack = delta.copy()
            slack[play.modes] = 0.0
            delta = play.carrying(-residual(slack), delta)
            jacobian = _jacobian(residual, delta)
        return self._iterate(residual, delta, jacobian)

    def _iterate(
        self, residual: Residual, delta: np.ndarray, jacobian: np.ndarray
    ) -> np.ndarray:
        size = np.inf
        for _ in range(MAX_ITERATIONS):
            value = residual(delta)
            if not np.any(value):
                return delta
            try:
                step = np.linalg.solve(jacobian, value)
            except np.linalg.LinAlgError:
                break
            previous, size = size, np.abs(step).max()
            delta = delta - step
            scale = max(np.abs(delta).max(), SMALLEST_DEFLECTION)
            # Steps so small that grow no smaller are the rounding of the loads.
            rounding = size <= ROUNDING * scale and size >= 0.5 * previous
            if size <= self._tolerance * scale or rounding:
                return delta
            if size > 0.3 * previous or not np.isfinite(size):
                jacobian = _jacobian(residual, delta)
        raise DeflectionNotFound(float(size))


def _jacobian(residual: Residual, delta: np.ndarray) -> np.ndarray:
    base = residual(delta)
    columns: list[np.ndarray] = []
    for k in range(len(delta)):
        moved = delta.copy()
        moved[k] += SMALLEST_DEFLECTION
        columns.append((residual(moved) - base) / SMALLEST_DEFLECTION)
    return np.asarray(np.transpose(columns))

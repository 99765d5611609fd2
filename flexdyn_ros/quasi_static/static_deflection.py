# SPDX-License-Identifier: Apache-2.0
"""
The deflection at which modal forces vanish: a chord Newton iteration on the exact equations.

The elastic stiffness stands for the derivative of all forces, which is close to it as long as
loads are far from those of buckling. Where that contracts slowly, the full derivative is taken.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np

# Deflections below this size need not be resolved further [m | rad].
SMALLEST_DEFLECTION = 1e-6
MAX_ITERATIONS = 30
# Of a deflection: loads that cancel leave more of it than steps can resolve.
ROUNDING = 1e-7
# Deflections at which the force of a spring is evaluated, smallest first [m | rad].
DECADES = tuple(10.0**k for k in range(-6, 4))

Residual = Callable[[np.ndarray], np.ndarray]


class DeflectionNotFound(FlexdynError):
    """The quasi-static deflection did not converge: the loads are near those of buckling."""

    def __init__(self, last_step: float):
        self.last_step = last_step
        super().__init__(
            f'The quasi-static deflection did not converge (last step {last_step:.3g}). '
            'Check stiffnesses and payload: the arm may buckle under these loads.'
        )


class Backlash:
    """
    The modes whose elastic force has no slope at rest: a table's dead zone, a cubic alone.

    Attributes:
        modes: Their places among the modes.
    """

    def __init__(self, dyn: Dynamics, stiffness: np.ndarray):
        """
        Find them.

        Args:
            dyn: The dynamics.
            stiffness: Derivative of the elastic forces by the modal positions at rest, (m, m).

        Raises:
            FlexdynError: A mode has no elastic force at any deflection.
        """
        robot = dyn.robot
        self._dyn = dyn
        self._rest = robot.neutral_configuration()
        self._zero = np.zeros(robot.nv)
        self.modes = [k for k, row in enumerate(stiffness) if not np.any(row)]
        free = [
            robot.mode_names[k] for k in self.modes
            if not all(any(sign * self._force(k, sign * x) > 0.0 for x in DECADES)
                       for sign in (-1.0, 1.0))
        ]
        if free:
            raise FlexdynError(
                f'Modes {", ".join(free)} have no stiffness, so that they have no quasi-static '
                'deflection. Give them a stiffness, or hold them: mode "rigid" of the node.'
            )

    def _force(self, mode: int, deflection: float) -> float:
        """Return the elastic force of a mode at its own deflection, the others at rest."""
        robot = self._dyn.robot
        q = self._rest.copy()
        q[robot.nq - robot.n_modes + mode] = deflection
        return float(self._dyn.elastic_vector(q, self._zero)[robot.n_joints + mode])

    def loaded_deflection(self, loads: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """
        Return a deflection at which each of these modes carries its load by itself.

        Args:
            loads: Force on each mode, (m,) [N | N m].
            delta: Deflection of all modes, (m,) [m | rad].

        Raises:
            FlexdynError: A spring cannot carry its load.
        """
        delta = delta.copy()
        for mode in self.modes:
            delta[mode] = self._deflection(mode, float(loads[mode]))
        return delta

    def _deflection(self, mode: int, load: float) -> float:
        from scipy.optimize import brentq  # few arms have such springs, and its import is slow

        if load == 0.0:
            return 0.0
        sign = np.sign(load)
        for far in DECADES:
            if sign * self._force(mode, sign * far) >= abs(load):
                end = sign * far
                return float(brentq(lambda x: self._force(mode, x) - load, 0.0, end, xtol=1e-15))
        raise FlexdynError(
            f'The spring of {self._dyn.robot.mode_names[mode]} cannot carry {load:.4g}: let the '
            'table of its <spring> or <mode_spring> reach higher forces.'
        )


class StaticDeflection:
    """
    Finds static deflections of one robot.

    Attributes:
        stiffness: Derivative of the elastic forces by the modal positions at rest, (m, m).
        backlash: The modes without stiffness at rest.
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
        self.backlash = Backlash(dyn, self.stiffness)
        self._tolerance = tolerance

    def find(self, residual: Residual, start: Optional[np.ndarray] = None) -> np.ndarray:
        """
        Return the deflection at which `residual` vanishes, (m,).

        Args:
            residual: From a deflection, (m,), to the modal forces that would hold it, (m,).
            start: Start of the iteration; the undeformed arm when None.

        Raises:
            DeflectionNotFound: The iteration does not converge.
        """
        delta = np.zeros(len(self.stiffness)) if start is None else start
        if not len(delta):
            return delta
        jacobian, backlash = self.stiffness, self.backlash
        if backlash.modes:
            # Inside the backlash Newton's step is not defined: start where the springs bear.
            slack = delta.copy()
            slack[backlash.modes] = 0.0
            delta = backlash.loaded_deflection(-residual(slack), delta)
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

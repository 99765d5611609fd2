# SPDX-License-Identifier: Apache-2.0
"""Springs without stiffness at rest, such as a gear's backlash: where they carry a load."""

from __future__ import annotations

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from scipy.optimize import brentq

# Deflections at which a spring is asked what it carries, smallest first [m | rad].
DECADES = tuple(10.0**k for k in range(-6, 4))


class FreePlay:
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
                f'Modes {", ".join(free)} have no stiffness, and so no quasi-static deflection. '
                'Give them a stiffness, or use torque_model rigid.'
            )

    def _force(self, mode: int, deflection: float) -> float:
        """Return the elastic force of a mode at its own deflection, the others at rest."""
        robot = self._dyn.robot
        q = self._rest.copy()
        q[robot.nq - robot.n_modes + mode] = deflection
        return float(self._dyn.elastic_vector(q, self._zero)[robot.n_joints + mode])

    def carrying(self, loads: np.ndarray, delta: np.ndarray) -> np.ndarray:
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
            delta[mode] = self._carrying(mode, float(loads[mode]))
        return delta

    def _carrying(self, mode: int, load: float) -> float:
        if load == 0.0:
            return 0.0
        sign = np.sign(load)
        for far in DECADES:
            if sign * self._force(mode, sign * far) >= abs(load):
                end = sign * far
                return float(brentq(lambda x: self._force(mode, x) - load, 0.0, end, xtol=1e-15))
        raise FlexdynError(
            f'The spring of {self._dyn.robot.mode_names[mode]} cannot carry {load:.4g}: extend '
            'the table of its <spring> or <mode_spring> to higher forces.'
        )

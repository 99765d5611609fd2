# SPDX-License-Identifier: Apache-2.0
"""Steps of an explicit Runge-Kutta method on the configurations of a robot."""

from __future__ import annotations

from typing import Optional, Protocol

from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.simulation.tableaus import Tableau
import numpy as np


class IntegrableMotion(Protocol):
    """A motion integrated by a method: `EquationsOfMotion`, or one with rules of its own."""

    @property
    def map(self) -> ConfigurationMap:
        """The configuration beside the velocity."""

    def begin_step(self, t: float, h: float, tableau: Tableau) -> None:
        """Prepare a step from t to t + h [s]."""

    def torque(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the generalised forces, (nv,)."""

    def acceleration(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, stage: int
    ) -> np.ndarray:
        """Return the accelerations, (nv,), at a stage of the step, from 0."""

    def end_step(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the state at the end of a step, as the next one is to start from it."""


class Integrals(Protocol):
    """Quantities integrated beside a motion: `Quadratures`, or some of another law."""

    value: np.ndarray

    def rate(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, qdd: np.ndarray
    ) -> np.ndarray:
        """Return the rate of `value`."""


class RungeKutta:
    """
    An explicit Runge-Kutta method for the motion of one robot.

    Configuration and velocity are one vector whose rate is (N(q) qd, qdd). Off unit length a
    quaternion's rate is that of the nearest unit one, a smooth field: a method keeps its order.
    `steps/stepping.c` does the same steps with the same tableau.
    """

    def __init__(
        self, equations: IntegrableMotion, tableau: Tableau,
        quadratures: Optional[Integrals] = None,
    ):
        """
        Prepare the method.

        Args:
            equations: The robot's equations of motion.
            tableau: The method.
            quadratures: The integrals beside the motion.
        """
        self._equations, self._tableau = equations, tableau
        self._quadratures = quadratures
        more = 0 if quadratures is None else len(quadratures.value)
        self._rows = [np.array(row) for row in tableau.a]
        self._weights = np.array(tableau.b)
        self._nq, self._nv = equations.map.nq, equations.map.nv
        self._rates = np.zeros((tableau.stages, self._nq + self._nv + more))

    def step(
        self, t: float, h: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the state after a step from t to t + h [s].

        Args:
            t: Time at the start [s].
            h: Length of the step [s].
            q: Configuration at the start, (nq,).
            qd: Velocity there, (nv,).
            tau: Generalised forces there, (nv,).

        Raises:
            Diverged: The motion has grown beyond the range of numbers (`EquationsOfMotion`).
        """
        equations, tableau, rates = self._equations, self._tableau, self._rates
        nq, size, more = self._nq, self._nq + self._nv, self._quadratures
        to_rate, normalise = equations.map.rate, equations.map.normalise
        equations.begin_step(t, h, tableau)
        start = np.concatenate((q, qd) if more is None else (q, qd, more.value))
        for stage, (row, c) in enumerate(zip(self._rows, tableau.c)):
            if stage:
                state = _moved(start, h, row, rates[:stage])
                q, qd = normalise(state[:nq]), state[nq:size]
                if more is not None:
                    more.value = state[size:]
                tau = equations.torque(t + c * h, q, qd)
            qdd = equations.acceleration(t + c * h, q, qd, tau, stage)
            rates[stage, nq:size] = qdd
            rates[stage, :nq] = to_rate(q, qd)
            if more is not None:
                rates[stage, size:] = more.rate(t + c * h, q, qd, tau, qdd)
        end = _moved(start, h, self._weights, rates)
        if more is not None:
            more.value = end[size:]
        return equations.end_step(normalise(end[:nq]), end[nq:size])


def _moved(start: np.ndarray, h: float, weights: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return start + h sum_j weights_j rates_j, in an array of its own."""
    with np.errstate(over='ignore', invalid='ignore'):
        return np.asarray(start + h * (weights @ rates))

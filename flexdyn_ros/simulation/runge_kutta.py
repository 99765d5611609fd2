# SPDX-License-Identifier: Apache-2.0
"""A step of an explicit Runge-Kutta method on the configurations of a robot."""

from __future__ import annotations

from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.tableaus import Tableau
import numpy as np


def runge_kutta_step(
    equations: EquationsOfMotion,
    tableau: Tableau,
    t: float,
    h: float,
    q: np.ndarray,
    qd: np.ndarray,
    tau: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the state after a step from t to t + h [s].

    Args:
        equations: The robot's equations of motion.
        tableau: The method.
        t: Time at the start [s].
        h: Length of the step [s].
        q: Configuration at the start, (nq,).
        qd: Velocity there, (nv,).
        tau: Generalised forces there, (nv,).

    Raises:
        Diverged: The motion has grown beyond what can be computed.
    """
    to_rate, normalise = equations.map.rate, equations.map.normalise
    rates_q = [to_rate(q, qd)]
    rates_v = [equations.acceleration(t, q, qd, tau, first=True)]
    for row, c in zip(tableau.a[1:], tableau.c[1:]):
        # Quaternions drift off unit length inside a step; a stage sees the nearest rotation.
        stage_q = normalise(_combine(q, h, row, rates_q))
        stage_qd = _combine(qd, h, row, rates_v)
        stage_tau = equations.torque(t + c * h, stage_q, stage_qd)
        rates_v.append(equations.acceleration(t + c * h, stage_q, stage_qd, stage_tau))
        rates_q.append(to_rate(stage_q, stage_qd))
    q_next = normalise(_combine(q, h, tableau.b, rates_q))
    return equations.end_step(t, h, q_next, _combine(qd, h, tableau.b, rates_v))


def _combine(
    start: np.ndarray, h: float, weights: tuple[float, ...], rates: list[np.ndarray]
) -> np.ndarray:
    """Return start + h sum_j weights_j rates_j, in an array of its own."""
    with np.errstate(over='ignore', invalid='ignore'):
        total = start.copy()
        for weight, rate in zip(weights, rates):
            if weight:
                total += (h * weight) * rate
    return total

# SPDX-License-Identifier: Apache-2.0
"""Frequencies and motions of planar arms, by plain means."""

from __future__ import annotations

import numpy as np


def stiffness_matrix(dyn) -> np.ndarray:
    """Return dK/dq of the elastic vector (nv, nv), for robots whose nq is nv."""
    robot = dyn.robot
    unit, zero = np.eye(robot.nv), np.zeros(robot.nv)
    return np.array([dyn.elastic_vector(e, zero) for e in unit]).T


def frequencies_hz(dyn, q=None) -> np.ndarray:
    """Return the linear undamped frequencies at q (zero by default), ascending [Hz]."""
    q = np.zeros(dyn.robot.nq) if q is None else q
    values = np.linalg.eigvals(np.linalg.solve(dyn.mass_matrix(q), stiffness_matrix(dyn)))
    return np.sqrt(np.maximum(np.sort(values.real), 0.0)) / (2.0 * np.pi)


def runge_kutta_4(acceleration, q, qd, t_end: float, steps: int):
    """Return q, qd at `t_end` of qdd = acceleration(t, q, qd) by the classical method."""
    dt = t_end / steps
    y = np.array([q, qd], float)

    def slope(t, state):
        return np.array([state[1], acceleration(t, *state)])

    for k in range(steps):
        t = k * dt
        k1 = slope(t, y)
        k2 = slope(t + 0.5 * dt, y + 0.5 * dt * k1)
        k3 = slope(t + 0.5 * dt, y + 0.5 * dt * k2)
        k4 = slope(t + dt, y + dt * k3)
        y = y + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y

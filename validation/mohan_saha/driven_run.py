# SPDX-License-Identifier: Apache-2.0
"""RK4 on numbers of one precision, state and all: the Canadarm driven, and chains that swing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from validation.mohan_saha.two_solutions import TwoSolutions

# A state beyond this has escaped [rad, m, rad/s, m/s].
ESCAPED = 1e6


@dataclass(frozen=True)
class DrivenRun:
    """
    The results of a run, converted to double precision.

    Attributes:
        t: Times of the samples [s].
        q: Coordinates, (n, nv).
        qd: Their rates, (n, nv).
        qdd: Their accelerations, (n, nv).
        work: Work of the forces up to the samples [J].
        end: Time that the run reached [s].
        finished: Whether it reached that end.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    work: np.ndarray
    end: float
    finished: bool


def integrate(
    parts: TwoSolutions,
    solution: str,
    q0: np.ndarray,
    qd0: np.ndarray,
    dt: float,
    steps: int,
    forces: Optional[np.ndarray] = None,
    every: int = 1,
) -> DrivenRun:
    """
    Integrate a motion by the classical Runge-Kutta method, every operation in one precision.

    Args:
        parts: The equations, of the given precision.
        solution: Method that solves for accelerations.
        q0: Coordinates at the start, (nv,).
        qd0: Rates there, (nv,).
        dt: Step [s].
        steps: Number of steps; fewer are taken where the state escapes.
        forces: Generalised forces at every half step, (2 steps + 1, up to nv), rounded to the
            precision; none where None. Their work is summed in double precision.
        every: Steps between two samples.
    """
    number, nv = parts.number, parts.nv
    kind: Any = np.float64 if number is float else number
    driven = np.zeros((2 * steps + 1, nv), kind)
    if forces is not None:
        driven[:, : forces.shape[1]] = forces
    given = driven.astype(float)
    # Lists of floats are faster than arrays; numbers of numpy keep their precision in lists.
    as_list = np.ndarray.tolist if number is float else list
    taken = [as_list(row) for row in driven]
    step, half, sixth = kind(dt), kind(0.5) * kind(dt), kind(dt) / kind(6.0)

    def slope(state: np.ndarray, tau: list) -> np.ndarray:
        values = as_list(state)
        found = parts.accelerations(solution, values[:nv], values[nv:], tau)
        return np.array(values[nv:] + found, kind)

    state = np.concatenate((q0, qd0)).astype(kind)
    samples: list[Any] = []
    work, taken_steps = 0.0, 0
    with np.errstate(all='ignore'):
        for k in range(steps):
            start, middle, end = taken[2 * k: 2 * k + 3]
            k1 = slope(state, start)
            if k % every == 0:
                samples.append((k * dt, state, k1[nv:], work))
            second = state + half * k1
            k2 = slope(second, middle)
            third = state + half * k2
            k3 = slope(third, middle)
            fourth = state + step * k3
            k4 = slope(fourth, end)
            if forces is not None:
                power = [float(np.dot(tau, stage[nv:])) for tau, stage in zip(
                    given[[2 * k, 2 * k + 1, 2 * k + 1, 2 * k + 2]],
                    (state, second, third, fourth),
                )]
                work += dt / 6.0 * (power[0] + 2.0 * (power[1] + power[2]) + power[3])
            state = state + sixth * (k1 + (k2 + k2) + (k3 + k3) + k4)
            taken_steps = k + 1
            if not np.all(np.abs(state) < ESCAPED):
                break
        else:
            samples.append((steps * dt, state, slope(state, taken[-1])[nv:], work))
    t, states, accelerations, works = zip(*samples)
    kept = np.array(states, float)
    return DrivenRun(
        np.array(t), kept[:, :nv], kept[:, nv:], np.array(accelerations, float),
        np.array(works), taken_steps * dt, bool(np.all(np.abs(state) < ESCAPED)),
    )

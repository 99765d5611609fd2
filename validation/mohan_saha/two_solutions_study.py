# SPDX-License-Identifier: Apache-2.0
"""Runs of the Canadarm by both solutions, in single and double precision."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from validation.case_file import inputs
from validation.mohan_saha.canadarm import (
    canadarm,
    canadarm_dynamics,
    desired,
    JOINTS,
    rigid_torque,
)
from validation.mohan_saha.driven_run import DrivenRun, integrate
from validation.mohan_saha.solution_errors import DOUBLE, SINGLE
from validation.mohan_saha.two_solutions import SOLUTIONS, TwoSolutions
from validation.studies import apart

MODES = 2
NUMBERS: dict[str, Any] = {SINGLE: np.float32, DOUBLE: float}
# Every pair of a precision and a solution.
WAYS = tuple((precision, solution) for precision in (DOUBLE, SINGLE) for solution in SOLUTIONS)
# Marks a state out of the arm's reach, its desired angles being at most 1 [rad].
LOST = 0.1


@lru_cache(maxsize=None)
def parts(precision: str) -> TwoSolutions:
    """Return the Canadarm's equations on numbers of a precision."""
    number = NUMBERS[precision]
    return TwoSolutions(canadarm(MODES), number, number)


@lru_cache(maxsize=None)
def torques(dt: float, steps: int) -> np.ndarray:
    """Return the rigid arm's torques at every half step, (2 steps + 1, 3) [N m]."""
    return np.array([rigid_torque(0.5 * dt * k) for k in range(2 * steps + 1)])


@lru_cache(maxsize=None)
def run(precision: str, solution: str, dt: float, t_end: float) -> DrivenRun:
    """Return the driven motion from rest."""
    steps = round(t_end / dt)
    rest = np.zeros(parts(precision).nv)
    every = max(1, round(inputs('ms_recursive_and_dense')['sample'] / dt))
    return integrate(
        parts(precision), solution, rest, rest, dt, steps, torques(dt, steps), every
    )


def angle_errors(made: DrivenRun) -> np.ndarray:
    """Return the joints' angles less the desired ones, (n, 3) [rad]."""
    return made.q[:, :JOINTS] - desired(made.t)[0]


def power_differences(made: DrivenRun) -> np.ndarray:
    """Return the desired power less the simulated one, (n,) [W] (figure 7)."""
    tau = np.array([rigid_torque(t) for t in made.t])
    return np.sum(tau * (desired(made.t)[1] - made.qd[:, :JOINTS]), axis=1)


def acceleration_errors(made: DrivenRun) -> np.ndarray:
    """
    Return the error of joint 1's acceleration by single precision in each state of a run, (n,).

    Against double precision on the same model, states and torques, [rad/s^2].
    """
    judge = TwoSolutions(canadarm(MODES), float, np.float32)
    found = []
    for t, q, qd, qdd in zip(made.t, made.q, made.qd, made.qdd):
        tau = np.zeros(judge.nv)
        tau[:JOINTS] = np.float32(rigid_torque(t))
        exact = judge.accelerations(SOLUTIONS[0], q.tolist(), qd.tolist(), tau.tolist())
        found.append(qdd[0] - exact[0])
    return np.array(found)


def energy_error(made: DrivenRun) -> float:
    """Return the largest |work - energy| so far [J], infinite once the state has escaped."""
    if not made.finished:
        return float('inf')
    dyn = canadarm_dynamics(MODES)
    energy = [
        dyn.kinetic_energy(q, qd) + dyn.potential_energy(q) for q, qd in zip(made.q, made.qd)
    ]
    return float(np.max(np.abs(made.work - energy)))


def is_good(made: DrivenRun) -> bool:
    """Return whether a run got to its end near the desired motion."""
    return made.finished and bool(np.max(np.abs(angle_errors(made))) < LOST)


def adaptive(solution: str, t_end: float) -> tuple[float, int]:
    """
    Let the integrator choose its steps: Dormand and Prince's 5(4), relative tolerance 1e-3.

    Those are the defaults of MATLAB's ode45. Double precision.

    Returns:
        The largest deviation from the desired angles, infinite where it breaks off [rad], and the
        number of evaluations.
    """
    equations = parts(DOUBLE)
    n, still = equations.nv, [0.0] * (equations.nv - JOINTS)

    def slope(t: float, state: np.ndarray) -> list:
        values = state.tolist()
        tau = [*rigid_torque(t), *still]
        return values[n:] + equations.accelerations(solution, values[:n], values[n:], tau)

    samples = np.linspace(0.0, t_end, 201)
    found = solve_ivp(slope, (0.0, t_end), np.zeros(2 * n), rtol=1e-3, atol=1e-6, t_eval=samples)
    if not found.success:
        return float('inf'), found.nfev
    return float(np.max(np.abs(found.y[:JOINTS].T - desired(samples)[0]))), found.nfev


def along_the_motion(t_end: float) -> tuple[np.ndarray, float]:
    """
    Compare the two solutions in states along the motion, in double precision.

    Returns:
        Condition numbers of the mass matrix, for modal amplitudes of shapes that move the tips by
        2 and -2. Then the largest difference of the accelerations, of the largest acceleration.
    """
    made = run(DOUBLE, SOLUTIONS[0], inputs('ms_recursive_and_dense')['step'], t_end)
    equations = parts(DOUBLE)
    scale = np.array([1.0] * JOINTS + [2.0, -2.0] * JOINTS)
    conditions, differences = [], []
    for t, q, qd in zip(made.t[1::10], made.q[1::10], made.qd[1::10]):
        tau = [*rigid_torque(t), *np.zeros(len(q) - JOINTS)]
        first, second = (
            np.array(equations.accelerations(way, q.tolist(), qd.tolist(), tau))
            for way in SOLUTIONS
        )
        matrix = equations.mass_matrix(q.tolist()) * np.outer(scale, scale)
        conditions.append(np.linalg.cond(matrix))
        differences.append(apart(second, first))
    return np.array(conditions), float(np.max(differences))

# SPDX-License-Identifier: Apache-2.0
"""Torques that a motion of the joints needs, with its modes absent, static, or vibrating."""

from __future__ import annotations

from typing import Any, Callable

from flexdyn_ros.errors import ArgumentError
import numpy as np

JointMotionFunction = Callable[[float], tuple[np.ndarray, np.ndarray, np.ndarray]]


def rigid_torques(dyn: Any, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return the torques of the undeformed arm along joint motions (T, n_joints), (T, nv)."""
    still = np.zeros((len(q), dyn.robot.n_modes))
    found = np.asarray(dyn.batch.inverse_dynamics(*(np.hstack([x, still]) for x in (q, qd, qdd))))
    found[:, dyn.robot.n_joints:] = 0.0
    return found


def quasi_static_torques(dyn: Any, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return the torques with modes that follow the joints statically, (T, nv)."""
    found = np.zeros((len(q), dyn.robot.nv))
    for row, *state in zip(found, q, qd, qdd):
        row[: dyn.robot.n_joints] = dyn.quasi_static_torque(*state)[0]
    return found


def vibrating_torques(
    dyn: Any, motion: JointMotionFunction, t: np.ndarray, modes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the torques with modes that vibrate along a motion of the joints, and their last state.

    Args:
        dyn: The dynamics, without loops.
        motion: Positions, velocities and accelerations of the joints at a time, (n_joints,) each.
        t: Ascending times, (T,) [s].
        modes: Deflections and their rates at the first time, (2 n_modes,).

    Returns:
        Torques, (T, nv), and the modes at the last time, (2 n_modes,).
    """
    from scipy.integrate import solve_ivp

    m = dyn.robot.n_modes

    def parts(time: float, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q, qd, qdd = motion(time)
        return np.append(q, state[:m]), np.append(qd, state[m:]), qdd

    def rate(time: float, state: np.ndarray) -> np.ndarray:
        return np.append(state[m:], dyn.hybrid_dynamics(*parts(time, state))[1])

    run = solve_ivp(rate, (t[0], t[-1]), modes, 'LSODA', t, rtol=1e-8, atol=1e-10)
    if not run.success:
        raise ArgumentError(
            'motion', f'cannot be followed by the modes: {run.message}. Plan a slower one')
    tau = np.zeros((len(t), dyn.robot.nv))
    for row, time, state in zip(tau, t, run.y.T):
        row[: dyn.robot.n_joints] = dyn.hybrid_dynamics(*parts(time, state))[0]
    return tau, run.y[:, -1]


def torques_along(
    dyn: Any, motion: JointMotionFunction, t: np.ndarray, model: str, modes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the torques along a motion, (T, nv), and the modes at the end.

    Args:
        dyn: The dynamics, without loops and quaternions.
        motion: See `vibrating_torques`.
        t: Ascending times, (T,) [s].
        model: "rigid", "quasi_static" or "flexible".
        modes: Deflections and their rates at the first time, (2 n_modes,); for "flexible".
    """
    if model == 'flexible' and dyn.robot.n_modes:
        return vibrating_torques(dyn, motion, t, modes)
    q, qd, qdd = (np.array(each) for each in zip(*(motion(time) for time in t.tolist())))
    rigid = model == 'rigid' or not dyn.robot.n_modes
    return (rigid_torques if rigid else quasi_static_torques)(dyn, q, qd, qdd), modes

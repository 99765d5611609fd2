# SPDX-License-Identifier: Apache-2.0
"""The flexible Canadarm of table 2, its desired motion (eq. 44) and the torques that drive it."""

from __future__ import annotations

from functools import lru_cache
from typing import Optional

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate, Trajectory
import numpy as np
from validation.beam_arms import beam_arm_urdf
from validation.case_file import inputs

JOINTS = 3

Motion = tuple[np.ndarray, np.ndarray, np.ndarray]


@lru_cache(maxsize=None)
def canadarm(modes: int, rigidity: Optional[float] = None) -> Robot:
    """Return the arm with bending modes in its plane; EI of all links may be another [N m^2]."""
    arm = inputs('ms_canadarm')
    stiffness = arm['rigidity'] if rigidity is None else [rigidity] * JOINTS
    return load_robot(beam_arm_urdf(arm['lengths'], arm['masses'], stiffness, modes))


@lru_cache(maxsize=None)
def canadarm_dynamics(modes: int, rigidity: Optional[float] = None) -> Dynamics:
    """Return the arm's dynamics by generated Python: many calls, and no compiler."""
    return Dynamics(canadarm(modes, rigidity), backend='python')


def path(t: float, turns: float = 1.0) -> Motion:
    """
    Return angles, rates and accelerations of the desired motion at a time, (3,) each.

    Args:
        t: Time [s].
        turns: 1 as printed; 2 for sin(2 pi t / T), after which all joints are at rest.
    """
    given = inputs('ms_canadarm')['path']
    k, period = np.array(given['k']), np.array(given['T']) / turns
    phase = np.pi * t / period
    return (
        k * (t - period / np.pi * np.sin(phase)), k * (1.0 - np.cos(phase)),
        k * np.pi / period * np.sin(phase),
    )


def rigid_torque(t: float, turns: float = 1.0) -> np.ndarray:
    """Return the torques that move the arm of rigid links as desired, (3,) [N m]."""
    return canadarm_dynamics(0).inverse_dynamics(*path(t, turns))


@lru_cache(maxsize=None)
def driven(
    modes: int, dt: float, t_end: float = 10.0, rigidity: Optional[float] = None,
    turns: float = 1.0,
) -> Trajectory:
    """Return the motion of the flexible arm, from rest, under the torques of the rigid one."""
    dyn = canadarm_dynamics(modes, rigidity)
    rest = np.zeros(dyn.robot.nv)

    def torque(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.concatenate((rigid_torque(t, turns), rest[JOINTS:]))

    return simulate(dyn, rest, rest, torque, t_end, dt, progress=False)


def desired(t: np.ndarray, turns: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return desired angles and rates at many times, (n, 3) each."""
    angles, rates, _ = zip(*(path(each, turns) for each in t))
    return np.array(angles), np.array(rates)


def tip_deflections(q: np.ndarray) -> np.ndarray:
    """Return the deflection of each link's tip in its own axes, (n, 3) [m]."""
    return np.sum(q[:, JOINTS:].reshape(len(q), JOINTS, -1), axis=2)

# SPDX-License-Identifier: Apache-2.0
"""The arm in space that Graves's cases share, random states, and both formulations."""

from __future__ import annotations

from functools import lru_cache

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from validation.beam_arms import beam_arm_urdf
from validation.case_file import inputs


def by_influence(robot: Robot, *approximations: str) -> Dynamics:
    """Return the dynamics by the method of kinematic influence."""
    return Dynamics(robot, formulation='kinematic_influence', approximations=approximations)


def arm_text(modes: int = 1) -> str:
    """Return the description of three links in space, with as many modes in each plane."""
    given = inputs('gr_inertia')['arm']
    return beam_arm_urdf(
        given['lengths'], given['masses'], given['rigidity'], modes, modes, twists=given['twists']
    )


@lru_cache(maxsize=None)
def arm(modes: int = 1) -> Robot:
    """Return the same as a robot."""
    return load_robot(arm_text(modes))


def random_state(
    robot: Robot, rng: np.random.Generator, amplitude: float, modal_rate: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Return q (nq,), qd and qdd (nv,): joints anywhere, at about 1 rad/s and 1 m/s.

    Args:
        robot: A robot whose only quaternion, if there is one, is its base's.
        rng: Random numbers.
        amplitude: Every modal coordinate, of either sign [m | rad].
        modal_rate: Scale of the modal rates.
    """
    n, m = robot.nq - robot.n_modes, robot.n_modes
    q = np.concatenate((rng.uniform(-3.0, 3.0, n), amplitude * rng.choice((-1.0, 1.0), m)))
    for start in robot.quaternion_starts:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    qd = rng.normal(size=robot.nv)
    qd[robot.n_joints:] *= modal_rate
    return q, qd, rng.normal(size=robot.nv)

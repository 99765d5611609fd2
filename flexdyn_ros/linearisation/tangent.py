# SPDX-License-Identifier: Apache-2.0
"""
Derivatives along the velocity coordinates, which are body-wise for quaternions.

Velocities v and w are left-invariant fields with a bracket [w, v]. For rotations it is w x v, for
(linear, angular) velocities of a floating joint (ww x vl - vw x wl, ww x vw). Source: Sola, Deray
and Atchuthan, A micro Lie theory for state estimation in robotics, 2018, appendix D.
"""

from __future__ import annotations

from flexdyn_ros.model.configuration import ConfigurationSpace
from flexdyn_ros.model.records.base import cross_matrices
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np


def tangent_rate(robot: Robot, rate: np.ndarray) -> np.ndarray:
    """Return the matrix (nv, nv) that takes a displacement w to the bracket [w, rate]."""
    matrix = np.zeros((robot.nv, robot.nv))
    space = ConfigurationSpace(robot)
    for _, start in space.quaternions:
        angular = slice(start, start + 3)
        matrix[angular, angular] = -cross_matrices(rate[angular])
    for _, start in space.floating:
        linear, angular = slice(start, start + 3), slice(start + 3, start + 6)
        matrix[linear, linear] = -cross_matrices(rate[angular])
        matrix[linear, angular] = -cross_matrices(rate[linear])
    return matrix


def twist_derivative(dyn: Dynamics, q: np.ndarray, v: np.ndarray, frame: str) -> np.ndarray:
    """
    Return d (J(q) v) / dq of a frame's Jacobian at constant v, (6, nv), exactly.

    Let H(v; w) be the derivative of J v along w. `jacobian_rate_qd` is H(v; v), so that H(v; w) +
    H(w; v) = (H(v + w; v + w) - H(v - w; v - w)) / 2. The difference H(v; w) - H(w; v) is J [w,
    v]. The angular rows have ow x ov besides, o = J w or J v, as second derivatives of a rotation
    are symmetric.

    Args:
        dyn: The dynamics.
        q: Configuration, (nq,).
        v: The constant, (nv,).
        frame: Name of the frame.
    """
    jacobian = dyn.jacobian(q, frame)
    both = 2.0 * rate_derivative(dyn, q, v, frame)
    difference = jacobian @ tangent_rate(dyn.robot, v)
    difference[3:] -= cross_matrices(jacobian[3:] @ v) @ jacobian[3:]
    return np.asarray(0.25 * both + 0.5 * difference)


def rate_derivative(dyn: Dynamics, q: np.ndarray, v: np.ndarray, frame: str) -> np.ndarray:
    """Return d (dJ/dt v) / dv of a frame, (6, nv): dJ/dt v is quadratic in v."""
    return np.stack([
        0.5 * (dyn.jacobian_rate_qd(q, v + unit, frame)
               - dyn.jacobian_rate_qd(q, v - unit, frame))
        for unit in np.eye(dyn.robot.nv)], axis=1)

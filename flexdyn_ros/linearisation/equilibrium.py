# SPDX-License-Identifier: Apache-2.0
"""
Static equilibrium under gravity, payloads and wrenches, its joints held, and its stiffness.

The stiffness K is the derivative of the forces that hold the arm at rest, d tau / dq. It sums what
modes and springs, gravity and wrenches contribute, geometric stiffening included. Small
vibrations obey M x'' + D x' + K x = 0 (Meirovitch, Methods of Analytical Dynamics, 1970, section
5.7).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

from flexdyn_ros.arguments import real_vector
from flexdyn_ros.checked_arguments import Wrenches
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.modal.matrices import symmetric_part
from flexdyn_ros.quasi_static.dynamics import QuasiStatic
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
from numpy.typing import ArrayLike

# Of the largest square of a frequency that single coordinates would have: rounding.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Equilibrium:
    """
    A robot at rest with its joints held.

    Attributes:
        dyn: The dynamics that it is of; without gravity where a free base falls.
        q: Configuration, (nq,).
        tau: Torques that hold the joints, and modal forces, (nv,) [N m | N].
        stiffness: d tau / dq, symmetric part, (nv, nv).
    """

    dyn: Dynamics
    q: np.ndarray
    tau: np.ndarray
    stiffness: np.ndarray


def static_equilibrium(
    dyn: Dynamics, q: ArrayLike, wrenches: Wrenches = None, deflected: bool = True
) -> Equilibrium:
    """
    Return the static equilibrium at joint positions.

    A robot on a free base falls freely: gravity leaves no trace in its modes.

    Args:
        dyn: Dynamics of the robot, with its payloads and gravity.
        q: Configuration, (nq,); its modal part is not read where the arm is deflected.
        wrenches: Frame name to six numbers, see `Dynamics`.
        deflected: Whether modes are at equilibrium; otherwise they are held as in q.

    Raises:
        ArgumentError: q has the wrong shape, or wrenches act on a free base.
        DeflectionNotFound: No deflection carries the load, as beyond buckling.
        FlexdynError: A mode has no stiffness.
        NotYetSupported: The robot has loops.
    """
    robot = dyn.robot
    at = np.array(real_vector('q', q, robot.nq))
    if robot.base_motion == 'free':
        if wrenches:
            raise ArgumentError('wrenches', 'accelerate a free base, which has no equilibrium')
        dyn = copy(dyn)
        dyn.set_gravity((0.0, 0.0, 0.0))
    rest, first = np.zeros(robot.nv), robot.nq - robot.n_modes
    static = QuasiStatic(dyn)
    if deflected and robot.n_modes:
        joints = np.zeros(robot.n_joints)
        at[first:] = static.inverse_dynamics(at[:first], joints, joints, wrenches)[1]
    stiffness = symmetric_part(dyn.inverse_dynamics_derivatives(at, rest, rest, wrenches)[0])
    inertia = np.diag(dyn.mass_matrix(at))
    inertia = np.maximum(inertia, 1e-12 * inertia.max(initial=1e-300))
    squares = np.abs(stiffness) / np.sqrt(np.outer(inertia, inertia))
    stiffness[squares < ROUNDING * squares.max(initial=0.0)] = 0.0
    return Equilibrium(
        dyn, at, dyn.inverse_dynamics(at, rest, rest, wrenches), stiffness)


def displacement(found: Equilibrium, frame: str) -> np.ndarray:
    """Return how far the deflection moves a frame, in root axes, (3,) [m]."""
    robot, unbent = found.dyn.robot, found.q.copy()
    unbent[robot.nq - robot.n_modes:] = 0.0
    return np.asarray(found.dyn.frame_pose(found.q, frame)[:3, 3]
                      - found.dyn.frame_pose(unbent, frame)[:3, 3])

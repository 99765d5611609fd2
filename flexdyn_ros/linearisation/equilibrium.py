# SPDX-License-Identifier: Apache-2.0
"""
Static equilibrium under gravity, payloads and wrenches, its joints held, and its stiffness.

The stiffness K is the derivative of the forces that hold the arm at rest, d tau / dq. It sums the
parts of modes and springs, gravity and wrenches, geometric stiffening included. Small
vibrations obey M x'' + D x' + K x = 0 (Meirovitch, Methods of Analytical Dynamics, 1970, section
5.7).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

from flexdyn_ros.arguments import real_vector
from flexdyn_ros.checked_arguments import Wrenches
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.configuration import ConfigurationSpace
from flexdyn_ros.model.modal.matrices import symmetric_part
from flexdyn_ros.quasi_static.dynamics import QuasiStatic
from flexdyn_ros.quasi_static.static_deflection import (
    DeflectionNotFound,
    MAX_ITERATIONS,
    SMALLEST_DEFLECTION,
)
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation.frequencies import stiffness_matrix
from flexdyn_ros.simulation.vibrations import allowed_motions, driven_coordinates
import numpy as np
from numpy.typing import ArrayLike

# Of the largest square of a frequency that single coordinates would have: rounding.
ROUNDING = 1e-13
# Of the smallest deflection: closed configurations are found to about this.
ROUNDING_OF_LOOPS = 1e-3


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
    """
    robot = dyn.robot
    if robot.base_motion == 'free':
        if wrenches:
            raise ArgumentError(
                'wrenches', 'accelerate a free base, which has no equilibrium. Leave them out')
        dyn = _weightless(dyn)
    if deflected:
        at = static_configuration(dyn, q, wrenches)
    else:
        at = dyn.project(real_vector('q', q, robot.nq), np.zeros(robot.nv))[0]
    return Equilibrium(dyn, at, *_stiffness(dyn, at, wrenches))


def static_configuration(
    dyn: Dynamics, q: ArrayLike, wrenches: Wrenches = None
) -> np.ndarray:
    """
    Return the configuration at static equilibrium, (nq,).

    With loops the actuated joints are held where the nearest closed configuration has them. A step
    of the chord iteration is along the motions N that loops and held joints leave, by the elastic
    stiffness. The configuration is closed again after each step.

    Args:
        dyn: Dynamics of the robot, with its payloads and gravity.
        q: Configuration, (nq,); its modal part is read with loops alone, where it is the start.
        wrenches: Frame name to six numbers, see `Dynamics`.

    Raises:
        ArgumentError: q has the wrong shape.
        DeflectionNotFound: No deflection carries the load, as beyond buckling.
        FlexdynError: A mode has no stiffness.
    """
    robot = dyn.robot
    at = np.array(real_vector('q', q, robot.nq))
    if robot.base_motion == 'free':
        dyn = _weightless(dyn)
    if robot.loops:
        return _closed_configuration(dyn, at, wrenches)
    if robot.n_modes:
        first, joints = robot.nq - robot.n_modes, np.zeros(robot.n_joints)
        at[first:] = QuasiStatic(dyn).inverse_dynamics(at[:first], joints, joints, wrenches)[1]
    return at


def _closed_configuration(dyn: Dynamics, q: np.ndarray, wrenches: Wrenches) -> np.ndarray:
    rest, space = np.zeros(dyn.robot.nv), ConfigurationSpace(dyn.robot)
    size, q = np.inf, dyn.project(q, rest)[0]
    for _ in range(MAX_ITERATIONS):
        motions = allowed_motions(dyn, q)[1]
        assert motions is not None
        force = dyn.gravity_vector(q) + dyn.elastic_vector(q, rest)
        if wrenches:
            force = force + dyn.external_force_vector(q, wrenches)
        try:
            step = motions @ np.linalg.solve(
                motions.T @ stiffness_matrix(dyn, q) @ motions, motions.T @ force)
        except np.linalg.LinAlgError:
            break
        size = float(np.abs(step).max(initial=0.0))
        if size < SMALLEST_DEFLECTION * ROUNDING_OF_LOOPS:
            return q
        q = dyn.project(space.moved(q, -step), rest, hold=driven_coordinates(dyn.robot))[0]
    raise DeflectionNotFound(size)


def _stiffness(
    dyn: Dynamics, q: np.ndarray, wrenches: Wrenches
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the torques that hold a configuration, (nv,), and its stiffness, (nv, nv).

    With loops and the free motions F, orthonormal, the stiffness is
    -F (F^T M F) (F^T d qdd / dq F) F^T. It contains the forces of the loops, whose directions
    turn.
    """
    rest, mass = np.zeros(dyn.robot.nv), dyn.mass_matrix(q)
    tau = dyn.inverse_dynamics(q, rest, rest, wrenches)
    if dyn.robot.loops:
        free = allowed_motions(dyn, q)[2]
        assert free is not None
        by_q = dyn.forward_dynamics_derivatives(q, rest, tau, wrenches)[0]
        stiffness = -free @ (free.T @ mass @ free) @ (free.T @ by_q @ free) @ free.T
        return tau, symmetric_part(stiffness)
    stiffness = symmetric_part(dyn.inverse_dynamics_derivatives(q, rest, rest, wrenches)[0])
    inertia = np.diag(mass)
    inertia = np.maximum(inertia, 1e-12 * inertia.max(initial=1e-300))
    squares = np.abs(stiffness) / np.sqrt(np.outer(inertia, inertia))
    stiffness[squares < ROUNDING * squares.max(initial=0.0)] = 0.0
    return tau, stiffness


def _weightless(dyn: Dynamics) -> Dynamics:
    dyn = copy(dyn)
    dyn.set_gravity((0.0, 0.0, 0.0))
    return dyn


def displacement(found: Equilibrium, frame: str) -> np.ndarray:
    """Return the displacement of a frame by the deflection, in root axes, (3,) [m]."""
    robot, unbent = found.dyn.robot, found.q.copy()
    unbent[robot.nq - robot.n_modes:] = 0.0
    return np.asarray(found.dyn.frame_pose(found.q, frame)[:3, 3]
                      - found.dyn.frame_pose(unbent, frame)[:3, 3])

# SPDX-License-Identifier: Apache-2.0
"""
Torques that keep the tip of a flexible arm on a path, and leave it at rest.

The outputs follow the path while the unforced coordinates (modes, passive joints) obey their
equations without forces. These have unstable parts, so that the bounded solution begins before the
path does (D. Chen and B. Paden, Stable inversion of nonlinear non-minimum phase systems, 1996; S.
Devasia, D. Chen and B. Paden, Nonlinear inversion-based output tracking, 1996). It is the solution
of a boundary value problem over the whole motion. There is at the start no stable part, at the end
no unstable part (R. Seifried, Dynamics of Underactuated Multibody Systems, 2014, section 3.5).

Splines of the joints and modes meet both at collocation points, and Newton's method finds their
coefficients, from the configurations at rest along the path. Elastic joints are locked meanwhile;
their deflections follow from the motion of the links.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from flexdyn_ros.arguments import limited_number
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.robot_dynamics import Dynamics, require_dynamics
from flexdyn_ros.tip_tracking.boundary_value_problem import BoundaryValueProblem, TipTrajectory
from flexdyn_ros.tip_tracking.tip_path import TipPath


def stable_inversion(
    dyn: Dynamics, path: TipPath, dt: float = 1e-3, tolerance: float = 1e-7,
    progress: Optional[Callable[[float], None]] = None,
) -> TipTrajectory:
    """
    Return the motion and the torques for a path of the tip, by stable inversion.

    A path needs derivatives up to 2 continuous, with elastic joints up to 3, and up to 4 where
    these have no damping.

    Args:
        dyn: `Dynamics` of a robot without loops, quaternion joints or moving base.
        path: The path. Its outputs are as many as driven joints.
        dt: Distance of the samples returned [s].
        tolerance: Of the unforced forces between samples, of the largest elastic force.
        progress: Receives the fraction done, after each step. Its exceptions end this.

    Raises:
        ArgumentError: The robot or the path is not supported, naming the reason.
        NotInvertible: The decoupling matrix is singular, or an excited zero lies within 1 % of
            the imaginary axis, naming the time.
        NotReached: The path leaves the workspace.
        InversionFailed: The iteration does not converge.
    """
    require_dynamics(dyn)
    if not isinstance(path, TipPath):
        raise ArgumentError('path', f'is of type {type(path).__name__}, expected a TipPath')
    _require_supported(dyn.robot, path)
    limited_number('tolerance', tolerance)
    if limited_number('dt', dt) > path.duration:
        raise ArgumentError('dt', f'is {dt} s, expected a positive number up to the duration')
    problem = BoundaryValueProblem(dyn, path, progress or (lambda fraction: None))
    return problem.solve(dt, tolerance)


def _require_supported(robot: Any, path: TipPath) -> None:
    """Raise an ArgumentError for robots and paths that inversion does not take."""
    if robot.loops:
        raise ArgumentError('dyn', 'has loops, expected a robot without')
    if robot.nq != robot.nv or robot.base_motion != 'fixed':
        raise ArgumentError(
            'dyn', 'has a moving base or a quaternion joint, expected a fixed base '
            'and joints with angles')
    driven = len(robot.actuated_coordinates)
    if len(path.outputs) != driven:
        raise ArgumentError(
            'path', f'has {len(path.outputs)} outputs {path.outputs}, expected {driven}, one a '
            'driven joint. Leave out components that the arm cannot move, and name a joint for '
            'each redundant one')
    if path.start.shape != (robot.nq,):
        raise ArgumentError('path', f'starts at {path.start.shape} numbers, expected {robot.nq}')

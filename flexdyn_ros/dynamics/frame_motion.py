# SPDX-License-Identifier: Apache-2.0
"""The motion of frames in root axes, as loops need it; formulations may differ in finding it."""

from __future__ import annotations

from typing import Callable
from typing import NamedTuple
from typing import Optional

from flexdyn_ros.dynamics.jacobian import body_twists
from flexdyn_ros.dynamics.jacobian import jacobian
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.newton_euler import propagate
from flexdyn_ros.dynamics.placement import placements
from flexdyn_ros.dynamics.placement import poses
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import multiply
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO


class FrameMotion(NamedTuple):
    """
    A frame's pose, velocity and acceleration for qdd = 0, all in root axes.

    Attributes:
        rotation: Its axes.
        position: Its origin [m].
        velocity: Of its origin [m/s].
        spin: Angular velocity [rad/s].
        acceleration: Of its origin [m/s^2].
        spin_rate: Angular acceleration [rad/s^2].
    """

    rotation: Matrix
    position: Vector
    velocity: Vector = ZERO
    spin: Vector = ZERO
    acceleration: Vector = ZERO
    spin_rate: Vector = ZERO


# Jacobian columns (linear, angular) of a frame in root axes, of each coordinate.
FrameColumns = Callable[[Multibody, list, str], list[tuple[Vector, Vector]]]
# A function from a frame's name to its motion at q, with velocities where qd is given.
FrameMotions = Callable[[Multibody, list, Optional[list]], Callable[[str], FrameMotion]]


def recursive_columns(tree: Multibody, q: list, name: str) -> list[tuple[Vector, Vector]]:
    """Return the Jacobian columns of a frame."""
    rows = jacobian(tree, q, tree.frames[name])
    return [((a, b, c), (d, e, f)) for a, b, c, d, e, f in zip(*rows)]


def recursive_motions(
    tree: Multibody, q: list, qd: Optional[list] = None
) -> Callable[[str], FrameMotion]:
    """Return the motion of frames by their names, carried outward from body to body."""
    places = placements(tree, q)
    found = poses(places)
    twists = motions = None
    if qd is not None:
        twists = body_twists(tree, places, qd)
        motions = propagate(tree, places, qd, [0.0] * tree.nv, ZERO)

    def motion(name: str) -> FrameMotion:
        frame = tree.frames[name]
        rotation, position = found[frame.body]
        axes = multiply(rotation, frame.rotation)
        origin = add(position, apply(rotation, frame.position))
        if twists is None or motions is None:
            return FrameMotion(axes, origin)
        linear, angular = twists[frame.body]
        body = motions[frame.body]
        return FrameMotion(
            axes,
            origin,
            apply(rotation, add(linear, cross(angular, frame.position))),
            apply(rotation, angular),
            apply(rotation, add(body.acceleration, apply(body.matrix, frame.position))),
            apply(rotation, body.spin_rate),
        )

    return motion


class FrameKinematics(NamedTuple):
    """
    How the motion of frames is found, by one formulation or another.

    Attributes:
        columns: Jacobian columns of a frame.
        motions: Poses, velocities and accelerations of frames.
    """

    columns: FrameColumns
    motions: FrameMotions


RECURSIVE = FrameKinematics(recursive_columns, recursive_motions)

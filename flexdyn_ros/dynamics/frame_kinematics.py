# SPDX-License-Identifier: Apache-2.0
"""Motion of bodies and frames: twists, poses, Jacobians and their rates, accelerations."""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional

from flexdyn_ros.dynamics.joints import axis_rates, combine_columns
from flexdyn_ros.dynamics.multibody import Frame, Multibody
from flexdyn_ros.dynamics.newton_euler import propagate
from flexdyn_ros.dynamics.placement import carry_twist, Placement, placements, poses, Twist
from flexdyn_ros.dynamics.reduced_forms import expanded
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    apply,
    cross,
    Matrix,
    multiply,
    scale,
    subtract,
    Vector,
    ZERO,
)


def body_twists(tree: Multibody, places: list[Placement], qd: list) -> list[Twist]:
    """Return the twist of each body's frame, in its own axes."""
    twists: list[Twist] = [(ZERO, ZERO)]
    for place in places[1:]:
        parent = tree.bodies[place.body.parent]
        linear, angular = carry_twist(
            place, twists[place.body.parent], parent.mode_rates(qd)
        )
        velocity, omega = combine_columns(place.columns, axis_rates(place.body.joint, qd))
        twists.append((
            linear if velocity is None else add(linear, velocity),
            angular if omega is None else add(angular, omega),
        ))
    return twists


@expanded(1, 1)
def jacobian(tree: Multibody, q: list, frame: Frame) -> list[list[Scalar]]:
    """Return the (6, nv) Jacobian of a frame's origin, linear rows first, in root axes."""
    places = placements(tree, q)
    path = _path(places, frame.body)
    sheared = any(places[index].node and places[index].node.node.linear for index in path)
    columns = (_unit_twists if sheared else _root_columns)(tree, places, path, frame)
    rows: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6)]
    for index, (linear, angular) in columns.items():
        for row, value in enumerate((*linear, *angular)):
            rows[row][index] = value
    return rows


def _root_columns(
    tree: Multibody, places: list[Placement], path: list[int], frame: Frame
) -> dict[int, Twist]:
    """Return the columns from the places of axes and nodes in the root frame."""
    found = poses(places)
    rotation, origin = found[frame.body]
    tip = add(origin, apply(rotation, frame.position))
    columns: dict[int, Twist] = {}
    for index in path:
        place, (rotation, origin) = places[index], found[index]
        if place.node is not None:
            parent = tree.bodies[place.body.parent]
            base, corner = found[place.body.parent]
            arm = subtract(tip, add(corner, apply(base, place.node.position)))
            for k, (linear, angular) in enumerate(zip(place.node.translation, place.node.angular)):
                omega = apply(base, angular)
                column = (add(apply(base, linear), cross(omega, arm)), omega)
                _add_column(columns, parent.velocity_modes + k, column)
        arm = subtract(tip, origin)
        for axis, (linear, angular) in zip(place.body.joint.terms, place.columns):
            omega = ZERO if angular is None else apply(rotation, angular)
            velocity = ZERO if linear is None else apply(rotation, linear)
            column = (velocity if angular is None else add(velocity, cross(omega, arm)), omega)
            for term in axis:
                driven = (scale(term.multiplier, part) for part in column)
                _add_column(columns, term.velocity_index, tuple(driven))
    return columns


def _unit_twists(
    tree: Multibody, places: list[Placement], path: list[int], frame: Frame
) -> dict[int, Twist]:
    """Return the twists of unit rates, carried outward: King's E makes them no rotations."""
    rotation, _ = poses(places)[frame.body]
    columns = {}
    for index in range(tree.nv):
        unit = [1.0 if k == index else 0.0 for k in range(tree.nv)]
        linear, angular = body_twists(tree, places, unit)[frame.body]
        linear = add(linear, cross(angular, frame.position))
        columns[index] = (apply(rotation, linear), apply(rotation, angular))
    return columns


def _path(places: list[Placement], index: int) -> list[int]:
    """Return the bodies from the root's first child to body `index`."""
    path = []
    while places[index].body.parent >= 0:
        path.append(index)
        index = places[index].body.parent
    return path[::-1]


def _add_column(columns: dict[int, Twist], index: int, twist: Twist) -> None:
    linear, angular = columns.get(index, (ZERO, ZERO))
    columns[index] = (add(linear, twist[0]), add(angular, twist[1]))


class FrameMotion(NamedTuple):
    """
    A frame's pose, velocity and acceleration for qdd = 0, all in root axes.

    Attributes:
        rotation: Its axes.
        position: Its origin [m].
        velocity: Of its origin [m/s].
        angular_velocity: Angular velocity [rad/s].
        acceleration: Of its origin [m/s^2].
        angular_acceleration: Angular acceleration [rad/s^2].
    """

    rotation: Matrix
    position: Vector
    velocity: Vector = ZERO
    angular_velocity: Vector = ZERO
    acceleration: Vector = ZERO
    angular_acceleration: Vector = ZERO


# A function from a frame's name to its motion at q, with velocities where qd is given.
FrameMotions = Callable[[Multibody, list, Optional[list]], Callable[[str], FrameMotion]]


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
            apply(rotation, body.angular_acceleration),
        )

    return motion


class FrameKinematics(NamedTuple):
    """
    The motion of frames, by one formulation or another.

    Attributes:
        motions: Poses, velocities and accelerations of frames.
        jacobian: Jacobian of a frame, (6, nv).
    """

    motions: FrameMotions
    jacobian: Callable[[Multibody, list, Frame], list[list[Scalar]]]


RECURSIVE = FrameKinematics(recursive_motions, jacobian)


@expanded(1)
def frame_pose(
    tree: Multibody, q: list, frame: str, motions: FrameMotions
) -> tuple[Matrix, Vector]:
    """Return rotation and origin of a frame in the root frame."""
    motion = motions(tree, q, None)(frame)
    return motion.rotation, motion.position


@expanded(2)
def jacobian_rate_times_velocity(
    tree: Multibody, q: list, qd: list, frame: str, motions: FrameMotions
) -> list[Scalar]:
    """Return dJ/dt qd of a frame's origin, (6,): its acceleration for qdd = 0, in root axes."""
    motion = motions(tree, q, qd)(frame)
    return [*motion.acceleration, *motion.angular_acceleration]

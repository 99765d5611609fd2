# SPDX-License-Identifier: Apache-2.0
"""
Closed chains: the motion of frame1 of each loop against frame2, in the axes of frame2.

The relative motion has six directions, rx ry rz tx ty tz: angular velocity, then the velocity of
frame1's origin relative to frame2. Its rows of the constraint Jacobian A and the acceleration
gamma of velocities alone give A qdd + gamma, which a loop keeps at zero (the operational
form of van der Merwe, Multi-body dynamics of robotic structures, 1995, eqs. 5.15 and 5.22, with
the bias acceleration taken from the forward recursion).

A single constrained rotation cannot be held by its angular velocity alone, which is no derivative
of a place. It stands for the constraint of a constant-velocity joint: with x1 and x2 the axis in
both frames, (x1 + x2) . (w1 - w2) = 0, so that the rotation vector from frame2 to frame1 has no
component on it. At equal axes this is the angular velocity about the axis.
"""

from __future__ import annotations

from typing import Callable

from flexdyn_ros.dynamics.frame_kinematics import FrameKinematics, FrameMotion, RECURSIVE
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    apply_transposed,
    cross,
    dot,
    multiply,
    scale,
    subtract,
    transpose,
    Vector,
)
from flexdyn_ros.model.records.robot import Loop

ALL_DIRECTIONS = tuple(range(6))


def loop_poses(
    tree: Multibody, q: list, kinematics: FrameKinematics = RECURSIVE
) -> list[list[Scalar]]:
    """Return for each loop the pose of frame1 in frame2: nine entries by rows, then place [m]."""
    found = []
    for first, second in _frames(tree, kinematics.motions(tree, q, None)):
        rotation = multiply(transpose(second.rotation), first.rotation)
        arm = subtract(first.position, second.position)
        place = apply_transposed(second.rotation, arm)
        found.append([*rotation[0], *rotation[1], *rotation[2], *place])
    return found


def loop_jacobian(
    tree: Multibody, q: list, kinematics: FrameKinematics = RECURSIVE
) -> list[list[Scalar]]:
    """Return A, (n_constraints, nv): the relative velocity for unit rates."""
    return _jacobian(tree, q, [loop.directions for loop in tree.loops], kinematics)


def loop_free_jacobian(
    tree: Multibody, q: list, kinematics: FrameKinematics = RECURSIVE
) -> list[list[Scalar]]:
    """Return the rows of the directions that the loops leave free."""
    free = [
        tuple(k for k in ALL_DIRECTIONS if k not in loop.directions) for loop in tree.loops
    ]
    return _jacobian(tree, q, free, kinematics)


def _jacobian(
    tree: Multibody,
    q: list,
    directions: list[tuple[int, ...]],
    kinematics: FrameKinematics,
) -> list[list[Scalar]]:
    found: list[list[Scalar]] = []
    frames = _frames(tree, kinematics.motions(tree, q, None))
    for loop, (first, second), wanted in zip(tree.loops, frames, directions):
        arm = subtract(first.position, second.position)
        columns = []
        jacobians = (
            kinematics.jacobian(tree, q, tree.frames[name]) for name in (loop.frame1, loop.frame2)
        )
        for a, b in zip(*(zip(*rows) for rows in jacobians)):
            (linear, angular), (base, base_omega) = (a[:3], a[3:]), (b[:3], b[3:])
            omega = subtract(angular, base_omega)
            velocity = subtract(subtract(linear, base), cross(base_omega, arm))
            columns.append(_components(loop, first, second, omega, velocity, wanted))
        found += [[column[k] for column in columns] for k in range(len(wanted))]
    return found


def _components(
    loop: Loop,
    first: FrameMotion,
    second: FrameMotion,
    omega: Vector,
    linear: Vector,
    wanted: tuple[int, ...],
) -> list[Scalar]:
    """Return the wanted directions of a relative velocity that is given in root axes."""
    single = _single_rotation(loop)
    seen = [x for v in (omega, linear) for x in apply_transposed(second.rotation, v)]
    return [
        _bisector_rate(first, second, k, omega) if k == single else seen[k] for k in wanted
    ]


def _bisector_rate(first: FrameMotion, second: FrameMotion, k: int, omega: Vector) -> Scalar:
    """Return (x1 + x2) . omega / (1 + x1 . x2) for axis k of both frames."""
    one, other = _axis(first, k), _axis(second, k)
    return dot(add(one, other), omega) / (1.0 + dot(one, other))


def loop_bias(
    tree: Multibody, q: list, qd: list, kinematics: FrameKinematics = RECURSIVE
) -> list[Scalar]:
    """Return gamma, (n_constraints,): the relative acceleration for qdd = 0."""
    found: list[Scalar] = []
    frames = _frames(tree, kinematics.motions(tree, q, qd))
    for loop, (first, second) in zip(tree.loops, frames):
        arm = subtract(first.position, second.position)
        speed = subtract(first.velocity, second.velocity)
        omega = subtract(first.angular_velocity, second.angular_velocity)
        # d^2/dt^2 of R^T arm and d/dt of R^T omega, R the rotation of frame2.
        linear = subtract(first.acceleration, second.acceleration)
        linear = subtract(linear, cross(second.angular_acceleration, arm))
        linear = subtract(linear, scale(2.0, cross(second.angular_velocity, speed)))
        linear = add(linear, cross(second.angular_velocity, cross(second.angular_velocity, arm)))
        alpha = subtract(first.angular_acceleration, second.angular_acceleration)
        turning = subtract(alpha, cross(second.angular_velocity, omega))
        seen = [x for v in (turning, linear) for x in apply_transposed(second.rotation, v)]
        single = _single_rotation(loop)
        found += [
            _bisector_bias(first, second, k, omega, alpha) if k == single else seen[k]
            for k in loop.directions
        ]
    return found


def _bisector_bias(
    first: FrameMotion, second: FrameMotion, k: int, omega: Vector, alpha: Vector
) -> Scalar:
    """Return d/dt of (x1 + x2) . omega / (1 + x1 . x2), omega changing by alpha."""
    one, other = _axis(first, k), _axis(second, k)
    one_rate = cross(first.angular_velocity, one)
    other_rate = cross(second.angular_velocity, other)
    size = 1.0 + dot(one, other)
    size_rate = dot(one_rate, other) + dot(one, other_rate)
    both = add(one, other)
    rate = dot(both, alpha) + dot(add(one_rate, other_rate), omega)
    return (rate - dot(both, omega) * size_rate / size) / size


def _single_rotation(loop: Loop) -> int:
    """Return the one constrained rotation, or -1 where there are none or several."""
    rotations = [k for k in loop.directions if k < 3]
    return rotations[0] if len(rotations) == 1 else -1


def _axis(motion: FrameMotion, k: int) -> Vector:
    x, y, z = motion.rotation
    return (x[k], y[k], z[k])


def _frames(
    tree: Multibody, motion: Callable[[str], FrameMotion]
) -> list[tuple[FrameMotion, FrameMotion]]:
    """Return both frames of each loop with their motion."""
    return [(motion(loop.frame1), motion(loop.frame2)) for loop in tree.loops]

# SPDX-License-Identifier: Apache-2.0
"""
Joint kinematics: the pose of a body against its joint frame and its motion columns.

A column is the pair (linear, angular) of the relative velocity for a unit joint velocity, in
the body's own axes at its origin; None stands for a part that is always zero.
"""

from typing import Optional

from flexdyn_ros.dynamics.joint_motion import JointMotion
from flexdyn_ros.dynamics.multi_axis import multi_axis_motion
from flexdyn_ros.dynamics.multi_axis import multi_axis_product
from flexdyn_ros.dynamics.rotation import about_axis
from flexdyn_ros.dynamics.rotation import by_quaternion
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import apply_transposed
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import IDENTITY
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import Vector

Column = tuple[Optional[Vector], Optional[Vector]]


def joint_pose(
    joint: JointMotion, q: list, extra: Optional[Scalar] = None
) -> tuple[Optional[Matrix], Optional[Vector]]:
    """
    Return rotation and translation of the body in the joint frame; None for none.

    Args:
        joint: The joint.
        q: Configuration, (nq,).
        extra: Angle to add to a revolute joint's [rad].
    """
    if joint.type == 'fixed':
        return None, None
    if joint.type == 'revolute':
        angle = _position(joint, q)
        return about_axis(joint.axis, angle if extra is None else angle + extra), None
    if joint.type == 'prismatic':
        return None, scale(_position(joint, q), joint.axis)
    start = joint.position_start
    if joint.type == 'planar':
        first, second = joint.plane
        shift = add(scale(q[start], first), scale(q[start + 1], second))
        return about_axis(joint.axis, q[start + 2]), shift
    return by_quaternion(*q[start + 3 : start + 7]), tuple(q[start : start + 3])


def joint_motion(
    joint: JointMotion, q: list, extra: Optional[Scalar] = None
) -> tuple[Optional[Matrix], Optional[Vector], tuple[Column, ...]]:
    """Return what `joint_pose` returns, and the joint's motion columns."""
    if joint.type == 'multi_axis':
        return multi_axis_motion(joint, q)
    rotation, translation = joint_pose(joint, q, extra)
    return rotation, translation, joint_columns(joint, rotation)


def joint_columns(joint: JointMotion, rotation: Optional[Matrix]) -> tuple[Column, ...]:
    """Return the motion columns of a joint whose pose has this rotation."""
    if joint.type == 'fixed':
        return ()
    if joint.type == 'revolute':
        return ((None, joint.axis),)
    if joint.type == 'prismatic':
        return ((joint.axis, None),)
    if joint.type == 'planar':
        first, second = joint.plane
        return (
            (apply_transposed(rotation, first), None),
            (apply_transposed(rotation, second), None),
            (None, joint.axis),
        )
    return (*((axis, None) for axis in IDENTITY), *((None, axis) for axis in IDENTITY))


def axis_rates(joint: JointMotion, rates: list) -> list[Scalar]:
    """Return the velocity (or acceleration) of each joint axis from a vector (nv,)."""
    return [_sum(term.multiplier * rates[term.velocity_index] for term in axis)
            for axis in joint.terms]


def velocity_product(
    joint: JointMotion, columns: tuple[Column, ...], rates: list, slide: Optional[Vector],
    spin: Optional[Vector],
) -> Column:
    """
    Return the acceleration that a joint's own velocity adds in body axes; None for none.

    A floating joint has spin x slide, since its linear velocity is given in axes that turn with
    the body; a multi-axis joint has more.

    Args:
        joint: The joint.
        columns: Its motion columns.
        rates: Velocity of each of its axes.
        slide: Its linear velocity, the columns combined; None for none.
        spin: Its angular velocity.
    """
    if joint.type == 'floating':
        return cross(spin, slide), None
    if joint.type == 'multi_axis':
        return multi_axis_product(joint, columns, rates, slide, spin)
    return None, None


def combine_columns(columns: tuple[Column, ...], rates: list) -> Column:
    """Return the relative velocity of a body for given axis rates."""
    slide = spin = None
    for (linear, angular), rate in zip(columns, rates):
        if linear is not None:
            part = scale(rate, linear)
            slide = part if slide is None else add(slide, part)
        if angular is not None:
            part = scale(rate, angular)
            spin = part if spin is None else add(spin, part)
    return slide, spin


def frame_axis(joint: JointMotion) -> Optional[int]:
    """Return the number of the frame axis that a joint turns about, or None."""
    if joint.type not in ('revolute', 'planar'):
        return None
    large = [k for k, x in enumerate(joint.axis) if abs(x) == 1.0]
    return large[0] if large else None


def column_power(column: Column, wrench: tuple[Vector, Vector]) -> Scalar:
    """Return the power of a wrench (force, moment) on a unit velocity along a column."""
    linear, angular = column
    if linear is None:
        return dot(angular, wrench[1])
    if angular is None:
        return dot(linear, wrench[0])
    return dot(linear, wrench[0]) + dot(angular, wrench[1])


def _position(joint: JointMotion, q: list) -> Scalar:
    moved = _sum(term.multiplier * q[term.position_index] for term in joint.terms[0])
    return moved + joint.offset if joint.offset else moved


def _sum(values) -> Scalar:
    total = None
    for value in values:
        total = value if total is None else total + value
    return total

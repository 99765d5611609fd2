# SPDX-License-Identifier: Apache-2.0
"""
Joint kinematics: driving coordinates, the pose of a body in its joint frame, motion columns.

A column is the pair (linear, angular) of the relative velocity for a unit joint velocity, in the
body's own axes at its origin. None stands for a part that is always zero.

A multi-axis joint has axes without links between them: turns, slides and screws in any direction
and place. Each is as the motion before it has left it. The child's frame is a product of their
exponentials (Brockett, Robotic manipulators and the product of exponentials formula, 1984). With
turns about the child's x, y and z axis, and then slides along them, this is the gimbal of van der
Merwe (Multi-body dynamics of robotic structures, Rand Afrikaans University, 1995, section 2.6.2).
His rotations map the other way: R = Rx Ry Rz, position R d in the joint frame. With a quaternion R
is the quaternion's and the rates are the angular velocity in body axes. The columns, his phi
(section 2.6.4), change with the joint's own motion, which the corrected bias acceleration
contains. Forces are phi^T f; the wrenches psi that they stand for differ from phi in direction
where axes are oblique (eqs. 2.11 to 2.16). A screw joint is one with a single axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Optional, Sequence

from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    about_axis,
    add,
    apply,
    apply_transposed,
    by_quaternion,
    cross,
    dot,
    IDENTITY,
    Matrix,
    multiply,
    scale,
    subtract,
    Vector,
    ZERO,
)
from flexdyn_ros.model.records.joint import MotionAxis


@dataclass(frozen=True)
class AxisTerm:
    """A joint axis moves by multiplier * coordinate, at these places in q and in qd."""

    position_index: int
    velocity_index: int
    multiplier: float = 1.0


@dataclass(frozen=True)
class JointMotion:
    """
    Motion of a body against its joint frame.

    Attributes:
        type: revolute, prismatic, planar, floating, multi_axis or fixed.
        axis: Unit axis in the joint frame; a planar joint's normal.
        plane: In-plane axes of a planar joint, or None.
        terms: For each velocity coordinate of the joint, its drivers: one coordinate, a
            leader's (mimic) or a motor's and an elastic deflection's (elastic joint).
        position_start: Place of the first coordinate in q, for joints of several coordinates.
        offset: Constant part of the joint position [rad | m].
        axes: Axes of a multi_axis joint, in the order of its terms.
        quaternion: Whether its rotation is a quaternion, at position_start.
    """

    type: str = 'fixed'
    axis: Vector = ZERO
    plane: Optional[tuple[Vector, Vector]] = None
    terms: tuple[tuple[AxisTerm, ...], ...] = ()
    position_start: int = 0
    offset: float = 0.0
    axes: tuple[MotionAxis, ...] = ()
    quaternion: bool = False

    @property
    def coordinates(self) -> list[int]:
        """Places in qd of the coordinates that drive its axes, axis by axis."""
        return [term.velocity_index for axis in self.terms for term in axis]


Column = tuple[Optional[Vector], Optional[Vector]]


def multi_axis_motion(
    joint: JointMotion, q: list
) -> tuple[Optional[Matrix], Optional[Vector], tuple[Column, ...]]:
    """Return rotation and translation in the joint frame, None for none, and the columns."""
    rotation: Optional[Matrix] = None
    reach: Optional[Vector] = None  # from the start of the axes met so far to the body's origin
    columns: list[Column] = []
    # From the last axis: in axes of the body, the axes after one move it back.
    first = 3 if joint.quaternion else 0
    for number in reversed(range(first, len(joint.axes))):
        axis, value = joint.axes[number], joint_position(joint, q, number)
        direction = _seen(axis.direction, rotation)
        if axis.slides:
            columns.append((direction, None))
            shift = scale(value, direction)
            reach = shift if reach is None else add(reach, shift)
            continue
        turn, aside = about_axis(axis.direction, value), None
        if any(axis.through):
            aside = _seen(axis.through, rotation)
            reach = subtract(ZERO if reach is None else reach, aside)
        columns.append(_screw_column(direction, reach, axis.pitch))
        if aside is not None:
            moved = apply_transposed(turn, axis.through)
            reach = add(reach, _seen(moved, rotation))
        if axis.pitch:
            shift = scale(axis.pitch * value, direction)
            reach = shift if reach is None else add(reach, shift)
        rotation = turn if rotation is None else multiply(turn, rotation)
    if joint.quaternion:
        start = joint.position_start
        rotation = by_quaternion(*q[start : start + 4])
        columns += [_screw_column(axis, reach, 0.0) for axis in IDENTITY[::-1]]
    shift = reach if rotation is None or reach is None else apply(rotation, reach)
    return rotation, shift, tuple(columns[::-1])


def _seen(vector: Vector, rotation: Optional[Matrix]) -> Vector:
    return vector if rotation is None else apply_transposed(rotation, vector)


def _screw_column(axis: Vector, arm: Optional[Vector], pitch: float) -> Column:
    """Return the column of a turn whose axis has the body's origin at `arm`."""
    linear = None if arm is None else cross(axis, arm)
    if pitch:
        along = scale(pitch, axis)
        linear = along if linear is None else add(linear, along)
    return linear, axis


def multi_axis_product(
    joint: JointMotion,
    columns: tuple[Column, ...],
    rates: list,
    velocity: Optional[Vector],
    omega: Optional[Vector],
) -> Column:
    """
    Return the acceleration that the joint's own velocity adds, in body axes.

    Column k turns and slides with all later axes m. Its rate is the sum of qd_m S_k x S_m, a
    product of twists. These are van der Merwe's equations 5.69 and 5.71, with the sign of
    differentiation. The term omega x velocity leads from the rate of a velocity in body axes to
    the origin's acceleration. The three columns of a quaternion keep their place in the body.
    """
    linear, angular = cross(omega or ZERO, velocity or ZERO), ZERO
    before = ZERO, ZERO
    for number, ((translation, rotation), rate) in enumerate(zip(columns, rates)):
        part = scale(rate, translation or ZERO), scale(rate, rotation or ZERO)
        if not joint.quaternion or number >= 3:
            swept = add(cross(before[1], part[0]), cross(before[0], part[1]))
            linear, angular = add(linear, swept), add(angular, cross(before[1], part[1]))
        before = add(before[0], part[0]), add(before[1], part[1])
    return linear, angular


def column_rates(
    joint: JointMotion, columns: tuple[Column, ...], rates: list
) -> list[tuple[Vector, Vector]]:
    """
    Return the rate of each motion column in body axes, by the joint's own velocity.

    See `multi_axis_product`; a planar joint slides before it turns. The columns of a floating
    joint and of a quaternion keep their place in the body.
    """
    later, found = (ZERO, ZERO), []
    for number in reversed(range(len(columns))):
        linear, angular = (part or ZERO for part in columns[number])
        found.append((
            add(cross(angular, later[0]), cross(linear, later[1])), cross(angular, later[1])
        ))
        held = joint.type == 'floating' or joint.quaternion and number < 3
        if not held:
            rate = rates[number]
            later = add(later[0], scale(rate, linear)), add(later[1], scale(rate, angular))
    return found[::-1]


def joint_motion(
    joint: JointMotion, q: list, extra: Optional[Scalar] = None
) -> tuple[Optional[Matrix], Optional[Vector], tuple[Column, ...]]:
    """
    Return rotation and translation of the body in the joint frame, None for none, and columns.

    Args:
        joint: The joint.
        q: Configuration, (nq,).
        extra: Angle to add to a revolute joint's [rad].
    """
    if joint.type == 'fixed':
        return None, None, ()
    if joint.type == 'revolute':
        angle = joint_position(joint, q)
        rotation = about_axis(joint.axis, angle if extra is None else angle + extra)
        return rotation, None, ((None, joint.axis),)
    if joint.type == 'prismatic':
        return None, scale(joint_position(joint, q), joint.axis), ((joint.axis, None),)
    if joint.type == 'multi_axis':
        return multi_axis_motion(joint, q)
    start = joint.position_start
    if joint.type == 'planar':
        first, second = joint.plane
        shift = add(scale(q[start], first), scale(q[start + 1], second))
        rotation = about_axis(joint.axis, q[start + 2])
        slides = [(apply_transposed(rotation, axis), None) for axis in joint.plane]
        return rotation, shift, (*slides, (None, joint.axis))
    columns = (*((axis, None) for axis in IDENTITY), *((None, axis) for axis in IDENTITY))
    return by_quaternion(*q[start + 3 : start + 7]), tuple(q[start : start + 3]), columns


def axis_rates(joint: JointMotion, rates: list) -> list[Scalar]:
    """Return the velocity (or acceleration) of each joint axis from a vector (nv,)."""
    return [total(term.multiplier * rates[term.velocity_index] for term in axis)
            for axis in joint.terms]


def velocity_product(
    joint: JointMotion, columns: tuple[Column, ...], rates: list, velocity: Optional[Vector],
    omega: Optional[Vector],
) -> Column:
    """
    Return the acceleration that a joint's own velocity adds in body axes; None for none.

    A floating joint has omega x velocity, since its linear velocity is given in axes that turn
    with the body; a multi-axis joint has more.

    Args:
        joint: The joint.
        columns: Its motion columns.
        rates: Velocity of each of its axes.
        velocity: Its linear velocity, the columns combined; None for none.
        omega: Its angular velocity.
    """
    if joint.type == 'floating':
        return cross(omega, velocity), None
    if joint.type == 'multi_axis':
        return multi_axis_product(joint, columns, rates, velocity, omega)
    return None, None


def combine_columns(columns: tuple[Column, ...], rates: list) -> Column:
    """Return the relative velocity of a body for given axis rates."""
    velocity = omega = None
    for (linear, angular), rate in zip(columns, rates):
        if linear is not None:
            part = scale(rate, linear)
            velocity = part if velocity is None else add(velocity, part)
        if angular is not None:
            part = scale(rate, angular)
            omega = part if omega is None else add(omega, part)
    return velocity, omega


def frame_axis(joint: JointMotion) -> Optional[int]:
    """Return the number of the frame axis that a joint turns about, or None."""
    if joint.type not in ('revolute', 'planar'):
        return None
    large = [k for k, x in enumerate(joint.axis) if abs(x) == 1.0]
    return large[0] if large else None


def project_on_axis(column: Column, wrench: Sequence[Any]) -> Scalar:
    """Return the power of a wrench (force, moment, ...) on a unit velocity along a column."""
    linear, angular = column
    if linear is None:
        return dot(angular, wrench[1])
    if angular is None:
        return dot(linear, wrench[0])
    return dot(linear, wrench[0]) + dot(angular, wrench[1])


def joint_position(joint: JointMotion, q: list, axis: int = 0) -> Scalar:
    """Return the position of an axis of a joint [rad | m]; only one axis has an offset."""
    displacement = total(term.multiplier * q[term.position_index] for term in joint.terms[axis])
    return displacement + joint.offset if joint.offset else displacement


def total(values: Iterable[Scalar]) -> Scalar:
    """Return the sum of one or more values."""
    found: Scalar = None
    for value in values:
        found = value if found is None else found + value
    return found

# SPDX-License-Identifier: Apache-2.0
"""
Joints of up to six axes without links between them.

The child frame turns about its x, y and z axis, each as the turns before it have left it, and
then slides along its own axes: R = Rx Ry Rz, position R d in the joint frame, any of the six
missing. This is the gimbal of van der Merwe (Multi-body dynamics of robotic structures, Rand
Afrikaans University, 1995, section 2.6.2), whose rotations map the other way. With a quaternion
R is the quaternion's and the rates are the angular velocity in body axes.

A column is the joint's twist for a unit rate, in body axes at the body's origin (section 2.6.4);
columns change with the joint's own motion, which the corrected bias acceleration contains.
"""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.dynamics.joint_motion import JointMotion
from flexdyn_ros.dynamics.rotation import about_axis
from flexdyn_ros.dynamics.rotation import by_quaternion
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import apply_transposed
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import IDENTITY
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import multiply
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO

Column = tuple[Optional[Vector], Optional[Vector]]


def multi_axis_motion(
    joint: JointMotion, q: list
) -> tuple[Optional[Matrix], Optional[Vector], tuple[Column, ...]]:
    """Return rotation and translation in the joint frame, None for none, and the columns."""
    angles: list[tuple[Vector, Scalar]] = []
    slides: list[tuple[Vector, Scalar]] = []
    for name, terms in zip(joint.axes, joint.terms):
        axis = IDENTITY['xyz'.index(name[1])]
        group = angles if name[0] == 'r' else slides
        group.append((axis, q[terms[0].position_index]))
    if joint.quaternion:
        start = joint.position_start
        turn, spins = by_quaternion(*q[start : start + 4]), list(IDENTITY)
    else:
        turn, spins = _turn_in_order(angles)
    if not slides:
        return turn, None, tuple((None, spin) for spin in spins)
    reach = ZERO
    for axis, length in slides:
        reach = add(reach, scale(length, axis))
    columns = [(cross(spin, reach), spin) for spin in spins]
    shift = reach if turn is None else apply(turn, reach)
    return turn, shift, (*columns, *((axis, None) for axis, _ in slides))


def _turn_in_order(
    angles: list[tuple[Vector, Scalar]]
) -> tuple[Optional[Matrix], list[Vector]]:
    """Return the product of turns about body axes, and each axis as the body sees it."""
    turn: Optional[Matrix] = None
    spins: list[Vector] = []
    for axis, angle in reversed(angles):
        # The turns that follow an axis carry the body on: it sees the axis turned back.
        spins.append(axis if turn is None else apply_transposed(turn, axis))
        step = about_axis(axis, angle)
        turn = step if turn is None else multiply(step, turn)
    return turn, spins[::-1]


def multi_axis_product(
    joint: JointMotion,
    columns: tuple[Column, ...],
    rates: list,
    slide: Optional[Vector],
    spin: Optional[Vector],
) -> Column:
    """
    Return the acceleration that the joint's own velocity adds, in body axes; None for none.

    Column k turns and slides with all later axes m, so that its rate is the sum of
    qd_m S_k x S_m, a product of twists (van der Merwe, eqs. 5.69 and 5.71, with the sign that
    differentiation gives), and spin x slide leads from the rate of a velocity in body axes to
    the origin's acceleration. The three columns of a quaternion keep their place in the body.
    """
    linear = None if slide is None or spin is None else cross(spin, slide)
    angular: Optional[Vector] = None
    before: Column = (None, None)
    for number, ((move, turn), rate) in enumerate(zip(columns, rates)):
        own = (
            None if move is None else scale(rate, move),
            None if turn is None else scale(rate, turn),
        )
        if not joint.quaternion or number >= 3:
            linear = _sum(linear, _sum(_cross(before[1], own[0]), _cross(before[0], own[1])))
            angular = _sum(angular, _cross(before[1], own[1]))
        before = (_sum(before[0], own[0]), _sum(before[1], own[1]))
    return linear, angular


def _cross(a: Optional[Vector], b: Optional[Vector]) -> Optional[Vector]:
    return None if a is None or b is None else cross(a, b)


def _sum(a: Optional[Vector], b: Optional[Vector]) -> Optional[Vector]:
    if a is None or b is None:
        return b if a is None else a
    return add(a, b)

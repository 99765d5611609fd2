# SPDX-License-Identifier: Apache-2.0
"""
Small displacements of a configuration, one a velocity coordinate.

A displacement moves the robot as a unit velocity of the coordinate would for a unit of time, to
first order. q changes by the coordinate itself, with two exceptions. Quaternions turn by a
rotation vector in body axes. The position of a floating joint moves in body axes (the
tangent space at q; Sola, Deray and Atchuthan, A micro Lie theory for state estimation in
robotics, 2018, section II).
"""

from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import by_quaternion, transpose

# Place in q, and its rate for a unit rate of the displacement.
Rate = tuple[int, Scalar]


def displacements(tree: Multibody, q: list) -> list[list[Rate]]:
    """Return for each velocity coordinate, (nv,), the entries of q that it moves, with rates."""
    found: list[list[Rate]] = [[] for _ in range(tree.nv)]
    for body in tree.bodies:
        joint, start = body.joint, body.joint.position_start
        for term in (term for axis in joint.terms for term in axis):
            found[term.velocity_index] = [(term.position_index, 1.0)]
        if joint.type == 'floating':
            for axis, rates in zip(joint.terms, [*_slides(start, q), *_rotations(start + 3, q)]):
                found[axis[0].velocity_index] = rates
        elif joint.quaternion:
            for axis, rates in zip(joint.terms, _rotations(start, q)):
                found[axis[0].velocity_index] = rates
        for k in range(body.n_modes):
            found[body.velocity_modes + k] = [(body.position_modes + k, 1.0)]
    return found


def _slides(start: int, q: list) -> list[list[Rate]]:
    """Return the rates of a position for unit velocities in body axes; a quaternion follows."""
    columns = transpose(by_quaternion(*q[start + 3 : start + 7]))
    return [[(start + k, value) for k, value in enumerate(column)] for column in columns]


def _rotations(start: int, q: list) -> list[list[Rate]]:
    """Return a quaternion's rates for unit angular velocities w in body axes: q (w, 0) / 2."""
    x, y, z, w = q[start : start + 4]
    halves = ((w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z))
    return [[(start + k, 0.5 * value) for k, value in enumerate(half)] for half in halves]

# SPDX-License-Identifier: Apache-2.0
"""
Small displacements of a configuration, one a velocity coordinate.

A displacement moves the robot as a unit velocity of the coordinate would for a unit of time, to
first order: q changes by the coordinate itself but for floating joints, whose displacement is a
translation in body axes and a rotation vector in body axes (the tangent space at q; Sola, Deray
and Atchuthan, A micro Lie theory for state estimation in robotics, 2018, section II).
"""

from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.rotation import by_quaternion
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import transpose

# Place in q, and its rate for a unit rate of the displacement.
Rate = tuple[int, Scalar]


def displacements(tree: Multibody, q: list) -> list[list[Rate]]:
    """Return for each velocity coordinate, (nv,), the entries of q that it moves, and how."""
    found: list[list[Rate]] = [[] for _ in range(tree.nv)]
    for body in tree.bodies:
        joint = body.joint
        if joint.type == 'floating':
            for axis, rates in zip(joint.terms, _floating(joint.position_start, q)):
                found[axis[0].velocity_index] = rates
        else:
            for term in (term for axis in joint.terms for term in axis):
                found[term.velocity_index] = [(term.position_index, 1.0)]
        for k in range(body.n_modes):
            found[body.velocity_modes + k] = [(body.position_modes + k, 1.0)]
    return found


def _floating(start: int, q: list) -> list[list[Rate]]:
    """Return the rates of a floating joint's position and quaternion, three and three."""
    x, y, z, w = q[start + 3 : start + 7]
    columns = transpose(by_quaternion(x, y, z, w))
    slides = [[(start + k, value) for k, value in enumerate(column)] for column in columns]
    # dq/dt = q (w, 0) / 2 with the product of quaternions, w the spin in body axes.
    halves = ((w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z))
    turns = [
        [(start + 3 + k, 0.5 * value) for k, value in enumerate(half)] for half in halves
    ]
    return slides + turns

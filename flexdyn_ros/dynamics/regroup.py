# SPDX-License-Identifier: Apache-2.0
"""
Base parameters: a tree of bodies with the same equations and fewer inertial numbers.

A mass distribution that a joint leaves in place may as well belong to the parent: about a
revolute axis the mass, the first moment along the axis and the second moment along it; of a
prismatic joint's body the whole second moment (Khalil and Dombre, Modeling, Identification
and Control of Robots, 2002, section 9.4, in second moments). What reaches the root, which
does not move, is gone.
"""

from __future__ import annotations

from dataclasses import replace

from flexdyn_ros.dynamics.multibody import Body
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import outer
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import scale_matrix
from flexdyn_ros.dynamics.spatial import subtract
from flexdyn_ros.dynamics.spatial import subtract_matrices
from flexdyn_ros.dynamics.spatial import ZERO
from flexdyn_ros.dynamics.spatial_inertia import RigidInertia

# Numbers this far below the body's own scale are round-off and become zero.
ROUND_OFF = 1e-12


def regroup(tree: Multibody) -> Multibody:
    """Return a tree with the same equations of motion in base parameters."""
    bodies = list(tree.bodies)
    for index in reversed(range(1, len(bodies))):
        body = bodies[index]
        movable = _movable(body)
        if movable is None:
            continue
        bodies[index] = _without(body, movable)
        parent = bodies[body.parent]
        moved = movable.seen_from(body.rotation, body.position)
        own = RigidInertia(parent.mass, parent.first_moment, parent.second_moment)
        bodies[body.parent] = _with_inertia(parent, own.plus(moved))
    return replace(tree, bodies=tuple(_tidy(body) for body in bodies))


def _movable(body: Body) -> RigidInertia | None:
    """Return the part of a body's inertia that its joint leaves in place, or None."""
    if body.node is not None or not isinstance(body.mass, float):
        return None
    axis = body.joint.axis
    if body.joint.type == 'fixed':
        return RigidInertia(body.mass, body.first_moment, body.second_moment)
    if body.joint.type == 'revolute':
        along = dot(axis, apply(body.second_moment, axis))
        return RigidInertia(
            body.mass,
            scale(dot(axis, body.first_moment), axis),
            scale_matrix(along, outer(axis, axis)),
        )
    if body.joint.type == 'prismatic':
        return RigidInertia(0.0, ZERO, body.second_moment)
    return None


def _without(body: Body, part: RigidInertia) -> Body:
    return replace(
        body,
        mass=body.mass - part.mass,
        first_moment=subtract(body.first_moment, part.first_moment),
        second_moment=subtract_matrices(body.second_moment, part.second_moment),
    )


def _with_inertia(body: Body, inertia: RigidInertia) -> Body:
    return replace(
        body,
        mass=inertia.mass,
        first_moment=inertia.first_moment,
        second_moment=inertia.second_moment,
    )


def _tidy(body: Body) -> Body:
    """Return the body with moments that are round-off set to zero."""
    if not isinstance(body.mass, float):
        return body
    first = max(abs(x) for x in body.first_moment)
    second = max(abs(x) for row in body.second_moment for x in row)
    return replace(
        body,
        first_moment=tuple(x if abs(x) > ROUND_OFF * first else 0.0 for x in body.first_moment),
        second_moment=tuple(
            tuple(x if abs(x) > ROUND_OFF * second else 0.0 for x in row)
            for row in body.second_moment
        ),
    )

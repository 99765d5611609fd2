# SPDX-License-Identifier: Apache-2.0
"""
Base parameters: a tree of bodies with the same equations and fewer inertial numbers.

A mass distribution that a joint leaves in place may as well belong to the parent: about a
revolute axis the mass, the first moment along the axis and the second moment along it; of a
prismatic joint's body the whole second moment; of an axisymmetric body all but the spin about
its axis (Khalil and Dombre, Modeling, Identification
and Control of Robots, 2002, section 9.4, in second moments). What reaches the root, which
does not move, is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace

from flexdyn_ros.dynamics.multibody import Body
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import add_matrices
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import IDENTITY
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import outer
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import scale_matrix
from flexdyn_ros.dynamics.spatial import subtract
from flexdyn_ros.dynamics.spatial import subtract_matrices
from flexdyn_ros.dynamics.spatial import symmetric_congruence
from flexdyn_ros.dynamics.spatial import symmetric_sum
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO

# Numbers this far below the body's own scale are round-off and become zero.
ROUND_OFF = 1e-12


def regroup(tree: Multibody, axisymmetric: bool = True) -> Multibody:
    """
    Return a tree with the same equations of motion in base parameters.

    Args:
        tree: The bodies.
        axisymmetric: Whether of axisymmetric bodies only the spin is left, as `spin_inertia`.
    """
    bodies = list(tree.bodies)
    for index in reversed(range(1, len(bodies))):
        body = bodies[index]
        movable = _movable(body)
        if movable is None:
            continue
        parent = bodies[body.parent]
        if not isinstance(parent.mass, float):
            continue
        body = _without(body, movable)
        spin = _axisymmetric(body) if axisymmetric else 0.0
        if spin:
            body = replace(body, second_moment=(ZERO, ZERO, ZERO), spin_inertia=2.0 * spin)
            movable = replace(
                movable,
                second_moment=add_matrices(
                    movable.second_moment, _disc(body.joint.axis, spin)
                ),
            )
        bodies[index] = body
        moved = movable.seen_from(body.rotation, body.position)
        bodies[body.parent] = _with_inertia(parent, moved)
    return replace(tree, bodies=tuple(bodies))


@dataclass
class Moments:
    """Mass, first moment and second moment about a frame's origin."""

    mass: float
    first_moment: Vector
    second_moment: Matrix

    def seen_from(self, rotation: Matrix, position: Vector) -> Moments:
        """Return the moments in a frame where this one stands at rotation and position."""
        first = apply(rotation, self.first_moment)
        shift = outer(position, add(first, scale(0.5 * self.mass, position)))
        return Moments(
            self.mass,
            add(first, scale(self.mass, position)),
            add_matrices(
                symmetric_congruence(rotation, self.second_moment), symmetric_sum(shift)
            ),
        )


def _movable(body: Body) -> Moments | None:
    """Return the part of a body's inertia that its joint leaves in place, or None."""
    if body.node is not None or not isinstance(body.mass, float):
        return None
    axis = body.joint.axis
    if body.joint.type == 'fixed':
        return Moments(body.mass, body.first_moment, body.second_moment)
    if body.joint.type == 'revolute':
        along = dot(axis, apply(body.second_moment, axis))
        return Moments(
            body.mass,
            scale(dot(axis, body.first_moment), axis),
            scale_matrix(along, outer(axis, axis)),
        )
    if body.joint.type == 'prismatic':
        return Moments(0.0, ZERO, body.second_moment)
    return None


def _axisymmetric(body: Body) -> float:
    """Return t where a revolute body's moments are t (1 - axis axis^T) and nothing else, or 0."""
    if body.joint.type != 'revolute' or any(body.first_moment):
        return 0.0
    spread = 0.5 * sum(body.second_moment[k][k] for k in range(3))
    disc = _disc(body.joint.axis, spread)
    rest = subtract_matrices(body.second_moment, disc)
    return spread if _size(*rest) <= ROUND_OFF * abs(spread) else 0.0


def _disc(axis: Vector, spread: float) -> Matrix:
    """Return the second moments of a disc about an axis: spread (1 - axis axis^T)."""
    return scale_matrix(spread, subtract_matrices(IDENTITY, outer(axis, axis)))


def _without(body: Body, part: Moments) -> Body:
    return replace(
        body,
        mass=body.mass - part.mass,
        first_moment=_difference(body.first_moment, part.first_moment),
        second_moment=tuple(
            _difference(own, gone, _size(*body.second_moment))
            for own, gone in zip(body.second_moment, part.second_moment)
        ),
    )


def _with_inertia(body: Body, moved: Moments) -> Body:
    first = add(body.first_moment, moved.first_moment)
    second = add_matrices(body.second_moment, moved.second_moment)
    # What cancels in a sum of moments is measured against the moments that went in.
    first_size = max(_size(body.first_moment), _size(moved.first_moment))
    second_size = max(_size(*body.second_moment), _size(*moved.second_moment))
    return replace(
        body,
        mass=body.mass + moved.mass,
        first_moment=_rounded(first, first_size),
        second_moment=tuple(_rounded(row, second_size) for row in second),
    )


def _difference(own: Vector, gone: Vector, size: float | None = None) -> Vector:
    return _rounded(subtract(own, gone), _size(own) if size is None else size)


def _rounded(values: Vector, size: float) -> Vector:
    return tuple(x if abs(x) > ROUND_OFF * size else 0.0 for x in values)


def _size(*rows: Vector) -> float:
    return max(abs(x) for row in rows for x in row)

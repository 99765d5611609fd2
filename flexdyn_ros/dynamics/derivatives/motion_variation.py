# SPDX-License-Identifier: Apache-2.0
"""
Variations of motion, carried from a parent's frame to a body's, and the response of wrenches.

A variation is (dw, db, da): of the angular velocity w, of the angular acceleration and of the
origin's acceleration. Here db = d(alpha) + w x dw. A point at r that moves with r' = w x r + its
own velocity changes its acceleration alpha x r + w x (w x r) + ... by db x r + 2 dw x r', by
Jacobi's identity. In this form a variation passes any joint unchanged but for the place. A frame
at p that moves with p' gets da + db x p + dw x 2 p', and the same dw and db. All are turned into
its axes.

A set of bodies responds to dw, at given db and da, with the Coriolis accelerations 2 dw x r' of
its points. The force is dw x 2 s' with s' = int r' dm. The moment is D dw with D = 2 (tr C - C), C
= int r' r^T dm. Both hold for any motion inside the set. Seen from another frame, s' and D change
by the rotation, the velocity and the place of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.dynamics.joints import axis_rates, combine_columns
from flexdyn_ros.dynamics.placement import Placement
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    apply_transposed,
    combine,
    cross,
    dot,
    IDENTITY,
    Matrix,
    outer,
    scale,
    scale_matrix,
    subtract_matrices,
    Vector,
    ZERO,
)

# Variations (dw, db, da); or the contribution of a unit of each to a force.
Variation = tuple[Vector, Vector, Vector]


@dataclass
class Stage:
    """
    One step outward, to a cross-section or over a joint.

    Attributes:
        rotation: Axes after the step in those before it.
        position: p, in the axes before [m].
        velocity: 2 p', in the axes before [m/s].
    """

    rotation: Matrix
    position: Vector
    velocity: Vector

    def inward(self, row: Variation) -> Variation:
        """Return derivatives by the motion after the step as those by the motion before."""
        omega, alpha, acceleration = (apply(self.rotation, each) for each in row)
        return (
            add(omega, cross(self.velocity, acceleration)),
            add(alpha, cross(self.position, acceleration)),
            acceleration,
        )


def stages(place: Placement, omega: Vector, mode_rates: list, qd: list) -> list[Stage]:
    """
    Return the steps from a parent to a body.

    Args:
        place: The body on its parent; its cross-section turns by true rotations.
        omega: Angular velocity of the parent, in its axes [rad/s].
        mode_rates: Rates of the parent's modes.
        qd: Velocity, (nv,).
    """
    found = []
    node = place.node
    if node is not None:
        velocity = _velocity(omega, node.position, combine(mode_rates, node.translation))
        found.append(Stage(node.rotation, node.position, velocity))
        angular = combine(mode_rates, node.angular)
        omega = apply_transposed(node.rotation, add(omega, angular))
    linear, _ = combine_columns(place.columns, axis_rates(place.body.joint, qd))
    sliding = apply(place.rotation, linear or ZERO)
    found.append(Stage(place.rotation, place.position, _velocity(omega, place.position, sliding)))
    return found


def _velocity(omega: Vector, position: Vector, sliding: Vector) -> Vector:
    """Return 2 p' of a point that also moves by itself."""
    return add(cross(scale(2.0, omega), position), scale(2.0, sliding))


def inward(steps: list[Stage], row: Variation) -> Variation:
    """Return derivatives by a body's motion as derivatives by its parent's."""
    for step in reversed(steps):
        row = step.inward(row)
    return row


def variation_power(row: Variation, variation: Variation) -> Scalar:
    """Return the derivative along a variation of motion."""
    return dot(row[0], variation[0]) + dot(row[1], variation[1]) + dot(row[2], variation[2])


@dataclass
class CoriolisResponse:
    """
    The response of a set of bodies to a variation of angular velocity, in one frame.

    Attributes:
        momentum: 2 s' [kg m/s].
        map: D [kg m^2/s].
    """

    momentum: Vector
    map: Matrix

    def plus(self, other: CoriolisResponse) -> CoriolisResponse:
        """Return the response of both sets together."""
        return CoriolisResponse(
            add(self.momentum, other.momentum), add_matrices(self.map, other.map)
        )

    def rotated(self, rotation: Matrix, moved: Matrix) -> CoriolisResponse:
        """Return it in axes where its own have this rotation; `moved` is D there."""
        return CoriolisResponse(apply(rotation, self.momentum), moved)

    def moving(self, velocity: Vector, mass: Scalar, first_moment: Vector) -> CoriolisResponse:
        """
        Return it for a frame that stands still where its own moves, both at one place.

        Args:
            velocity: Twice the velocity.
            mass: Of the set.
            first_moment: Of the set, in the same frame.
        """
        return CoriolisResponse(
            add(self.momentum, scale(mass, velocity)),
            add_matrices(self.map, _trace_less(velocity, first_moment)),
        )

    def shifted(self, position: Vector) -> CoriolisResponse:
        """Return it about a point from which its own origin is at `position`."""
        return CoriolisResponse(
            self.momentum, add_matrices(self.map, _trace_less(self.momentum, position))
        )

    def row(self, linear: Vector | None, angular: Vector | None) -> Vector:
        """Return the derivative by dw of the power on a unit velocity."""
        pushed = cross(self.momentum, linear or ZERO)
        return add(pushed, apply_transposed(self.map, angular or ZERO))

    def wrench(self, omega: Vector) -> tuple[Vector, Vector]:
        """Return force and moment for a variation of angular velocity."""
        return cross(omega, self.momentum), apply(self.map, omega)


def response_over_joint(
    place: Placement, step: Stage, response: CoriolisResponse, mass: Scalar, first_moment: Vector
) -> CoriolisResponse:
    """
    Return a body's response in the axes before its joint, about the point that it hangs on.

    Args:
        place: The body on its parent.
        step: The step over the joint.
        response: In the body's frame.
        mass: Of the body with all that it carries.
        first_moment: The same, in the body's frame.
    """
    turned = response.rotated(step.rotation, place.rotate_tensor(response.map, symmetric=False))
    moment = apply(step.rotation, first_moment)
    return turned.moving(step.velocity, mass, moment).shifted(step.position)


def _trace_less(a: Vector, b: Vector) -> Matrix:
    """Return (a . b) - a b^T."""
    return subtract_matrices(scale_matrix(dot(a, b), IDENTITY), outer(a, b))

# SPDX-License-Identifier: Apache-2.0
"""
Spatial inertia: momentum for a twist, seen from another frame, and added up.

Twists and momenta are pairs (linear, angular) at the frame's origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Union

from flexdyn_ros.dynamics.flexible_body import deflect
from flexdyn_ros.dynamics.joints import Column
from flexdyn_ros.dynamics.multibody import Body, Frame
from flexdyn_ros.dynamics.placement import Placement
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    apply_transposed,
    congruence,
    cross,
    dot,
    IDENTITY,
    inertia_of,
    Matrix,
    multiply,
    negate,
    outer,
    scale,
    scale_matrix,
    skew,
    subtract_matrices,
    symmetric_congruence,
    symmetric_sum,
    transpose,
    Vector,
    ZERO,
)

# Rotates a symmetric tensor.
TensorRotation = Callable[[Matrix], Matrix]


@dataclass
class RigidInertia:
    """Mass, first moment, and inertia about the origin, of a set of bodies that move as one."""

    mass: Scalar
    first_moment: Vector
    inertia: Matrix

    def momentum(self, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
        """Return the momentum of a twist: m v + w x s, s x v + I w."""
        return (
            add(scale(self.mass, linear), cross(angular, self.first_moment)),
            add(cross(self.first_moment, linear), apply(self.inertia, angular)),
        )

    def rotated(self, rotation: Matrix, tensor: TensorRotation) -> RigidInertia:
        """Return the inertia in axes where its own have this rotation."""
        return RigidInertia(
            self.mass, apply(rotation, self.first_moment), tensor(self.inertia)
        )

    def sheared(self, theta: Vector, tensor: TensorRotation) -> BlockInertia:
        """
        Return the inertia transformed by King's E = 1 + [theta]x, which is no rotation.

        E E^T = 1 + theta . theta - theta theta^T, and E [s]x E^T = [s']x with
        s' = s + theta x s + (theta . s) theta, the cofactors of E times s.
        """
        square = scale_matrix(dot(theta, theta), IDENTITY)
        stretch = subtract_matrices(add_matrices(IDENTITY, square), outer(theta, theta))
        first = add(self.first_moment, cross(theta, self.first_moment))
        first = add(first, scale(dot(theta, self.first_moment), theta))
        return BlockInertia(
            scale_matrix(self.mass, stretch), skew(negate(first)), tensor(self.inertia)
        )

    def shifted(self, position: Vector) -> RigidInertia:
        """Return the inertia about a point from which its own origin is at `position`."""
        # Second moments grow by p s^T + s p^T + m p p^T.
        half = outer(position, add(self.first_moment, scale(0.5 * self.mass, position)))
        return RigidInertia(
            self.mass,
            add(self.first_moment, scale(self.mass, position)),
            add_matrices(self.inertia, inertia_of(symmetric_sum(half))),
        )

    def plus(self, other: Inertia) -> Inertia:
        """Return the sum of two inertias in the same frame."""
        if isinstance(other, BlockInertia):
            return other.plus(self)
        return RigidInertia(
            self.mass + other.mass,
            add(self.first_moment, other.first_moment),
            add_matrices(self.inertia, other.inertia),
        )

    def blocks(self) -> BlockInertia:
        """Return the same inertia as blocks."""
        return BlockInertia(
            scale_matrix(self.mass, IDENTITY), skew(negate(self.first_moment)), self.inertia
        )


@dataclass
class BlockInertia:
    """
    Any symmetric spatial inertia: articulated bodies, or transformed by King's rotations.

    Attributes:
        linear: Force for unit linear accelerations, symmetric.
        mixed: Force for unit angular accelerations.
        angular: Moment for unit angular accelerations, symmetric.
    """

    linear: Matrix
    mixed: Matrix
    angular: Matrix

    def momentum(self, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
        """Return the momentum of a twist."""
        return (
            add(apply(self.linear, linear), apply(self.mixed, angular)),
            add(apply_transposed(self.mixed, linear), apply(self.angular, angular)),
        )

    def rotated(self, rotation: Matrix, tensor: TensorRotation) -> BlockInertia:
        """Return the inertia in axes where its own have this rotation."""
        return BlockInertia(
            tensor(self.linear), congruence(rotation, self.mixed), tensor(self.angular)
        )

    def shifted(self, position: Vector) -> BlockInertia:
        """Return the inertia about a point from which its own origin is at `position`."""
        shift = skew(position)
        # With W = [p] (H - L [p] / 2), the angular block grows by W + W^T.
        moved = multiply(self.linear, shift)
        half = multiply(shift, subtract_matrices(self.mixed, scale_matrix(0.5, moved)))
        return BlockInertia(
            self.linear,
            subtract_matrices(self.mixed, moved),
            add_matrices(self.angular, symmetric_sum(half)),
        )

    def plus(self, other: Inertia) -> BlockInertia:
        """Return the sum of two inertias in the same frame."""
        if isinstance(other, RigidInertia):
            other = other.blocks()
        return BlockInertia(
            add_matrices(self.linear, other.linear),
            add_matrices(self.mixed, other.mixed),
            add_matrices(self.angular, other.angular),
        )

    def blocks(self) -> BlockInertia:
        """Return the inertia itself."""
        return self

    def at(self, frame: Frame) -> list[list[Scalar]]:
        """Return the inertia of a frame's body at its origin in its axes, (6, 6)."""
        turn = transpose(frame.rotation)
        moved = self.shifted(negate(frame.position)).rotated(turn, lambda m: congruence(turn, m))
        upper = [[*a, *b] for a, b in zip(moved.linear, moved.mixed)]
        return [*upper, *([*a, *b] for a, b in zip(transpose(moved.mixed), moved.angular))]

    def less(self, factor: Scalar, force: Vector, moment: Vector) -> BlockInertia:
        """Return the inertia minus factor times the outer product of a wrench with itself."""
        force_part, moment_part = scale(factor, force), scale(factor, moment)
        return BlockInertia(
            subtract_matrices(self.linear, outer(force_part, force)),
            subtract_matrices(self.mixed, outer(force_part, moment)),
            subtract_matrices(self.angular, outer(moment_part, moment)),
        )


Inertia = Union[RigidInertia, BlockInertia]


@dataclass
class FlexibleInertia:
    """
    The inertia of a body and all that it carries, over its twist and its modes.

    Attributes:
        rigid: Of the frame's twist.
        forces: Momentum for each unit mode rate, linear part.
        moments: The same, angular part about the origin.
        modal: Generalised mass of the modes, indexed [k][l].
    """

    rigid: Inertia
    forces: list[Vector]
    moments: list[Vector]
    modal: list[list[Scalar]]

    @classmethod
    def of(cls, body: Body, q: list) -> FlexibleInertia:
        """Return the inertia of one body, deflected as at configuration q, (nq,)."""
        state = deflect(body, body.mode_values(q))
        return cls(
            RigidInertia(body.mass, state.first_moment, state.inertia),
            list(state.modal_first),
            state.angular_coupling if body.n_modes else [],
            [list(row) for row in state.modal_mass],
        )

    def add_child(self, place: Placement, child: Inertia) -> None:
        """Add the inertia that a child carries, given in the child's frame at its placement."""
        inertia = child.rotated(place.rotation, place.rotate_tensor).shifted(place.position)
        node = place.node
        if node is None:
            self.rigid = self.rigid.plus(inertia)
            return

        def tensor(m: Matrix) -> Matrix:
            return symmetric_congruence(node.rotation, m)

        if node.node.linear and isinstance(inertia, RigidInertia):
            at_node: Inertia = inertia.sheared(node.rotation_vector, tensor)
        else:
            at_node = inertia.rotated(node.rotation, tensor)
        columns = list(zip(node.translation, node.angular))
        for k, (translation, rotation) in enumerate(columns):
            force, moment = at_node.momentum(translation, rotation)
            for i, (other_translation, other_rotation) in enumerate(columns):
                power = dot(other_translation, force) + dot(other_rotation, moment)
                self.modal[i][k] = self.modal[i][k] + power
            self.forces[k] = add(self.forces[k], force)
            self.moments[k] = add(self.moments[k], add(moment, cross(node.position, force)))
        self.rigid = self.rigid.plus(at_node.shifted(node.position))


def column_momentum(body: Body, column: Column, inertia: Inertia) -> tuple[Vector, Vector]:
    """Return the momentum of a body and all it carries for a unit velocity along a column."""
    linear, angular = column
    force, moment = inertia.momentum(linear or ZERO, angular or ZERO)
    if body.polar_inertia and angular is not None:
        moment = add(moment, scale(body.polar_inertia, angular))
    return force, moment

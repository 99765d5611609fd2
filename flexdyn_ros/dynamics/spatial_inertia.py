# SPDX-License-Identifier: Apache-2.0
"""
Spatial inertia: momentum for a twist, seen from another frame, and added up.

Twists and momenta are pairs (linear, angular) at the frame's origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from flexdyn_ros.dynamics.flexible_body import DeflectedBody
from flexdyn_ros.dynamics.placement import Placement
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import add_matrices
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import apply_transposed
from flexdyn_ros.dynamics.spatial import congruence
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import IDENTITY
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import multiply
from flexdyn_ros.dynamics.spatial import negate
from flexdyn_ros.dynamics.spatial import outer
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import scale_matrix
from flexdyn_ros.dynamics.spatial import skew
from flexdyn_ros.dynamics.spatial import subtract_matrices
from flexdyn_ros.dynamics.spatial import transpose
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO


@dataclass
class RigidInertia:
    """Mass, first moment and second moment of a set of bodies that move as one."""

    mass: Scalar
    first_moment: Vector
    second_moment: Matrix

    def momentum(self, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
        """Return the momentum of a twist: m v + w x s, s x v + I w with I = tr(S) - S."""
        m = self.second_moment
        trace = m[0][0] + m[1][1] + m[2][2]
        spin = add(scale(trace, angular), negate(apply(m, angular)))
        return (
            add(scale(self.mass, linear), cross(angular, self.first_moment)),
            add(cross(self.first_moment, linear), spin),
        )

    def seen_from(self, rotation: Matrix, position: Vector) -> RigidInertia:
        """Return the inertia in a frame where this one stands at rotation and position."""
        first = apply(rotation, self.first_moment)
        shift = outer(position, add(first, scale(0.5 * self.mass, position)))
        second = add_matrices(congruence(rotation, self.second_moment), shift)
        return RigidInertia(
            self.mass,
            add(first, scale(self.mass, position)),
            add_matrices(second, transpose(shift)),
        )

    def plus(self, other: Inertia) -> Inertia:
        """Return the sum of two inertias in the same frame."""
        if isinstance(other, BlockInertia):
            return other.plus(self)
        return RigidInertia(
            self.mass + other.mass,
            add(self.first_moment, other.first_moment),
            add_matrices(self.second_moment, other.second_moment),
        )

    def blocks(self) -> BlockInertia:
        """Return the same inertia as blocks."""
        m = self.second_moment
        trace = m[0][0] + m[1][1] + m[2][2]
        return BlockInertia(
            scale_matrix(self.mass, IDENTITY),
            skew(negate(self.first_moment)),
            subtract_matrices(scale_matrix(trace, IDENTITY), m),
        )


@dataclass
class BlockInertia:
    """
    Any symmetric spatial inertia: articulated bodies, or seen through King's rotations.

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

    def seen_from(self, rotation: Matrix, position: Vector) -> BlockInertia:
        """Return the inertia in a frame where this one stands at rotation and position."""
        linear = congruence(rotation, self.linear)
        mixed = congruence(rotation, self.mixed)
        angular = congruence(rotation, self.angular)
        shift = skew(position)
        moved = subtract_matrices(mixed, multiply(linear, shift))
        inner = multiply(shift, moved)
        outer_part = multiply(transpose(mixed), shift)
        return BlockInertia(
            linear, moved, add_matrices(subtract_matrices(angular, outer_part), inner)
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
    def of(cls, state: DeflectedBody) -> FlexibleInertia:
        """Return the inertia of one deflected body."""
        body = state.body
        return cls(
            RigidInertia(body.mass, state.first_moment, state.second_moment),
            list(body.modal.first),
            state.angular_coupling if body.n_modes else [],
            [list(row) for row in body.modal.mass],
        )

    def add_child(self, place: Placement, child: Inertia) -> None:
        """Add what a child carries, given in the child's frame at its placement."""
        inertia = child.seen_from(place.rotation, place.position)
        node = place.node
        if node is None:
            self.rigid = self.rigid.plus(inertia)
            return
        if node.node.linear:
            inertia = inertia.blocks()
        at_node = inertia.seen_from(node.rotation, ZERO)
        columns = list(zip(node.translation, node.turning))
        for k, (move, turn) in enumerate(columns):
            force, moment = at_node.momentum(move, turn)
            for i, (other_move, other_turn) in enumerate(columns):
                power = dot(other_move, force) + dot(other_turn, moment)
                self.modal[i][k] = self.modal[i][k] + power
            self.forces[k] = add(self.forces[k], force)
            self.moments[k] = add(self.moments[k], add(moment, cross(node.position, force)))
        self.rigid = self.rigid.plus(at_node.seen_from(IDENTITY, node.position))

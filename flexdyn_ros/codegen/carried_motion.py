# SPDX-License-Identifier: Apache-2.0
"""
Small changes of motion, carried from a parent's frame to a body's, and their transpose.

A change of motion is (spin, spin_rate, acceleration). At fixed positions and rates it passes a
frame at p, with the relative rates s and t of place and rotation, as
da' = R^T (da + dalpha x p + K dw), K = (w . p) 1 + w p^T - 2 p w^T - 2 [s]x, from
a' = R^T (a + alpha x p + w x (w x p) + 2 w x s), and dalpha' = R^T (dalpha + dw x t).
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.dynamics.joints import axis_rates
from flexdyn_ros.dynamics.joints import combine_columns
from flexdyn_ros.dynamics.placement import Placement
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import add_matrices
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import apply_transposed
from flexdyn_ros.dynamics.spatial import combine
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import IDENTITY
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import outer
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import scale_matrix
from flexdyn_ros.dynamics.spatial import skew
from flexdyn_ros.dynamics.spatial import subtract_matrices
from flexdyn_ros.dynamics.spatial import Vector
from flexdyn_ros.dynamics.spatial import ZERO

# Changes of spin, spin rate and acceleration; or what one of each contributes to a force.
Change = tuple[Vector, Vector, Vector]


@dataclass
class Stage:
    """
    One step outward, to a cross-section or over a joint.

    Attributes:
        rotation: R.
        position: p [m].
        spin_map: K.
        turning: t, in the axes before the rotation.
        turn: Spin of a joint, in the axes behind the rotation.
        slide: Velocity along a joint, in the axes behind the rotation.
    """

    rotation: Matrix
    position: Vector
    spin_map: Matrix
    turning: Vector
    turn: Vector
    slide: Vector

    def outward(self, change: Change) -> Change:
        """Return what a change of the motion before comes to behind."""
        spin, spin_rate, acceleration = change
        acceleration = add(acceleration, cross(spin_rate, self.position))
        acceleration = add(acceleration, apply(self.spin_map, spin))
        spin_rate = add(spin_rate, cross(spin, self.turning))
        spin = apply_transposed(self.rotation, spin)
        spin_rate = apply_transposed(self.rotation, spin_rate)
        acceleration = apply_transposed(self.rotation, acceleration)
        acceleration = add(acceleration, scale(2.0, cross(spin, self.slide)))
        return spin, add(spin_rate, cross(spin, self.turn)), acceleration

    def inward(self, row: Change) -> Change:
        """Return the transpose: derivatives by the motion behind as those by the motion before."""
        spin, spin_rate, acceleration = row
        spin = add(spin, scale(2.0, cross(self.slide, acceleration)))
        spin = add(spin, cross(self.turn, spin_rate))
        spin = apply(self.rotation, spin)
        spin_rate = apply(self.rotation, spin_rate)
        acceleration = apply(self.rotation, acceleration)
        spin = add(spin, apply_transposed(self.spin_map, acceleration))
        spin = add(spin, cross(self.turning, spin_rate))
        return spin, add(spin_rate, cross(self.position, acceleration)), acceleration


def stages(place: Placement, spin: Vector, mode_rates: list, qd: list) -> list[Stage]:
    """
    Return the steps from a parent to a body.

    Args:
        place: The body on its parent.
        spin: Of the parent, in its axes.
        mode_rates: Rates of the parent's modes.
        qd: Velocity, (nv,).
    """
    found = []
    node = place.node
    if node is not None:
        slide = combine(mode_rates, node.translation)
        turning = combine(mode_rates, node.turning)
        found.append(Stage(
            node.rotation, node.position, spin_map(spin, node.position, slide), turning, ZERO, ZERO
        ))
        spin = apply_transposed(node.rotation, add(spin, turning))
    slide, turn = combine_columns(place.columns, axis_rates(place.body.joint, qd))
    found.append(Stage(
        place.rotation, place.position, spin_map(spin, place.position, ZERO), ZERO, turn or ZERO,
        slide or ZERO,
    ))
    return found


def spin_map(spin: Vector, position: Vector, slide: Vector) -> Matrix:
    """Return K, the derivative of w x (w x p) + 2 w x s by w."""
    mixed = outer(spin, position)
    turned = outer(position, spin)
    along = scale_matrix(dot(spin, position), IDENTITY)
    matrix = subtract_matrices(add_matrices(along, mixed), scale_matrix(2.0, turned))
    return subtract_matrices(matrix, scale_matrix(2.0, skew(slide)))


def outward(steps: list[Stage], change: Change) -> Change:
    """Return a change of a parent's motion carried to the body."""
    for step in steps:
        change = step.outward(change)
    return change


def inward(steps: list[Stage], row: Change) -> Change:
    """Return derivatives by a body's motion as derivatives by its parent's."""
    for step in reversed(steps):
        row = step.inward(row)
    return row


def change_power(row: Change, change: Change) -> Scalar:
    """Return the derivative along a change of motion."""
    return dot(row[0], change[0]) + dot(row[1], change[1]) + dot(row[2], change[2])

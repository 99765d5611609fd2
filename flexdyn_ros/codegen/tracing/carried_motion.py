# SPDX-License-Identifier: Apache-2.0
"""
Small changes of motion, carried from a parent's frame to a body's, and their transpose.

A change is (dw, db, da): of the spin w, of the spin rate and of the origin's acceleration, where
db = d(alpha) + w x dw. A point at r that moves with r' = w x r + its own velocity changes its
acceleration alpha x r + w x (w x r) + ... by db x r + 2 dw x r', by Jacobi's identity. In this
form a change passes any joint unchanged but for the place: a frame at p that moves with p' gets
da + db x p + dw x 2 p', and the same dw and db, all turned into its axes.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.dynamics.joints import axis_rates
from flexdyn_ros.dynamics.joints import combine_columns
from flexdyn_ros.dynamics.placement import Placement
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import apply
from flexdyn_ros.dynamics.spatial import apply_transposed
from flexdyn_ros.dynamics.spatial import combine
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import Vector

# Changes (dw, db, da); or what a unit of each contributes to a force.
Change = tuple[Vector, Vector, Vector]


@dataclass
class Stage:
    """
    One step outward, to a cross-section or over a joint.

    Attributes:
        rotation: Axes behind the step in those before it.
        position: p, in the axes before [m].
        velocity: 2 p', in the axes before [m/s].
    """

    rotation: Matrix
    position: Vector
    velocity: Vector

    def inward(self, row: Change) -> Change:
        """Return derivatives by the motion behind as those by the motion before."""
        spin, spin_rate, acceleration = (apply(self.rotation, each) for each in row)
        return (
            add(spin, cross(self.velocity, acceleration)),
            add(spin_rate, cross(self.position, acceleration)),
            acceleration,
        )


def stages(place: Placement, spin: Vector, mode_rates: list, qd: list) -> list[Stage]:
    """
    Return the steps from a parent to a body.

    Args:
        place: The body on its parent; its cross-section turns by true rotations.
        spin: Of the parent, in its axes.
        mode_rates: Rates of the parent's modes.
        qd: Velocity, (nv,).
    """
    found = []
    node = place.node
    if node is not None:
        slide = combine(mode_rates, node.translation)
        velocity = _velocity(spin, node.position, slide)
        found.append(Stage(node.rotation, node.position, velocity))
        turning = combine(mode_rates, node.turning)
        spin = apply_transposed(node.rotation, add(spin, turning))
    slide, _ = combine_columns(place.columns, axis_rates(place.body.joint, qd))
    own = None if slide is None else apply(place.rotation, slide)
    found.append(Stage(place.rotation, place.position, _velocity(spin, place.position, own)))
    return found


def _velocity(spin: Vector, position: Vector, own: Vector | None) -> Vector:
    """Return 2 p' of a point that also moves by itself."""
    double = cross(scale(2.0, spin), position)
    return double if own is None else add(double, scale(2.0, own))


def inward(steps: list[Stage], row: Change) -> Change:
    """Return derivatives by a body's motion as derivatives by its parent's."""
    for step in reversed(steps):
        row = step.inward(row)
    return row


def change_power(row: Change, change: Change) -> Scalar:
    """Return the derivative along a change of motion."""
    return dot(row[0], change[0]) + dot(row[1], change[1]) + dot(row[2], change[2])

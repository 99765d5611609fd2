# SPDX-License-Identifier: Apache-2.0
"""
How a set of bodies answers to a change dw of its spin, at given db and da (carried_motion.py).

Each of its points accelerates by 2 dw x r', so that the force is dw x 2 s', s' = int r' dm, and
the moment D dw with D = 2 (tr C - C), C = int r' r^T dm, whatever moves inside the set. Seen from
another frame, s' and D change by what carries them along.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.codegen.tracing.carried_motion import Stage
from flexdyn_ros.dynamics.joints import frame_axis
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
from flexdyn_ros.dynamics.spatial import outer
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import scale_matrix
from flexdyn_ros.dynamics.spatial import subtract_matrices
from flexdyn_ros.dynamics.spatial import Vector


@dataclass
class SpinResponse:
    """
    The answer in one frame.

    Attributes:
        momentum: 2 s' [kg m/s].
        map: D [kg m^2/s].
    """

    momentum: Vector
    map: Matrix

    def plus(self, other: SpinResponse) -> SpinResponse:
        """Return the answer of both sets together."""
        return SpinResponse(
            add(self.momentum, other.momentum), add_matrices(self.map, other.map)
        )

    def turned(self, rotation: Matrix, moved: Matrix) -> SpinResponse:
        """Return it in axes where its own have this rotation; `moved` is D there."""
        return SpinResponse(apply(rotation, self.momentum), moved)

    def moving(self, velocity: Vector, mass: Scalar, first_moment: Vector) -> SpinResponse:
        """
        Return it for a frame that stands still where its own moves, both at one place.

        Args:
            velocity: Twice the velocity.
            mass: Of the set.
            first_moment: Of the set, in the same frame.
        """
        return SpinResponse(
            add(self.momentum, scale(mass, velocity)),
            add_matrices(self.map, _trace_less(velocity, first_moment)),
        )

    def shifted(self, position: Vector) -> SpinResponse:
        """Return it about a point from which its own origin is at `position`."""
        return SpinResponse(
            self.momentum, add_matrices(self.map, _trace_less(self.momentum, position))
        )

    def row(self, linear: Vector | None, angular: Vector | None) -> Vector:
        """Return the derivative by dw of the power of the answer on a unit velocity."""
        if linear is None:
            return apply_transposed(self.map, angular)
        pushed = cross(self.momentum, linear)
        return pushed if angular is None else add(pushed, apply_transposed(self.map, angular))

    def wrench(self, spin: Vector) -> tuple[Vector, Vector]:
        """Return force and moment for a change of spin."""
        return cross(spin, self.momentum), apply(self.map, spin)


def over_joint(
    place: Placement, step: Stage, response: SpinResponse, mass: Scalar, first_moment: Vector
) -> SpinResponse:
    """
    Return a body's answer in the axes before its joint, about the point that it hangs on.

    Args:
        place: The body on its parent.
        step: The step over the joint.
        response: In the body's frame.
        mass: Of the body with all that it carries.
        first_moment: The same, in the body's frame.
    """
    turned = response.turned(step.rotation, _turned(place, response.map))
    moment = apply(step.rotation, first_moment)
    return turned.moving(step.velocity, mass, moment).shifted(step.position)


def _turned(place: Placement, m: Matrix) -> Matrix:
    """Return R m R^T for the rotation of a body on its parent."""
    axis = frame_axis(place.body.joint)
    if place.turn is None or axis is None:
        return congruence(place.rotation, m)
    return congruence(place.body.rotation, turn_matrix(place.turn, axis, m))


def turn_matrix(turn: Matrix, axis: int, m: Matrix) -> Matrix:
    """
    Return R m R^T of any matrix m for a rotation R about frame axis number `axis`.

    As rotation.turn_tensor: with e = s (m_ii - m_jj) + c (m_ij + m_ji) the block about the axis
    becomes m_ii - s e, c e - m_ji, c e - m_ij, m_jj + s e.
    """
    i, j, k = (axis + 1) % 3, (axis + 2) % 3, axis
    c, s = turn[i][i], turn[j][i]
    e = s * (m[i][i] - m[j][j]) + c * (m[i][j] + m[j][i])
    moved, mixed = s * e, c * e
    rows = [[m[k][k]] * 3 for _ in range(3)]
    rows[i][i], rows[j][j] = m[i][i] - moved, m[j][j] + moved
    rows[i][j], rows[j][i] = mixed - m[j][i], mixed - m[i][j]
    rows[i][k], rows[j][k] = c * m[i][k] - s * m[j][k], s * m[i][k] + c * m[j][k]
    rows[k][i], rows[k][j] = c * m[k][i] - s * m[k][j], s * m[k][i] + c * m[k][j]
    first, second, third = (tuple(row) for row in rows)
    return first, second, third


def _trace_less(a: Vector, b: Vector) -> Matrix:
    """Return (a . b) - a b^T."""
    return subtract_matrices(scale_matrix(dot(a, b), IDENTITY), outer(a, b))

# SPDX-License-Identifier: Apache-2.0
"""
Base parameters: a tree of bodies with the same equations and fewer inertial numbers.

A mass distribution that a joint leaves in place may as well belong to the parent. About a revolute
axis these are the mass, the first moment along the axis and the second moment along it. Of a
prismatic joint's body it is the whole second moment. Of an axisymmetric body it is all but the
angular momentum about its axis (Khalil and Dombre, Modeling, Identification and Control of Robots,
2002, section 9.4, in second moments). Terms that reach the fixed root vanish.

Terms that cancel leave rounding errors, set to zero. They are found by running error analysis
(Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, 2002, section 3.3): each
number carries a bound on its error. A fixed share of the largest moment is no substitute. Beside a
child far away it drops the body's own moments, which a badly conditioned mass matrix needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Optional, Union

from flexdyn_ros.dynamics.multibody import Body, Multibody
from flexdyn_ros.dynamics.scalar import OuterScalar
from flexdyn_ros.dynamics.spatial import (
    add,
    add_matrices,
    apply,
    dot,
    IDENTITY,
    Matrix,
    negate,
    outer,
    scale,
    scale_matrix,
    subtract_matrices,
    symmetric_congruence,
    symmetric_sum,
    Vector,
    ZERO,
)

# Relative error of one operation, and that of a body's own moments and places as they come.
UNIT_ROUND_OFF = 2.0 ** -53
OWN_ERROR = 4.0 * UNIT_ROUND_OFF
# Entries of a rotation that are exact.
EXACT = (0.0, 1.0, -1.0)


class ErrorBounded(OuterScalar):
    """
    A number with a bound on its rounding error.

    Attributes:
        value: The number.
        error: Bound on the distance from the value without rounding.
    """

    __slots__ = ('value', 'error')

    def __init__(self, value: float, error: float = 0.0):
        self.value = value
        self.error = error

    def __add__(self, other: Union[ErrorBounded, float]) -> ErrorBounded:
        other = _error_bounded(other)
        return _with_round_off(self.value + other.value, self.error + other.error)

    def __neg__(self) -> ErrorBounded:
        return ErrorBounded(-self.value, self.error)

    def __mul__(self, other: Union[ErrorBounded, float]) -> ErrorBounded:
        other = _error_bounded(other)
        error = abs(self.value) * other.error + self.error * (abs(other.value) + other.error)
        return _with_round_off(self.value * other.value, error)

    @property
    def is_round_off(self) -> bool:
        """Whether it is zero but for rounding errors."""
        return abs(self.value) <= self.error

    @property
    def number(self) -> float:
        """The number, zero where it is nothing but rounding errors."""
        return 0.0 if self.is_round_off else self.value


def _error_bounded(x: Union[ErrorBounded, float]) -> ErrorBounded:
    return x if isinstance(x, ErrorBounded) else ErrorBounded(x)


def _with_round_off(value: float, error: float) -> ErrorBounded:
    """Return the result of one operation: exact where it is zero, rounded otherwise."""
    return ErrorBounded(value, error + UNIT_ROUND_OFF * abs(value))


NO_MOMENT: Vector = (ErrorBounded(0.0), ErrorBounded(0.0), ErrorBounded(0.0))


@dataclass
class Moments:
    """
    Mass, first moment and second moment about a frame's origin.

    Attributes:
        mass: [kg].
        first_moment: int r dm, bounded numbers [kg m].
        second_moment: int r r^T dm, bounded numbers [kg m^2].
    """

    mass: float
    first_moment: Vector
    second_moment: Matrix

    @classmethod
    def of(cls, body: Body) -> Moments:
        """Return a body's own moments, as exact as sums of its parts can be."""
        size = _size(*body.second_moment)
        trace = sum(body.second_moment[k][k] for k in range(3))
        # |int r dm|^2 <= m int r^2 dm: parts of that size may have cancelled.
        first_size = max(_size(body.first_moment), math.sqrt(max(body.mass * trace, 0.0)))
        return cls(
            body.mass,
            _with_error(body.first_moment, first_size),
            tuple(_with_error(row, size) for row in body.second_moment),
        )

    def plus(self, other: Moments) -> Moments:
        """Return the sum, rounding errors made zero."""
        return Moments(
            self.mass + other.mass,
            _cleaned(add(self.first_moment, other.first_moment)),
            tuple(map(_cleaned, add_matrices(self.second_moment, other.second_moment))),
        )

    def less(self, other: Moments) -> Moments:
        """Return the difference, rounding errors made zero."""
        negative = tuple(map(negate, other.second_moment))
        return self.plus(Moments(-other.mass, negate(other.first_moment), negative))

    def seen_from(self, rotation: Matrix, position: Vector) -> Moments:
        """Return the moments in a frame where this one stands at rotation and position."""
        bounded = tuple(
            tuple(x if x in EXACT else ErrorBounded(x, OWN_ERROR) for x in row) for row in rotation
        )
        shift = _with_error(position, _size(position))
        first = apply(bounded, self.first_moment)
        half = outer(shift, add(first, scale(0.5 * self.mass, shift)))
        return Moments(
            self.mass,
            add(first, scale(self.mass, shift)),
            add_matrices(symmetric_congruence(bounded, self.second_moment), symmetric_sum(half)),
        )

    def given_to(self, body: Body) -> Body:
        """Return a body with these moments."""
        return replace(
            body,
            mass=self.mass,
            first_moment=tuple(x.number for x in self.first_moment),
            second_moment=tuple(tuple(x.number for x in row) for row in self.second_moment),
        )


def regroup(tree: Multibody, axisymmetric: bool = True) -> Multibody:
    """
    Return a tree with the same equations of motion in base parameters.

    Args:
        tree: The bodies.
        axisymmetric: Whether of axisymmetric bodies only the angular momentum about the joint axis
            is left, as `polar_inertia`.
    """
    bodies = list(tree.bodies)
    found: dict[int, Moments] = {}

    def moments(index: int) -> Moments:
        return found[index] if index in found else Moments.of(bodies[index])

    for index in reversed(range(1, len(bodies))):
        body = bodies[index]
        if not (isinstance(body.mass, float) and isinstance(bodies[body.parent].mass, float)):
            continue
        movable = _movable(body, moments(index))
        if movable is None:
            continue
        rest = moments(index).less(movable)
        spread = _axisymmetric(body, rest) if axisymmetric else None
        if spread is not None:
            disc = Moments(0.0, ZERO, _disc(body.joint.axis, spread))
            bodies[index] = replace(body, polar_inertia=2.0 * spread.value)
            rest = Moments(rest.mass, rest.first_moment, (NO_MOMENT,) * 3)
            movable = movable.plus(disc)
        found[index] = rest
        moved = movable.seen_from(body.rotation, body.position)
        found[body.parent] = moments(body.parent).plus(moved)
    for index, moments_left in found.items():
        bodies[index] = moments_left.given_to(bodies[index])
    return replace(tree, bodies=tuple(bodies))


def _movable(body: Body, moments: Moments) -> Optional[Moments]:
    """Return the part of a body's inertia that its joint leaves in place, or None."""
    if body.node is not None:
        return None
    axis = body.joint.axis
    if body.joint.type == 'fixed':
        return moments
    if body.joint.type == 'revolute':
        along = dot(axis, apply(moments.second_moment, axis))
        return Moments(
            moments.mass,
            scale(dot(axis, moments.first_moment), axis),
            scale_matrix(along, outer(axis, axis)),
        )
    if body.joint.type == 'prismatic':
        return Moments(0.0, ZERO, moments.second_moment)
    return None


def _axisymmetric(body: Body, moments: Moments) -> Optional[ErrorBounded]:
    """Return t where a revolute body's moments are t (1 - axis axis^T) and nothing else."""
    if body.joint.type != 'revolute' or any(x.value for x in moments.first_moment):
        return None
    spread = 0.5 * sum(moments.second_moment[k][k] for k in range(3))
    rest = subtract_matrices(moments.second_moment, _disc(body.joint.axis, spread))
    plain = all(x.is_round_off for row in rest for x in row)
    return spread if plain and spread.value else None


def _disc(axis: Vector, spread: ErrorBounded) -> Matrix:
    """Return the second moments of a disc about an axis: spread (1 - axis axis^T)."""
    return scale_matrix(spread, subtract_matrices(IDENTITY, outer(axis, axis)))


def _with_error(values: Vector, size: float) -> Vector:
    """Return numbers whose errors are those of sums of a size; a zero is one."""
    return tuple(ErrorBounded(x, OWN_ERROR * size if x else 0.0) for x in values)


def _cleaned(values: Vector) -> Vector:
    """Return bounded numbers, those that are nothing but rounding errors made zero."""
    return tuple(ErrorBounded(x.number, x.error) for x in values)


def _size(*rows: Vector) -> float:
    return max(abs(x) for row in rows for x in row)

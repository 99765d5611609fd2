# SPDX-License-Identifier: Apache-2.0
"""Vectors and matrices of three over scalars of any kind: tuples and plain functions."""

from typing import Iterable
from typing import Sequence

from flexdyn_ros.dynamics.scalar import Scalar

Vector = tuple[Scalar, Scalar, Scalar]
Matrix = tuple[Vector, Vector, Vector]

ZERO: Vector = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(factor: Scalar, a: Vector) -> Vector:
    """Return factor * a."""
    return (factor * a[0], factor * a[1], factor * a[2])


def negate(a: Vector) -> Vector:
    """Return -a."""
    return (-a[0], -a[1], -a[2])


def dot(a: Vector, b: Vector) -> Scalar:
    """Return the scalar product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def combine(factors: Sequence[Scalar], vectors: Iterable[Vector]) -> Vector:
    """Return the sum of factor * vector over all pairs; zero for none."""
    total = ZERO
    for factor, vector in zip(factors, vectors):
        total = add(total, scale(factor, vector))
    return total


def apply(m: Matrix, a: Vector) -> Vector:
    """Return m a."""
    return (dot(m[0], a), dot(m[1], a), dot(m[2], a))


def apply_transposed(m: Matrix, a: Vector) -> Vector:
    """Return m^T a."""
    return (
        m[0][0] * a[0] + m[1][0] * a[1] + m[2][0] * a[2],
        m[0][1] * a[0] + m[1][1] * a[1] + m[2][1] * a[2],
        m[0][2] * a[0] + m[1][2] * a[1] + m[2][2] * a[2],
    )


def transpose(m: Matrix) -> Matrix:
    """Return m^T."""
    return (
        (m[0][0], m[1][0], m[2][0]),
        (m[0][1], m[1][1], m[2][1]),
        (m[0][2], m[1][2], m[2][2]),
    )


def multiply(m: Matrix, n: Matrix) -> Matrix:
    """Return m n."""
    columns = transpose(n)
    return (
        (dot(m[0], columns[0]), dot(m[0], columns[1]), dot(m[0], columns[2])),
        (dot(m[1], columns[0]), dot(m[1], columns[1]), dot(m[1], columns[2])),
        (dot(m[2], columns[0]), dot(m[2], columns[1]), dot(m[2], columns[2])),
    )


def add_matrices(m: Matrix, n: Matrix) -> Matrix:
    """Return m + n."""
    return (add(m[0], n[0]), add(m[1], n[1]), add(m[2], n[2]))


def subtract_matrices(m: Matrix, n: Matrix) -> Matrix:
    """Return m - n."""
    return (subtract(m[0], n[0]), subtract(m[1], n[1]), subtract(m[2], n[2]))


def scale_matrix(factor: Scalar, m: Matrix) -> Matrix:
    """Return factor * m."""
    return (scale(factor, m[0]), scale(factor, m[1]), scale(factor, m[2]))


def outer(a: Vector, b: Vector) -> Matrix:
    """Return a b^T."""
    return (scale(a[0], b), scale(a[1], b), scale(a[2], b))


def skew(a: Vector) -> Matrix:
    """Return [a]x with [a]x b = a x b."""
    return ((0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0))


def axial(m: Matrix) -> Vector:
    """Return the sum of a x b for m = sum of a b^T."""
    return (m[1][2] - m[2][1], m[2][0] - m[0][2], m[0][1] - m[1][0])


def congruence(m: Matrix, n: Matrix) -> Matrix:
    """Return m n m^T."""
    return multiply(multiply(m, n), transpose(m))


def symmetric_congruence(m: Matrix, n: Matrix) -> Matrix:
    """Return m n m^T for a symmetric n; the lower triangle is the upper one."""
    rows = multiply(m, n)
    xx, xy, xz = dot(rows[0], m[0]), dot(rows[0], m[1]), dot(rows[0], m[2])
    yy, yz, zz = dot(rows[1], m[1]), dot(rows[1], m[2]), dot(rows[2], m[2])
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def symmetric_sum(m: Matrix) -> Matrix:
    """Return m + m^T."""
    xy, xz, yz = m[0][1] + m[1][0], m[0][2] + m[2][0], m[1][2] + m[2][1]
    return (
        (2.0 * m[0][0], xy, xz),
        (xy, 2.0 * m[1][1], yz),
        (xz, yz, 2.0 * m[2][2]),
    )


def inertia_of(second_moment: Matrix) -> Matrix:
    """Return the inertia tr(S) - S of second moments S = int r r^T dm."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = second_moment
    return ((yy + zz, -xy, -xz), (-xy, xx + zz, -yz), (-xz, -yz, xx + yy))


def second_moment_of(inertia: Matrix) -> Matrix:
    """Return the second moments tr(I) / 2 - I of an inertia I."""
    half_trace = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2])
    return subtract_matrices(scale_matrix(half_trace, IDENTITY), inertia)


def is_zero(value: Scalar) -> bool:
    """Return whether a model number is exactly zero; a symbol never is."""
    return isinstance(value, (float, int)) and value == 0.0


def acceleration_matrix(spin: Vector, spin_rate: Vector) -> Matrix:
    """
    Return U = [spin_rate]x + [spin]x [spin]x: a point at r accelerates by U r.

    Written out as in El-Rayyes 1990 (NEDYN), where one such matrix a link saves operations.
    """
    wx, wy, wz = spin
    xx, yy, zz = wx * wx, wy * wy, wz * wz
    xy, yz, zx = wx * wy, wy * wz, wz * wx
    ax, ay, az = spin_rate
    return (
        (-(yy + zz), xy - az, zx + ay),
        (xy + az, -(zz + xx), yz - ax),
        (zx - ay, yz + ax, -(xx + yy)),
    )

# SPDX-License-Identifier: Apache-2.0
"""Vectors, matrices and rotations of three dimensions over scalars of any kind."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Iterable, NamedTuple, Sequence

from flexdyn_ros.dynamics.scalar import cos, Scalar, sin, stumpff

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


def acceleration_matrix(omega: Vector, alpha: Vector) -> Matrix:
    """
    Return U = [alpha]x + [omega]x [omega]x: a point at r accelerates by U r.

    Written out as in El-Rayyes 1990 (NEDYN), where one such matrix a link saves operations.
    """
    wx, wy, wz = omega
    xx, yy, zz = wx * wx, wy * wy, wz * wz
    xy, yz, zx = wx * wy, wy * wz, wz * wx
    ax, ay, az = alpha
    return (
        (-(yy + zz), xy - az, zx + ay),
        (xy + az, -(zz + xx), yz - ax),
        (zx - ay, yz + ax, -(xx + yy)),
    )


@dataclass
class BodyMotion:
    """
    Motion of a body's frame, in its axes.

    Attributes:
        angular_velocity: Angular velocity.
        angular_acceleration: Angular acceleration.
        acceleration: Of the frame's origin, gravity taken off.
        matrix: U = [alpha]x + [omega]x [omega]x.
    """

    angular_velocity: Vector
    angular_acceleration: Vector
    acceleration: Vector
    matrix: Matrix


class BodyWrench(NamedTuple):
    """Force, moment about a body's origin, and modal forces; or their derivatives."""

    force: Vector
    moment: Vector
    modal: list[Scalar]

    def plus(self, other: BodyWrench) -> BodyWrench:
        """Return the sum."""
        modal = [a + b for a, b in zip_longest(self.modal, other.modal, fillvalue=0.0)]
        return BodyWrench(add(self.force, other.force), add(self.moment, other.moment), modal)


def about_axis(axis: Vector, angle: Scalar) -> Matrix:
    """Return the rotation by `angle` [rad] about a unit axis (Rodrigues' formula)."""
    x, y, z = axis
    c, s = cos(angle), sin(angle)
    versine = 1.0 - c
    xs, ys, zs = x * s, y * s, z * s
    xy, yz, zx = x * y * versine, y * z * versine, z * x * versine
    return (
        (x * x + c * (1.0 - x * x), xy - zs, zx + ys),
        (xy + zs, y * y + c * (1.0 - y * y), yz - xs),
        (zx - ys, yz + xs, z * z + c * (1.0 - z * z)),
    )


def rotate_tensor(rotation: Matrix, axis: int, m: Matrix, symmetric: bool = True) -> Matrix:
    """
    Return R m R^T for a rotation R about frame axis number `axis`.

    With e = s (m_ii - m_jj) + c (m_ij + m_ji) the block about the axis becomes m_ii - s e, c e -
    m_ji, c e - m_ij, m_jj + s e. That takes fewer operations than two matrix products, and keeps
    the trace exactly. Of a symmetric m one triangle is read.
    """
    i, j, k = (axis + 1) % 3, (axis + 2) % 3, axis
    c, s = rotation[i][i], rotation[j][i]
    a, rows = [list(row) for row in m], [list(row) for row in m]
    if symmetric:
        a[j][i], a[k][i], a[k][j] = m[i][j], m[i][k], m[j][k]
    e = s * (a[i][i] - a[j][j])
    e = e + (2.0 * c * a[i][j] if symmetric else c * (a[i][j] + a[j][i]))
    exchanged, mixed = s * e, c * e
    rows[i][i], rows[j][j] = a[i][i] - exchanged, a[j][j] + exchanged
    rows[i][j], rows[j][i] = mixed - a[j][i], mixed - a[i][j]
    rows[i][k], rows[j][k] = c * a[i][k] - s * a[j][k], s * a[i][k] + c * a[j][k]
    rows[k][i], rows[k][j] = c * a[k][i] - s * a[k][j], s * a[k][i] + c * a[k][j]
    return tuple(tuple(row) for row in rows)


def by_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Matrix:
    """Return the rotation of a unit quaternion with scalar part w."""
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
        (2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
        (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
    )


def by_vector(theta: Vector) -> Matrix:
    """Return exp([theta]x) for a rotation vector [rad], smooth through zero."""
    x, y, z = theta
    square = dot(theta, theta)
    c0, c1, c2 = stumpff(0, square), stumpff(1, square), stumpff(2, square)
    xs, ys, zs = c1 * x, c1 * y, c1 * z
    xy, yz, zx = c2 * x * y, c2 * y * z, c2 * z * x
    return (
        (c0 + c2 * x * x, xy - zs, zx + ys),
        (xy + zs, c0 + c2 * y * y, yz - xs),
        (zx - ys, yz + xs, c0 + c2 * z * z),
    )


def vector_angular_velocity(theta: Vector, rate: Vector) -> Vector:
    """
    Return the angular velocity of exp([theta]x) in the fixed axes for d theta / dt = rate.

    The left Jacobian of the rotation group (Chirikjian, Stochastic Models, Information Theory,
    and Lie Groups, vol. 2, 2012, section 10.7): rate + c_2 theta x rate
    + c_3 theta x (theta x rate) with Stumpff's c_k of theta . theta.
    """
    square = dot(theta, theta)
    across = cross(theta, rate)
    return add(
        rate,
        add(scale(stumpff(2, square), across), scale(stumpff(3, square), cross(theta, across))),
    )


def vector_angular_bias(theta: Vector, rate: Vector) -> Vector:
    """Return the part of d/dt vector_angular_velocity(theta, rate) that is quadratic in rate."""
    square = dot(theta, theta)
    c3, c4, c5 = stumpff(3, square), stumpff(4, square), stumpff(5, square)
    across = cross(theta, rate)
    square_rate = 2.0 * dot(theta, rate)
    # c_k' = (k c_(k+2) - c_(k+1)) / 2; the terms in rate x rate vanish.
    c2_rate = 0.5 * (2.0 * c4 - c3) * square_rate
    c3_rate = 0.5 * (3.0 * c5 - c4) * square_rate
    return add(
        add(scale(c2_rate, across), scale(c3_rate, cross(theta, across))),
        scale(c3, cross(rate, across)),
    )


def vector_angular_rate(theta: Vector, theta_rate: Vector, rate: Vector) -> Vector:
    """Return d/dt vector_angular_velocity(theta, rate) for d theta / dt, `rate` held."""
    square = dot(theta, theta)
    c2, c3, c4, c5 = (stumpff(k, square) for k in (2, 3, 4, 5))
    across, along = cross(theta, rate), dot(theta, theta_rate)
    swept = add(cross(theta_rate, across), cross(theta, cross(theta_rate, rate)))
    # c_k' = (k c_(k+2) - c_(k+1)) / 2.
    return add(
        add(scale((2.0 * c4 - c3) * along, across), scale(c2, cross(theta_rate, rate))),
        add(scale((3.0 * c5 - c4) * along, cross(theta, across)), scale(c3, swept)),
    )

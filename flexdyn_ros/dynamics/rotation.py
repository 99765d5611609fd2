# SPDX-License-Identifier: Apache-2.0
"""Rotations: about an axis, by a quaternion, and by a rotation vector with its rates."""

from flexdyn_ros.dynamics.scalar import cos
from flexdyn_ros.dynamics.scalar import Scalar
from flexdyn_ros.dynamics.scalar import sin
from flexdyn_ros.dynamics.scalar import stumpff
from flexdyn_ros.dynamics.spatial import add
from flexdyn_ros.dynamics.spatial import cross
from flexdyn_ros.dynamics.spatial import dot
from flexdyn_ros.dynamics.spatial import Matrix
from flexdyn_ros.dynamics.spatial import scale
from flexdyn_ros.dynamics.spatial import Vector


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


def turn_tensor(turn: Matrix, axis: int, m: Matrix) -> Matrix:
    """
    Return R m R^T of a symmetric m for a rotation R about frame axis number `axis`.

    With e = 2 c m_ij + s (m_ii - m_jj): m_ii - s e, m_jj + s e and c e - m_ij take fewer
    operations than two matrix products, and keep the trace to the letter.
    """
    i, j, k = (axis + 1) % 3, (axis + 2) % 3, axis
    c, s = turn[i][i], turn[j][i]
    e = s * (m[i][i] - m[j][j]) + 2.0 * c * m[i][j]
    moved = s * e
    rows = [[m[k][k]] * 3 for _ in range(3)]
    rows[i][i], rows[j][j] = m[i][i] - moved, m[j][j] + moved
    rows[i][j] = rows[j][i] = c * e - m[i][j]
    rows[i][k] = rows[k][i] = c * m[i][k] - s * m[j][k]
    rows[j][k] = rows[k][j] = s * m[i][k] + c * m[j][k]
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


def vector_spin(theta: Vector, rate: Vector) -> Vector:
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


def vector_spin_rate(theta: Vector, rate: Vector) -> Vector:
    """Return the part of d/dt vector_spin(theta, rate) that is quadratic in rate."""
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

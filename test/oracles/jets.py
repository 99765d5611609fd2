# SPDX-License-Identifier: Apache-2.0
"""
Arrays that carry their first and second time derivatives.

The product rule applied to value, rate and acceleration is exact. A position written as a chain of
products thus yields velocity and acceleration without any formula of dynamics.
"""

from __future__ import annotations

import numpy as np


class Jet:
    """
    A time-dependent array: value, first and second time derivative.

    Attributes:
        value: The array at the instant.
        rate: Its first time derivative, same shape after broadcasting.
        accel: Its second time derivative, same shape after broadcasting.
    """

    __slots__ = ('value', 'rate', 'accel')
    __array_ufunc__ = None

    def __init__(self, value, rate=0.0, accel=0.0):
        self.value = np.asarray(value, dtype=float)
        self.rate, self.accel = (
            # np.broadcast_to takes most of the time of small products.
            each if each.shape == self.value.shape else np.broadcast_to(each, self.value.shape)
            for each in (np.asarray(rate, dtype=float), np.asarray(accel, dtype=float))
        )

    def __add__(self, other):
        other = as_jet(other)
        return Jet.of(
            self.value + other.value, self.rate + other.rate, self.accel + other.accel
        )

    __radd__ = __add__

    def __neg__(self):
        return Jet(-self.value, -self.rate, -self.accel)

    def __sub__(self, other):
        return self + (-as_jet(other))

    def _product(self, other, multiply):
        if not isinstance(other, Jet):
            return Jet.of(*(multiply(x, other) for x in (self.value, self.rate, self.accel)))
        return Jet.of(
            multiply(self.value, other.value),
            multiply(self.rate, other.value) + multiply(self.value, other.rate),
            multiply(self.accel, other.value)
            + 2.0 * multiply(self.rate, other.rate)
            + multiply(self.value, other.accel),
        )

    def __mul__(self, other):
        return self._product(other, np.multiply)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self._product(other, np.matmul)

    def __rmatmul__(self, other):
        return as_jet(other) @ self

    def __getitem__(self, index):
        return Jet(self.value[index], self.rate[index], self.accel[index])

    @classmethod
    def of(cls, value, rate, accel) -> Jet:
        """Return a jet of three arrays, broadcast against each other."""
        if not value.shape == rate.shape == accel.shape:
            value, rate, accel = np.broadcast_arrays(value, rate, accel)
        return cls(value, rate, accel)


def as_jet(thing) -> Jet:
    """Return `thing` if it is a jet, else a jet that does not move."""
    return thing if isinstance(thing, Jet) else Jet(thing)


def sin_cos(angle: Jet) -> tuple[Jet, Jet]:
    """Return sine and cosine of a jet [rad]."""
    s, c = np.sin(angle.value), np.cos(angle.value)
    sine = Jet(s, c * angle.rate, c * angle.accel - s * angle.rate**2)
    cosine = Jet(c, -s * angle.rate, -s * angle.accel - c * angle.rate**2)
    return sine, cosine


def skew_combination(x: Jet, y: Jet, z: Jet) -> Jet:
    """Return the matrix [v]x of v = (x, y, z), so that [v]x u = v x u; shape (..., 3, 3)."""
    generators = np.zeros((3, 3, 3))
    generators[0, 1, 2], generators[0, 2, 1] = -1.0, 1.0
    generators[1, 0, 2], generators[1, 2, 0] = 1.0, -1.0
    generators[2, 0, 1], generators[2, 1, 0] = -1.0, 1.0
    total = as_jet(np.zeros((3, 3)))
    for scalar, generator in zip((x, y, z), generators, strict=True):
        total = total + scalar[..., None, None] * generator
    return total


def axis_rotation(axis, angle: Jet) -> Jet:
    """Return the rotation about a unit axis by a jet of angles (...), (..., 3, 3)."""
    axis = np.asarray(axis, float)
    along = np.outer(axis, axis)
    turn = np.cross(np.eye(3), axis)
    sine, cosine = sin_cos(angle)
    return cosine[..., None, None] * (np.eye(3) - along) + sine[..., None, None] * turn + along


def rotation_exponential(x: Jet, y: Jet, z: Jet, terms: int = 36) -> Jet:
    """Return exp([v]x) of the rotation vector v = (x, y, z) by its power series."""
    generator = skew_combination(x, y, z)
    power = as_jet(np.eye(3))
    total = power
    for k in range(1, terms):
        power = (power @ generator) * (1.0 / k)
        total = total + power
    return total


def transform(rotation, position) -> Jet:
    """Return the homogeneous transform of a rotation (..., 3, 3) and a position (..., 3)."""
    rotation, position = as_jet(rotation), as_jet(position)
    shape = np.broadcast_shapes(rotation.value.shape[:-2], position.value.shape[:-1])
    parts = []
    for name in ('value', 'rate', 'accel'):
        matrix = np.zeros((*shape, 4, 4))
        matrix[..., :3, :3] = getattr(rotation, name)
        matrix[..., :3, 3] = getattr(position, name)
        matrix[..., 3, 3] = 1.0 if name == 'value' else 0.0
        parts.append(matrix)
    return Jet(*parts)


def moved_points(frame: Jet, points) -> Jet:
    """Return `points` (..., P, 3), given in `frame` (B, 4, 4), in the root frame (B, P, 3)."""
    rotation = frame[..., :3, :3]
    turned = Jet(
        np.swapaxes(rotation.value, -1, -2),
        np.swapaxes(rotation.rate, -1, -2),
        np.swapaxes(rotation.accel, -1, -2),
    )
    return as_jet(points) @ turned + frame[..., None, :3, 3]


def angular_rates(rotation: Jet) -> tuple[np.ndarray, np.ndarray]:
    """Return angular velocity and acceleration of a rotation jet, in the axes it maps to."""
    r = np.swapaxes(rotation.value, -1, -2)
    rd = np.swapaxes(rotation.rate, -1, -2)
    spin = rotation.rate @ r
    spin_rate = rotation.accel @ r + rotation.rate @ rd
    return _vee(spin), _vee(spin_rate)


def _vee(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * np.stack(
        (
            matrix[..., 2, 1] - matrix[..., 1, 2],
            matrix[..., 0, 2] - matrix[..., 2, 0],
            matrix[..., 1, 0] - matrix[..., 0, 1],
        ),
        axis=-1,
    )

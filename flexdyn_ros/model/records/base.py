# SPDX-License-Identifier: Apache-2.0
"""Vectors, matrices and the base of the records: values that compare, hash and print."""

from __future__ import annotations

from dataclasses import fields
import math
from typing import Iterable

import numpy as np
from numpy.typing import ArrayLike

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]
IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Vector3 = (0.0, 0.0, 0.0)


def symmetric_matrix3(array: np.ndarray) -> Matrix3:
    """Return a (3, 3) array that is symmetric but for rounding as a symmetric tuple of tuples."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (array + 0.0).tolist()  # + 0.0 turns -0.0 to 0.0
    xy, xz, yz = 0.5 * (xy + yx), 0.5 * (xz + zx), 0.5 * (yz + zy)
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def symmetric_matrix(values: Iterable) -> tuple:
    """Return a symmetric matrix from its entries xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = values
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def cross_matrices(vectors: ArrayLike) -> np.ndarray:
    """Return the matrices of the cross products with vectors (..., 3), (..., 3, 3)."""
    rows = np.asarray(vectors)
    found = np.zeros((*rows.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        found[..., j, k], found[..., k, j] = -rows[..., i], rows[..., i]
    return found


def axial_vectors(matrices: np.ndarray) -> np.ndarray:
    """Return the sums of a x b of matrices that are sums of a b^T, (..., 3, 3) to (..., 3)."""
    pairs = ((1, 2), (2, 0), (0, 1))
    return np.stack([matrices[..., j, k] - matrices[..., k, j] for j, k in pairs], axis=-1)


class Record:
    """Base of frozen dataclasses that print the fields which differ from their defaults."""

    def __repr__(self) -> str:
        """Return the call that makes the record."""
        parts = [
            f'{field.name}={getattr(self, field.name)!r}'
            for field in fields(self)  # type: ignore[arg-type]
            if field.repr and getattr(self, field.name) != field.default
        ]
        return f'{type(self).__name__}({", ".join(parts)})'


def rotation_from_rpy(rpy: Vector3) -> Matrix3:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll) for fixed-axis angles [rad], as URDF has them."""
    (sr, sp, sy), (cr, cp, cy) = map(math.sin, rpy), map(math.cos, rpy)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (0.0 - sp, cp * sr, cp * cr),
    )

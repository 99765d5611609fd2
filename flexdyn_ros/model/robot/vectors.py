# SPDX-License-Identifier: Apache-2.0
"""Vectors and matrices of the records: tuples of floats, which compare and hash by value."""

import numpy as np

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]

IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Vector3 = (0.0, 0.0, 0.0)


def symmetric_matrix3(array: np.ndarray) -> Matrix3:
    """Return a (3, 3) array that is symmetric but for rounding as a symmetric tuple of tuples."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (array + 0.0).tolist()  # + 0.0 turns -0.0 to 0.0
    xy, xz, yz = 0.5 * (xy + yx), 0.5 * (xz + zx), 0.5 * (yz + zy)
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))

# SPDX-License-Identifier: Apache-2.0
"""Vectors, matrices and the base of the records: values that compare, hash and print."""

from __future__ import annotations

from dataclasses import fields

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

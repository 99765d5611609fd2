# SPDX-License-Identifier: Apache-2.0
"""Vectors and matrices of the records: tuples of floats, which compare and hash by value."""

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]

IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Vector3 = (0.0, 0.0, 0.0)

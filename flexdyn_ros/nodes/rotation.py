# SPDX-License-Identifier: Apache-2.0
"""Rotation matrices as quaternions."""

import numpy as np


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """
    Return the unit quaternion x, y, z, w of a rotation matrix, w not negative.

    Shepperd (1978): solved for the largest component first, so that nothing is divided by a
    small number.

    Args:
        rotation: Shape (3, 3).

    Returns:
        Shape (4,).
    """
    r = np.asarray(rotation)
    trace = np.trace(r)
    squares = np.array([*(1.0 + 2.0 * np.diag(r) - trace), 1.0 + trace])  # 4 x^2, .., 4 w^2
    k = int(np.argmax(squares))
    difference = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    if k == 3:
        q = np.array([*difference, squares[3]])
    else:
        q = np.array([*(r[k] + r[:, k]), difference[k]])
        q[k] = squares[k]
    q = q / np.linalg.norm(q)
    return -q if q[3] < 0.0 else q

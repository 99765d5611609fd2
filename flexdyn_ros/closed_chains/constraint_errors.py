# SPDX-License-Identifier: Apache-2.0
"""Constraint errors of the loops, in their constrained directions."""

from __future__ import annotations

import math
from typing import Any, Sequence

from flexdyn_ros.model.configuration import rotation_vector
from flexdyn_ros.model.records.robot import DIRECTIONS, Loop
import numpy as np


def constraint_errors(loops: Sequence[Loop], poses: Sequence[Sequence[float]]) -> np.ndarray:
    """
    Return the constraint errors, one a constrained direction, (n_constraints,) [m | rad].

    The errors are the place of frame1's origin in frame2, and a rotation. With three or one
    constrained rotations it is the rotation vector. With two it is the turn that takes the axis
    of the third one to its place. To first order each changes as the constraint's velocity.

    Args:
        loops: The loops.
        poses: Of each, nine entries of frame1's rotation in frame2 by rows, then the place [m].
    """
    errors: list[float] = []
    for loop, pose in zip(loops, poses):
        directions = [DIRECTIONS.index(name) for name in loop.constrain]
        rotations = [k for k in directions if k < 3]
        rotation = _rotation_vector(pose, rotations) if rotations else (0.0, 0.0, 0.0)
        errors += [rotation[k] if k < 3 else pose[9 + k - 3] for k in directions]
    return np.array(errors)


def _rotation_vector(pose: Sequence[float], rotations: list[int]) -> Any:
    if len(rotations) == 2:
        free = ({0, 1, 2} - set(rotations)).pop()
        return _axis_rotation(pose[free], pose[3 + free], pose[6 + free], free)
    return rotation_vector(np.reshape(pose[:9], (3, 3)))


def _axis_rotation(x: float, y: float, z: float, axis: int) -> Sequence[float]:
    """Return the rotation vector that takes frame axis number `axis` to (x, y, z)."""
    normal = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))[axis]
    size = math.hypot(*normal)
    along = (x, y, z)[axis]
    if size < 1e-300:
        if along > 0.0:
            return (0.0, 0.0, 0.0)
        # Turned over: any perpendicular axis will do.
        return tuple(math.pi if k == (axis + 1) % 3 else 0.0 for k in range(3))
    factor = math.atan2(size, along) / size
    return tuple(factor * part for part in normal)

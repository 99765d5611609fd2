# SPDX-License-Identifier: Apache-2.0
"""
The configurations of a robot as places that velocities lead away from.

Where a joint has a unit quaternion x, y, z, w (child axes to parent axes), its velocity is the
angular velocity in body axes. A floating joint's linear velocity is in body axes too.
"""

from __future__ import annotations

import math
from typing import Iterable

from flexdyn_ros.model.records.robot import Robot
import numpy as np


class ConfigurationSpace:
    """
    Steps in configuration space along velocities, and offsets back.

    Attributes:
        nq: Number of configuration coordinates.
        nv: Number of velocity coordinates.
        velocity_of: For each entry of q, the velocity coordinate that it belongs to, (nq,).
        plain_q: Entries of q whose rates are velocities, (n,).
        plain_v: Those velocities' entries in v, (n,).
        floating: First entries of each floating joint in q and in v.
        quaternions: First entries of each quaternion in q, and of its angular velocity in v.
    """

    def __init__(self, robot: Robot):
        self.nq, self.nv = robot.nq, robot.nv
        self.floating: list[tuple[int, int]] = []
        self.quaternions: list[tuple[int, int]] = []
        turned_q: set[int] = set()
        turned_v: set[int] = set()
        velocity_of: list[int] = []
        v = 0
        for joint in robot.joints:
            at, q = joint.quaternion_place, len(velocity_of)
            velocity_of += range(v, v + len(joint.coordinate_names))
            if at is not None:
                velocity_of.insert(q + at + 3, v + at + 2)
                self.quaternions.append((q + at, v + at))
                first = 0 if joint.type == 'floating' else at
                turned_q.update(range(q + first, q + at + 4))
                turned_v.update(range(v + first, v + at + 3))
            if joint.type == 'floating':
                self.floating.append((q, v))
            v += len(joint.coordinate_names)
        self.velocity_of = (*velocity_of, *range(v, self.nv))
        self.plain_q = np.array([k for k in range(self.nq) if k not in turned_q], dtype=int)
        self.plain_v = np.array([k for k in range(self.nv) if k not in turned_v], dtype=int)

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return the configuration (nq,) that lies `step`, (nv,), from q."""
        if not self.quaternions:
            return q + step
        result = q.copy()
        result[self.plain_q] += step[self.plain_v]
        for i, j in self.floating:
            result[i : i + 3] += quaternion_matrix(q[i + 3 : i + 7]) @ step[j : j + 3]
        for i, j in self.quaternions:
            rotated = quaternion_product(q[i : i + 4], _exponential(step[j : j + 3]))
            result[i : i + 4] = rotated / math.sqrt(rotated @ rotated)
        return result

    def offset(self, start: np.ndarray, q: np.ndarray) -> np.ndarray:
        """
        Return the offset of q from a start, (nv,): the gradient at q of half its square.

        Turns are rotation vectors, and a floating joint's shift is in the axes that it has at q.
        """
        if not self.quaternions:
            return q - start
        result = np.zeros(self.nv)
        result[self.plain_v] = q[self.plain_q] - start[self.plain_q]
        for i, j in self.floating:
            shift = q[i : i + 3] - start[i : i + 3]
            result[j : j + 3] = quaternion_matrix(q[i + 3 : i + 7]).T @ shift
        for i, j in self.quaternions:
            before, after = (quaternion_matrix(x[i : i + 4]) for x in (start, q))
            result[j : j + 3] = rotation_vector(before.T @ after)
        return result


def quaternion_matrix(p: np.ndarray) -> np.ndarray:
    """Return the (3, 3) rotation from body to parent axes of a quaternion p = (x, y, z, w)."""
    x, y, z, w = np.asarray(p, dtype=float) / np.linalg.norm(p)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])


def quaternion_product(a: Iterable[float], b: Iterable[float]) -> np.ndarray:
    """Return the product of two quaternions x y z w (Diebel 2006, equation 82)."""
    x, y, z, w = a
    p, q, r, s = b
    return np.array([
        w * p + y * r - z * q + x * s, w * q + z * p - x * r + y * s,
        w * r + x * q - y * p + z * s, w * s - x * p - y * q - z * r,
    ])


def _exponential(rotation: np.ndarray) -> np.ndarray:
    """Return the quaternion x y z w of a rotation vector."""
    half = 0.5 * math.sqrt(rotation @ rotation)
    factor = 0.5 if half < 1e-9 else 0.5 * math.sin(half) / half
    return np.array([*(factor * rotation), math.cos(half)])


def rotation_vector(r: np.ndarray) -> np.ndarray:
    """Return the rotation vector of a rotation (3, 3), of a length up to pi."""
    half = 0.5 * np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    sine, cosine = math.sqrt(half @ half), 0.5 * (r[0, 0] + r[1, 1] + r[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if sine > 1e-6:
        return half * (angle / sine)
    if cosine > 0.0:
        return half
    # Near half a turn 1 + R = 2 a a^T holds the axis a; its sign is that of the sine's.
    outer = 0.5 * (r + r.T + 2.0 * np.eye(3)) / 2.0
    k = int(np.argmax(np.diag(outer)))
    axis = outer[k] / math.sqrt(outer[k, k])
    return angle * (axis if axis @ half >= 0.0 else -axis)

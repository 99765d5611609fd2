# SPDX-License-Identifier: Apache-2.0
"""Steps in configuration space along velocities, and offsets back; joints may have quaternions."""

from __future__ import annotations

import math

from flexdyn_ros.closed_chains.constraint_errors import rotation_vector
from flexdyn_ros.model.records.robot import Robot
import numpy as np


class ConfigurationSpace:
    """
    The configurations of a robot as places that velocities lead away from.

    Attributes:
        nq: Number of configuration coordinates.
        nv: Number of velocity coordinates.
    """

    def __init__(self, robot: Robot):
        self.nq, self.nv = robot.nq, robot.nv
        self._quaternions: list[tuple[int, int]] = []  # first entries in q and in v
        self._in_child_axes: list[tuple[int, int, int]] = []  # place in q, quaternion, speed in v
        plain: list[tuple[int, int]] = []
        at_q = at_v = 0
        for joint in robot.joints:
            start = joint.quaternion_place
            count = len(joint.coordinate_names)
            if joint.type == 'floating':
                self._in_child_axes.append((at_q, at_q + 3, at_v))
            if start is not None:
                self._quaternions.append((at_q + start, at_v + start))
            for k in range(count):
                if start is None or (k >= start + 3):
                    plain.append((at_q + k + (start is not None), at_v + k))
                elif k < start and joint.type != 'floating':
                    plain.append((at_q + k, at_v + k))
            at_q += len(joint.position_names)
            at_v += count
        plain += [(at_q + k, at_v + k) for k in range(robot.n_modes)]
        self._plain_q = np.array([a for a, _ in plain], dtype=int)
        self._plain_v = np.array([b for _, b in plain], dtype=int)

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return the configuration (nq,) that lies `step`, (nv,), from q."""
        if not self._quaternions:
            return q + step
        result = q.copy()
        result[self._plain_q] += step[self._plain_v]
        for at, quaternion, speed in self._in_child_axes:
            rotation = _matrix(q[quaternion : quaternion + 4])
            result[at : at + 3] += rotation @ step[speed : speed + 3]
        for at, angular in self._quaternions:
            rotated = _product(q[at : at + 4], _exponential(step[angular : angular + 3]))
            result[at : at + 4] = rotated / math.sqrt(rotated @ rotated)
        return result

    def offset(self, start: np.ndarray, q: np.ndarray) -> np.ndarray:
        """
        Return where q lies as seen from a start, (nv,): the gradient at q of half its square.

        Turns are rotation vectors, and a floating joint's shift is in the axes that it has at q.
        """
        if not self._quaternions:
            return q - start
        result = np.zeros(self.nv)
        result[self._plain_v] = q[self._plain_q] - start[self._plain_q]
        for at, quaternion, speed in self._in_child_axes:
            shift = q[at : at + 3] - start[at : at + 3]
            result[speed : speed + 3] = _matrix(q[quaternion : quaternion + 4]).T @ shift
        for at, angular in self._quaternions:
            rotation = _matrix(start[at : at + 4]).T @ _matrix(q[at : at + 4])
            result[angular : angular + 3] = rotation_vector(rotation)
        return result


def _matrix(p: np.ndarray) -> np.ndarray:
    x, y, z, w = p / math.sqrt(p @ p)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])


def _exponential(rotation: np.ndarray) -> np.ndarray:
    """Return the quaternion x y z w of a rotation vector."""
    half = 0.5 * math.sqrt(rotation @ rotation)
    factor = 0.5 if half < 1e-9 else 0.5 * math.sin(half) / half
    return np.array([*(factor * rotation), math.cos(half)])


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product of two quaternions x y z w."""
    x, y, z, w = a
    p, q, r, s = b
    return np.array([
        w * p + x * s + y * r - z * q, w * q - x * r + y * s + z * p,
        w * r + x * q - y * p + z * s, w * s - x * p - y * q - z * r,
    ])

# SPDX-License-Identifier: Apache-2.0
"""The desired joint motion: from rest to rest between points, by polynomials of fifth degree."""

from __future__ import annotations

from bisect import bisect_right
from typing import Sequence

import numpy as np


class RestToRest:
    """
    A joint motion through points of rest.

    Between two points each joint follows 10 s^3 - 15 s^4 + 6 s^5 over s from 0 to 1, the quintic
    polynomial with zero velocity and acceleration at both ends (Spong, Hutchinson and Vidyasagar,
    "Robot Modeling and Control", on trajectory planning). Before the first point and after the
    last the arm rests.

    Attributes:
        times: Times of the points [s].
        points: Positions there, shape (n, joints) [rad | m].
    """

    def __init__(self, points: Sequence[tuple[float, Sequence[float]]]):
        """
        Set the points.

        Args:
            points: Pairs of time [s] and joint positions [rad | m], in the order of time.
        """
        self.times = [float(time) for time, _ in points]
        self.points = np.array([position for _, position in points], dtype=float)

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return positions, velocities and accelerations, each of shape (joints,).

        Args:
            time: [s].
        """
        rest = np.zeros(self.points.shape[1])
        k = bisect_right(self.times, time)
        if k == 0:
            return self.points[0].copy(), rest, rest.copy()
        if k == len(self.times):
            return self.points[-1].copy(), rest, rest.copy()
        duration = self.times[k] - self.times[k - 1]
        s = (time - self.times[k - 1]) / duration
        way = self.points[k] - self.points[k - 1]
        position = self.points[k - 1] + way * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        velocity = way * 30.0 * s**2 * (1.0 - s) ** 2 / duration
        acceleration = way * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2
        return position, velocity, acceleration

# SPDX-License-Identifier: Apache-2.0
"""Accelerations estimated from measured velocities."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np


class FilteredDifferentiator:
    """Differences of successive velocities through a first-order low-pass filter."""

    def __init__(self, cutoff_frequency: float):
        """
        Start at rest.

        Args:
            cutoff_frequency: Of the low-pass filter [Hz].
        """
        self._rate = 2.0 * math.pi * cutoff_frequency
        self._time: Optional[float] = None
        self._velocity = np.zeros(0)
        self._acceleration = np.zeros(0)

    def acceleration(self, time: float, velocity: np.ndarray) -> np.ndarray:
        """
        Return the filtered acceleration, zero at first and after a step back in time.

        Args:
            time: Time of the measurement [s].
            velocity: Shape (n,) [rad/s | m/s].

        Returns:
            Shape (n,) [rad/s^2 | m/s^2].
        """
        if self._time is None or time < self._time:
            self._acceleration = np.zeros_like(velocity)
        elif time > self._time:
            step = time - self._time
            weight = 1.0 - math.exp(-self._rate * step)
            difference = (velocity - self._velocity) / step
            self._acceleration = self._acceleration + weight * (difference - self._acceleration)
        self._time, self._velocity = time, velocity
        return self._acceleration

# SPDX-License-Identifier: Apache-2.0
"""Statistics of how long computations take."""

from collections import deque

import numpy as np


class ComputeTimes:
    """
    The last computation times and the cycles that they cost.

    Attributes:
        budget: Time that one computation may take [s].
        over_budget: Number of computations that took longer.
        missed: Number of computations that took longer than the interval between their inputs,
            so that an input was dropped from the queue of depth one.
    """

    def __init__(self, budget: float, length: int = 1000):
        self.budget = budget
        self.over_budget = 0
        self.missed = 0
        self._times: deque = deque(maxlen=length)

    def add(self, duration: float, interval: float = np.inf) -> None:
        """
        Record one computation.

        Args:
            duration: Time that it took [s].
            interval: Time between this input and the one before [s].
        """
        self._times.append(duration)
        self.over_budget += duration > self.budget
        self.missed += duration > interval

    def summary(self) -> dict[str, float]:
        """Return mean, 99th percentile and maximum [s]; zeros before the first computation."""
        times = np.array(self._times) if self._times else np.zeros(1)
        return {
            'compute_time_mean': float(times.mean()),
            'compute_time_p99': float(np.percentile(times, 99)),
            'compute_time_max': float(times.max()),
        }

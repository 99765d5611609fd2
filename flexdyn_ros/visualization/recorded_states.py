# SPDX-License-Identifier: Apache-2.0
"""Configurations over time that a view records and plays, beside a second motion."""

from __future__ import annotations

from typing import Optional, Sequence

from flexdyn_ros.simulation.record import Trajectory
import numpy as np

LONGEST = 600.0  # [s]
PAUSE = 0.5  # at the end, before it starts again [s]
Played = tuple[Optional[np.ndarray], Optional[np.ndarray], float]


class RecordedStates:
    """
    One motion that is played, and a second one beside it.

    Attributes:
        end: Time of the last sample [s].
    """

    def __init__(self, motions: Sequence[Trajectory]):
        """Take the motions, at most two."""
        self._motions = [(motion.t - motion.t[0], motion.q) for motion in motions[:2]]
        self._kept: Optional[list[tuple[float, np.ndarray]]] = None
        self._started: Optional[float] = None
        self.end = max((float(t[-1]) for t, _ in self._motions), default=0.0)

    def toggle(self) -> bool:
        """Start recording, or end it and play that instead; return whether it records."""
        kept, self._kept = self._kept, [] if self._kept is None else None
        if kept:
            times = np.array([t for t, _ in kept])
            self._motions = [(times - times[0], np.array([q for _, q in kept]))]
            self.end, self._started = float(times[-1] - times[0]), None
        return self._kept is not None

    def keep(self, now: float, q: np.ndarray) -> None:
        """Record a configuration at a time [s], where that is on."""
        if self._kept is not None and (not self._kept or now - self._kept[0][0] < LONGEST):
            self._kept.append((now, q.copy()))

    def at(self, t: Optional[float], now: float) -> Played:
        """
        Return configurations, None where there is no such motion, and their time [s].

        Args:
            t: Their time [s]; None plays on, again and again.
            now: The present time [s].
        """
        if t is None:
            if self._started is None or now - self._started > self.end + PAUSE:
                self._started = now
            t = min(now - self._started, self.end)
        else:
            self._started = now - t
        found = [q[min(int(np.searchsorted(times, t)), len(q) - 1)] for times, q in self._motions]
        return (*found, None, None)[0], (*found, None, None)[1], t

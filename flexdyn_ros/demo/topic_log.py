# SPDX-License-Identifier: Apache-2.0
"""What was heard on each topic: counts, rates, and the values by simulated time."""

from __future__ import annotations

from typing import Any
from typing import Optional
from typing import Sequence

import numpy as np


class TopicLog:
    """
    Counts the messages of one topic.

    Attributes:
        topic: Full name.
        kind: Message type, such as "sensor_msgs/JointState".
        count: Number of messages.
        repeated: How many of them came with a stamp that had been heard before.
    """

    def __init__(self, topic: str, kind: str):
        self.topic = topic
        self.kind = kind
        self.count = 0
        self.repeated = 0
        self._stamps: set[int] = set()
        self._first: Optional[float] = None
        self._last = 0.0

    def heard(self, when: float, stamp: Optional[int] = None) -> bool:
        """
        Count a message.

        Args:
            when: Steady time of arrival [s].
            stamp: Its stamp [ns], where it has one.

        Returns:
            Whether its stamp is new.
        """
        if self._first is None:
            self._first = when
        self._last = when
        self.count += 1
        if stamp is None:
            return True
        new = stamp not in self._stamps
        self._stamps.add(stamp)
        self.repeated += not new
        return new

    @property
    def distinct(self) -> int:
        """Number of messages without those that repeat a stamp."""
        return self.count - self.repeated

    def summary(self, simulated: float) -> dict[str, Any]:
        """
        Return counts and rates.

        Args:
            simulated: Simulated time that was recorded [s].
        """
        real = self._last - self._first if self._first is not None else 0.0
        return {
            'type': self.kind,
            'messages': self.count,
            'repeated': self.repeated,
            'rate_in_simulated_time_hz': round(self.distinct / simulated, 3) if simulated else 0.0,
            'rate_in_real_time_hz': round((self.count - 1) / real, 3) if real > 0.0 else 0.0,
        }


class Series:
    """
    Rows of numbers by time.

    Attributes:
        names: Names of the columns.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._rows: dict[int, np.ndarray] = {}

    def add(self, stamp: int, names: Sequence[str], *columns: Sequence[float]) -> None:
        """
        Keep one row.

        Args:
            stamp: Time [ns].
            names: One a column.
            columns: Vectors, kept one after the other.
        """
        self.names = self.names or tuple(names)
        self._rows[stamp] = np.concatenate([np.asarray(column, dtype=float) for column in columns])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    @property
    def times(self) -> np.ndarray:
        """Times in order, shape (n,) [s]."""
        return np.array(sorted(self._rows)) * 1e-9

    @property
    def values(self) -> np.ndarray:
        """Rows in the order of time, shape (n, columns)."""
        return np.array([self._rows[stamp] for stamp in sorted(self._rows)])

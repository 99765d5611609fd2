# SPDX-License-Identifier: Apache-2.0
"""Times of messages and computations: ages, stamps, and durations."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from time import time_ns
from typing import Any, Hashable, NamedTuple, Optional

import numpy as np

NANOSECONDS = 10**9  # in a second


def nanoseconds(time: Any) -> int:
    """Return a builtin_interfaces/Time or Duration as a whole number [ns]."""
    return int(time.sec) * NANOSECONDS + int(time.nanosec)


def seconds(time: Any) -> float:
    """Return a builtin_interfaces/Time or Duration as a number [s]."""
    return time.sec + time.nanosec / NANOSECONDS


class Watchdog:
    """
    Detects an input that has stopped.

    Attributes:
        timeout: Age from which the input is stale [s]; 0 or less means never.
    """

    def __init__(self, timeout: float):
        self.timeout = timeout
        self._fed: Optional[float] = None

    def feed(self, now: float) -> None:
        """Note that the input arrived at the steady time `now` [s]."""
        self._fed = now

    def clear(self) -> None:
        """Discard the input, as if it had never arrived."""
        self._fed = None

    @property
    def started(self) -> bool:
        """Whether the input has arrived at least once."""
        return self._fed is not None

    def age(self, now: float) -> Optional[float]:
        """Return the time since the last arrival [s], or None before the first."""
        return None if self._fed is None else now - self._fed

    def stale(self, now: float) -> bool:
        """Return whether the input has arrived once and is now older than the timeout."""
        age = self.age(now)
        return age is not None and self.timeout > 0.0 and age > self.timeout


FUTURE = 1.0  # lead that stamps may have over the node's clock in real time [s]
SOURCES = 64  # publishers that are distinguished by the names in their messages

STANDS_STILL, RUNS_BACK = 'stamp_stands_still', 'stamp_runs_back'
IN_FUTURE, TOO_OLD = 'stamp_in_future', 'stamp_too_old'


class NodeClock(NamedTuple):
    """
    The clock of a node at one time.

    Attributes:
        time: [ns]; 0 while it is not known.
        simulated: Whether it is that of a simulation, which may stand still.
        max_delay: Age from which a stamp is too old [s]; 0 means any age is fine.
    """

    time: int
    simulated: bool = False
    max_delay: float = 0.0

    @classmethod
    def of(cls, clock: Any, max_delay: float) -> NodeClock:
        """Return the time of a node's rclpy clock, of the system's where none is simulated."""
        simulated = clock.ros_time_is_active
        now = clock.now().nanoseconds if simulated else time_ns()
        return cls(now, simulated, max_delay)


@dataclass
class _Source:
    stamp: int
    content: Any
    backwards: int = 0


class MessageStamps:
    """
    Compares the stamp of each message with the one before from the same source.

    A message is repeated where stamp and content are the same as before. Stamps that run back
    are refused until more than `patience` have come in a row: the time has been set anew then.
    """

    def __init__(self, patience: int = 5):
        """
        Start without messages.

        Args:
            patience: Number of stamps in a row that are refused for running back.
        """
        self._patience = patience
        self._sources: dict[Hashable, _Source] = {}
        self.repeated = False
        """Whether the last message was a repetition."""

    def problem(
        self, source: Hashable, stamp: int, content: Any, clock: NodeClock
    ) -> Optional[tuple[str, str]]:
        """
        Return the kind of a fault and a sentence on it, or None.

        Args:
            source: The key that the messages of one publisher share.
            stamp: Stamp of the message [ns]; 0 means none, which is no fault.
            content: Its values, to be compared.
            clock: The node's clock.
        """
        self.repeated = False
        if stamp == 0:
            return None
        return self._against_clock(stamp, clock) or self._against_last(source, stamp, content)

    @staticmethod
    def _against_clock(stamp: int, clock: NodeClock) -> Optional[tuple[str, str]]:
        if clock.time <= 0:
            return None
        ahead = (stamp - clock.time) / NANOSECONDS
        # The clock of a simulation may come later than its states.
        if ahead > max(clock.max_delay, FUTURE) and not clock.simulated:
            return IN_FUTURE, f'the stamp lies {ahead:.3g} s in the future'
        if 0.0 < clock.max_delay < -ahead:
            return TOO_OLD, f'the stamp is {-ahead:.3g} s old, max_delay is {clock.max_delay:g} s'
        return None

    def _against_last(
        self, source: Hashable, stamp: int, content: Any
    ) -> Optional[tuple[str, str]]:
        last = self._sources.get(source)
        if last is None:
            if len(self._sources) >= SOURCES:
                self._sources.clear()
            self._sources[source] = _Source(stamp, content)
            return None
        if stamp == last.stamp:
            self.repeated = content == last.content
            if self.repeated:
                return None
            return STANDS_STILL, f'the stamp repeats at {stamp / NANOSECONDS:.9g} s'
        if stamp < last.stamp and last.backwards < self._patience:
            last.backwards += 1
            back = (last.stamp - stamp) / NANOSECONDS
            return RUNS_BACK, f'the stamp runs back by {back:.3g} s'
        last.stamp, last.content, last.backwards = stamp, content, 0
        return None


class ComputeTimes:
    """
    The last computation times and the cycles that they cost.

    Attributes:
        budget: Time that one computation may take [s].
        over_budget: Number of computations that took longer.
        missed: Number of computations that took longer than the interval between their inputs,
            so that an input was dropped from the queue of depth one.
    """

    def __init__(self, budget: float):
        self.budget = budget
        self.over_budget = 0
        self.missed = 0
        self._times: deque = deque(maxlen=1000)

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

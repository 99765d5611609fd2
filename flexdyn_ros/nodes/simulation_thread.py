# SPDX-License-Identifier: Apache-2.0
"""A thread that calls a function at a steady rate, at absolute times of a clock."""

from __future__ import annotations

import threading
import time
from typing import Callable, Optional

# A thread that has fallen further behind than this does not try to catch up [s]; a clock may tick
# slowly, so that all cycles between two ticks are due at once.
LARGEST_LAG = 0.1
LARGEST_CLOCK_LAG = 10.0
POLL = 0.001  # real time between two looks at a clock that others publish [s]


class SimulationThread:
    """
    Calls `cycle` again and again.

    Attributes:
        period: Time between the starts of two cycles [s]; 0 leaves no pause.
        due: Time at which the present cycle was due [s].
        late: Number of cycles that started late by more than half a period.
    """

    def __init__(
        self,
        cycle: Callable[[], None],
        period: float,
        clock: Optional[Callable[[], float]] = None,
    ):
        """
        Prepare without starting.

        Args:
            cycle: What to call.
            period: Time between two calls [s].
            clock: Returns the time that the period is of [s]; None for steady real time.
        """
        self.period = period
        self.late = 0
        self._cycle = cycle
        self._clock = clock
        self._now = clock or time.monotonic
        self._largest_lag = LARGEST_CLOCK_LAG if clock else LARGEST_LAG
        self.due = self._now()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name='simulation', daemon=True)

    def start(self) -> None:
        """Start calling."""
        self.due = self._now()
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current call, and wait for it."""
        self._stopping.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    @property
    def stopping(self) -> bool:
        """Whether stop() has been called."""
        return self._stopping.is_set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._cycle()
            if self.period:
                self.due += self.period
                self._wait()

    def _wait(self) -> None:
        """Return when the next cycle is due, or when stopped."""
        lag = self._now() - self.due
        if lag >= 0.0 and self._clock is None:
            self.late += lag > self.period / 2
        while lag < 0.0 and not self._stopping.is_set():
            if lag < -2.0 * self.period:
                self.due = self._now() + self.period  # the clock was turned back
            self._stopping.wait(-lag if self._clock is None else POLL)
            lag = self._now() - self.due
        if lag > self._largest_lag:
            self.due = self._now()

# SPDX-License-Identifier: Apache-2.0
"""A thread that calls a function at a steady rate, sleeping until absolute times."""

from __future__ import annotations

import threading
import time
from typing import Callable

# A thread that has fallen further behind than this does not try to catch up [s].
LARGEST_LAG = 0.1


class SimulationThread:
    """
    Calls `cycle` again and again.

    Attributes:
        period: Time between the starts of two cycles [s]; 0 leaves no pause.
        late: Number of cycles that started late by more than half a period.
    """

    def __init__(self, cycle: Callable[[], None], period: float):
        """
        Prepare without starting.

        Args:
            cycle: What to call.
            period: Time between two calls [s].
        """
        self.period = period
        self.late = 0
        self._cycle = cycle
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name='simulation', daemon=True)

    def start(self) -> None:
        """Start calling."""
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
        due = time.monotonic()
        while not self._stopping.is_set():
            self._cycle()
            due += self.period
            lag = time.monotonic() - due
            if lag < 0.0:
                self._stopping.wait(-lag)
            elif self.period:
                self.late += lag > self.period / 2
                if lag > LARGEST_LAG:
                    due = time.monotonic()

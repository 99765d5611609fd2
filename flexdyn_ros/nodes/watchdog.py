# SPDX-License-Identifier: Apache-2.0
"""Age of an input on a steady clock."""

from typing import Optional


class Watchdog:
    """
    Tells whether an input has fallen silent.

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
        """Forget the input, as if it had never arrived."""
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

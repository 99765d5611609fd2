# SPDX-License-Identifier: Apache-2.0
"""Events along a simulated motion: zeros of functions, found on the dense output of a step."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Union

from flexdyn_ros.arguments import refuse_signature, STATE
from flexdyn_ros.errors import ArgumentError
import numpy as np

Event = Callable[[float, np.ndarray, np.ndarray], float]
Events = Union[None, Event, Sequence[Event]]
State = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
# Of an event's time.
_ROOT = 4.0 * np.finfo(float).eps


def checked_events(given: Events) -> tuple[Event, ...]:
    """
    Return the functions of events.

    Raises:
        ArgumentError: One is no function.
    """
    found = (given,) if callable(given) else tuple(given or ())
    if not all(callable(each) for each in found):
        raise ArgumentError('events', 'must be a function of (t, q, qd), or several')
    for each in found:
        refuse_signature('events', each, STATE)
    return found


class EventFinder:
    """The zeros of functions along one run; two of one function in one step are not seen."""

    def __init__(self, events: Sequence[Event], state: State, rows: list[np.ndarray]):
        """
        Prepare.

        Args:
            events: Functions of (t, q, qd), with attributes `terminal` and `direction` or without.
            state: Returns configuration and velocity of a solver's state.
            rows: Where the events go, see `Trajectory.events`.
        """
        self._events, self._state, self._rows = events, state, rows
        self._values: list[float] = []
        self._counts = [0] * len(events)

    def begin(self, t: float, y: np.ndarray) -> None:
        """Take the state at the start of the run."""
        self._values = [self._value(event, t, y) for event in self._events]

    def find(self, between: Any, start: float, stop: float, y: np.ndarray) -> Optional[float]:
        """
        Keep the zeros in a step, and return the time of the one that ends the run, or None.

        Args:
            between: Dense output: the state at a time.
            start: Time before the step [s].
            stop: Time after it [s].
            y: State after it.

        Raises:
            ArgumentError: A function returns no number.
        """
        before = self._values
        self.begin(stop, y)
        found = []
        for k, (event, low, high) in enumerate(zip(self._events, before, self._values)):
            direction = getattr(event, 'direction', 0)
            rises, falls = low < 0.0 <= high, low > 0.0 >= high
            if (rises and direction >= 0) or (falls and direction <= 0):
                found.append((self._zero(event, between, start, stop), k))
        for at, k in sorted(found):
            self._rows.append(np.concatenate(([k, at], *self._state(between(at)))))
            self._counts[k] += 1
            terminal = getattr(self._events[k], 'terminal', 0)
            if terminal and self._counts[k] >= terminal:
                return at
        return None

    def _zero(self, event: Event, between: Any, start: float, stop: float) -> float:
        """Return the time of a zero; the dense output may miss it by rounding at the ends."""
        from scipy.optimize import brentq

        def value(t: float) -> float:
            return self._value(event, t, between(t))

        low, high = value(start), value(stop)
        if low * high >= 0.0:
            return start if abs(low) < abs(high) else stop
        return float(brentq(value, start, stop, xtol=_ROOT * max(1.0, stop)))

    def _value(self, event: Event, t: float, y: np.ndarray) -> float:
        q, qd = self._state(y)
        q.setflags(write=False)
        qd.setflags(write=False)
        value = event(t, q, qd)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            raise ArgumentError(
                'events', f'must return a number, and at t = {t:.6g} s returns {value!r:.60}')
        return number

# SPDX-License-Identifier: Apache-2.0
"""The pace of a simulation: a thread at a steady rate, and lockstep with other nodes."""

from __future__ import annotations

from contextlib import contextmanager
import threading
import time
from typing import Callable, Iterable, Iterator, Optional

# A thread that has fallen further behind than this does not try to catch up [s]. A clock may tick
# slowly, so that all cycles between two ticks are due at once.
LARGEST_LAG = 0.1
LARGEST_CLOCK_LAG = 10.0
MEASURED = 1.0  # real time over which the pace is measured [s]
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
            cycle: The function to call.
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

    def begin_anew(self) -> None:
        """Let the next cycle be due a period from now."""
        self.due = self._now()

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


class Pace:
    """
    Simulated time against real time, and the real time of each activity.

    Attributes:
        factor: Ratio of simulated to real time over the last second [1].
        costs: Real time of each activity over a simulated second of that second [s].
    """

    def __init__(self) -> None:
        self.factor = 0.0
        self.costs: dict[str, float] = {}
        self.begin(0.0)

    def begin(self, simulated: float) -> None:
        """Measure from here on; `simulated` is the simulated time [s]."""
        self._from = time.monotonic(), simulated
        self._taken: dict[str, float] = {}

    @contextmanager
    def taking(self, what: str) -> Iterator[None]:
        """Count the time that a block of code takes as that of an activity."""
        start = time.monotonic()
        try:
            yield
        finally:
            self._taken[what] = self._taken.get(what, 0.0) + time.monotonic() - start

    def measured(self, simulated: float) -> bool:
        """Return whether a second has passed, of which `factor` and `costs` are now."""
        now, (then, start) = time.monotonic(), self._from
        passed = simulated - start
        if now - then < MEASURED or passed <= 0.0:
            return False
        self.factor = passed / (now - then)
        self.costs = {what: each / passed for what, each in self._taken.items()}
        self.begin(simulated)
        return True


# Real time after which an unanswered state is published again [s], at least SHORTEST_WAIT. It is
# long enough that a slow controller rarely gets a state twice.
SHORTEST_WAIT = 0.05
LONGEST_WAIT = 1.0
WAIT_FACTOR = 4.0  # on the time that the last answer took [1]


class Lockstep:
    """
    Matches answers to the current state, and reports when all have arrived.

    One thread publishes states (`ask`) and waits. Others receive answers. A stamped answer counts
    for the state with the same stamp alone, and only the first one does. No state is ever followed
    by a repeated, late or early answer to another.

    Attributes:
        inputs: Names of the inputs that must answer each state.
        other_stamp: Stamp of the last answer that was not for the current state [ns].
    """

    def __init__(self, inputs: Iterable[str]):
        """
        Start without a state.

        Args:
            inputs: Names of the inputs.
        """
        self.inputs = frozenset(inputs)
        self.other_stamp: Optional[int] = None
        self._missing: set[str] = set()
        self._stamp: Optional[int] = None
        self._asked_at = 0.0
        self._patience = SHORTEST_WAIT
        self._ended = False
        self._condition = threading.Condition()

    def ask(self, stamp: int) -> None:
        """
        Note that a state is published; the same stamp again repeats the question.

        Args:
            stamp: Stamp of the state [ns].
        """
        with self._condition:
            if stamp != self._stamp:
                self._stamp, self._missing = stamp, set(self.inputs)
                self._asked_at = time.monotonic()

    def answer(self, name: str, stamp: Optional[int] = None) -> bool:
        """
        Take an answer.

        Args:
            name: The input that it comes from.
            stamp: Stamp of the answered state [ns]; None for a message that carries none, which
                is taken for an answer to the current state.

        Returns:
            Whether it is the first one of this input to the current state.
        """
        with self._condition:
            if stamp not in (None, self._stamp):
                self.other_stamp = stamp
                return False
            if name not in self._missing:
                return False
            self._missing.remove(name)
            if not self._missing:
                took = time.monotonic() - self._asked_at
                self._patience = min(max(WAIT_FACTOR * took, SHORTEST_WAIT), LONGEST_WAIT)
                self._condition.notify_all()
            return True

    def wait(self) -> bool:
        """Return True once all have answered, False where the state should be published again."""
        with self._condition:
            return self._condition.wait_for(
                lambda: self._ended or not self._missing, self._patience
            )

    def end(self) -> None:
        """Release all waiting threads, finally."""
        with self._condition:
            self._ended = True
            self._condition.notify_all()

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Names of the inputs that have not answered the current state."""
        with self._condition:
            return tuple(sorted(self._missing))

    @property
    def waited(self) -> float:
        """Real time since the current state was first published [s]."""
        return time.monotonic() - self._asked_at

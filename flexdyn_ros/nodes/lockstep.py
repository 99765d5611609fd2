# SPDX-License-Identifier: Apache-2.0
"""The rule of lockstep: a state stands until every input has answered it."""

from __future__ import annotations

import threading
import time
from typing import Iterable, Optional

# Real time after which an unanswered state is published again [s]: at least SHORTEST_WAIT, and
# long enough that a controller which is slow, and not gone, is not asked twice as a rule.
SHORTEST_WAIT = 0.05
LONGEST_WAIT = 1.0
WAIT_FACTOR = 4.0  # on the time that the last answer took [1]


class Lockstep:
    """
    Tells which answers belong to the state that is out, and when all are there.

    One thread publishes states (`ask`) and waits; others bring answers. A stamped answer counts
    for the state with the same stamp alone, and only the first one does: whatever is repeated,
    late or early, no state is ever followed by the answer to another.

    Attributes:
        inputs: Names of the inputs that must answer each state.
        other_stamp: Stamp of the last answer that was not for the state that was out [ns].
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
                is taken for an answer to the state that is out.

        Returns:
            Whether it is the first one of this input to the state that is out.
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
        """Let whoever waits go on, for good."""
        with self._condition:
            self._ended = True
            self._condition.notify_all()

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Names of the inputs that have not answered the state that is out."""
        with self._condition:
            return tuple(sorted(self._missing))

    @property
    def waited(self) -> float:
        """Real time since the state that is out was first published [s]."""
        return time.monotonic() - self._asked_at

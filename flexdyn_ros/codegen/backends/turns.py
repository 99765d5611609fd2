# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is among backends that take longer to get ready and are then faster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

# Calls of a stage with changes of loads between, as a multiple of those without.
LONG_PATIENCE = 10


@dataclass
class Turn:
    """
    How far the calls of one function under one kind of loads have come.

    Attributes:
        stage: The backend that answered last: 0 for the first one.
        calls: How many calls it answered since the loads changed.
        total: How many it answered.
    """

    stage: int = 0
    calls: int = 0
    total: int = 0

    def next_call(self, patience: Sequence[int]) -> int:
        """
        Count a call and return the stage of the backend that answers it.

        Args:
            patience: How many calls each backend answers without a change of loads between; the
                last one, which is not among them, answers all others.
        """
        while self.stage < len(patience) and self._is_over(patience[self.stage]):
            self.stage, self.calls, self.total = self.stage + 1, 0, 0
        self.calls += 1
        self.total += 1
        return self.stage

    def come_back(self) -> None:
        """Begin anew: the loads were others, and what answered before them answers again."""
        self.calls = 0

    def _is_over(self, patience: int) -> bool:
        return self.calls >= patience or self.total >= LONG_PATIENCE * patience

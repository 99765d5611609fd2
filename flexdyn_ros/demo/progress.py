# SPDX-License-Identifier: Apache-2.0
"""Shows how far the runs are: one line that renews itself, or now and then a line."""

from __future__ import annotations

import sys
import time
from typing import Any
from typing import Sequence

RENEW = 0.5  # on a terminal [s]
REPEAT = 10.0  # elsewhere [s]


class ProgressLine:
    """The simulated time that each run has reached."""

    def __init__(self, supervisors: Sequence[Any]):
        """
        Show nothing yet.

        Args:
            supervisors: Objects with `run` and `simulated`.
        """
        self._supervisors = supervisors
        self._terminal = sys.stdout.isatty()
        self._began = time.monotonic()
        self._shown = 0.0
        self._width = 0

    def show(self) -> None:
        """Show the state where it is time to."""
        now = time.monotonic()
        if now - self._shown < (RENEW if self._terminal else REPEAT):
            return
        self._shown = now
        self._print(self._text(now))

    def close(self) -> None:
        """Show the last state and end the line."""
        self._print(self._text(time.monotonic()))
        if self._terminal:
            print(flush=True)

    def _text(self, now: float) -> str:
        parts = [
            f'{item.run.robot}/{item.run.control} {item.simulated:.1f}'
            for item in self._supervisors
        ]
        return f'{now - self._began:4.0f} s | simulated seconds: {", ".join(parts)}'

    def _print(self, text: str) -> None:
        if self._terminal:
            print('\r' + text.ljust(self._width), end='', flush=True)
            self._width = len(text)
        else:
            print(text, flush=True)

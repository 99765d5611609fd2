# SPDX-License-Identifier: Apache-2.0
"""Shows how far the runs are: one line that renews itself, or now and then a line."""

from __future__ import annotations

import shutil
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
        """Return the time, how much is done, and the simulated time of the runs at work."""
        reached = sum(item.simulated for item in self._supervisors)
        total = sum(item.run.duration for item in self._supervisors)
        at_work = [
            f'{item.run.robot}/{item.run.control} at {item.simulated:.1f} s'
            for item in self._supervisors if 0.0 < item.simulated < item.run.duration
        ]
        text = f'{now - self._began:4.0f} s  {100.0 * reached / total:3.0f} % simulated'
        return '  '.join([text, *at_work])

    def _print(self, text: str) -> None:
        if self._terminal:
            text = text[: shutil.get_terminal_size().columns - 1]
            print('\r' + text.ljust(self._width), end='', flush=True)
            self._width = len(text)
        else:
            print(text, flush=True)

# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr for runs that take longer than a moment."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any, Callable, Iterator, Optional, Sequence, TextIO, TypeVar, Union

Item = TypeVar('Item')
Progress = Union[None, bool, Callable[[float], None]]

_QUIET_TIME = 1.0  # [s] before the bar appears
_INTERVAL = 0.1  # [s] between redraws
_WIDTH = 30


class ProgressBar:
    """
    Draws the fraction done and the time left, once a run has lasted a second.

    As a context it also draws between reports, and ends its line where an error comes.
    The time left is "?" until a fraction is known.

    Attributes:
        shown: Whether the bar has been drawn.
    """

    def __init__(
        self, progress: Progress = None, stream: Optional[TextIO] = None,
        label: str = 'simulating',
    ):
        """
        Choose where progress goes.

        Args:
            progress: None draws on a terminal only, True draws always, False never. A callable is
                called with the fraction done instead, at most ten times a second and at the end.
            stream: Where to draw; stderr when None.
            label: The activity.
        """
        self.shown, self._label = False, label
        self._stream = stream if stream is not None else sys.stderr
        self._callback = progress if callable(progress) else None
        self._enabled = self._callback is None and (
            progress is True or (progress is None and _is_terminal(self._stream))
        )
        self._start = time.monotonic()
        self._next = self._start + (0.0 if self._callback else _QUIET_TIME)
        self._fraction = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> ProgressBar:
        """Draw from now on."""
        _entered.append(self)
        if self._enabled:
            self._thread.start()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        """Stop drawing."""
        self._ended.set()
        if self._enabled:
            self._thread.join()
        _entered.remove(self)
        self.close(self._fraction if kind else 1.0)

    def over(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield items, and report the fraction of them that is done."""
        for k, item in enumerate(items):
            self.update(k / len(items))
            yield item

    def update(self, fraction: float) -> None:
        """Report the fraction done, 0 to 1."""
        now, self._fraction = time.monotonic(), fraction
        if now < self._next:
            return
        self._next = now + _INTERVAL
        if self._callback is not None:
            self._callback(fraction)
        elif self._enabled:
            self._draw(fraction, now - self._start)

    def close(self, fraction: float = 1.0) -> None:
        """Report the end and leave the line clean."""
        if self._callback is not None:
            self._callback(fraction)
        elif self.shown:
            self._draw(fraction, time.monotonic() - self._start)
            self._stream.write('\n')
            self._stream.flush()

    def _follow(self) -> None:
        """Draw every second, unless another bar within this one does."""
        while not self._ended.wait(_QUIET_TIME):
            if _entered[-1:] == [self]:
                self._draw(self._fraction, time.monotonic() - self._start)

    def _draw(self, fraction: float, elapsed: float) -> None:
        filled = int(round(_WIDTH * fraction))
        left = f'{elapsed * (1.0 / fraction - 1.0):.0f}' if fraction > 0.0 else '?'
        bar = '#' * filled + '-' * (_WIDTH - filled)
        line = f'\r{self._label} [{bar}] {100.0 * fraction:3.0f} % {left:>5} s left'
        self._stream.write(line)
        self._stream.flush()
        self.shown = True


_entered: list[ProgressBar] = []


def _is_terminal(stream: TextIO) -> bool:
    """Whether a line can be redrawn there; the bar uses no colour, so NO_COLOR needs no care."""
    return stream.isatty() and os.environ.get('TERM') != 'dumb'

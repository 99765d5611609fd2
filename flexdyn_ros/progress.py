# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr for work that takes longer than a moment."""

from __future__ import annotations

from contextlib import contextmanager, redirect_stderr, redirect_stdout
import os
import shutil
import sys
import threading
import time
from typing import Any, Callable, cast, Iterator, Optional, Sequence, TextIO, TypeVar, Union

from flexdyn_ros.errors import ArgumentError

Item = TypeVar('Item')
Progress = Union[None, bool, Callable[[float], None]]

_QUIET_TIME = 1.0  # [s] before the bar appears
_FOLLOWED = 0.7  # part of it between drawings of a context: a program took the rest to start
_INTERVAL = 0.1  # [s] between redraws
_WIDTH = 30


class ProgressBar:
    """
    Draws the fraction done and the time left, once a run has lasted a second.

    As a context it also draws between reports, and ends its line where an error comes. Of contexts
    within each other the innermost draws; the line of a short one is cleared. The time left is "?"
    until a fraction is known.

    Attributes:
        shown: Whether the bar has been drawn.
        label: The activity.
    """

    def __init__(
        self, progress: Progress = None, stream: Optional[TextIO] = None,
        label: str = 'simulating', stays: bool = True,
    ):
        """
        Choose the output of progress.

        Args:
            progress: None draws on a terminal only, True draws always, False never. A callable is
                called with the fraction done instead, at most ten times a second and at the end.
            stream: Its output; stderr when None.
            label: The activity.
            stays: Whether the line stays at the end, where the run lasted a second.

        Raises:
            ArgumentError: `progress` is anything else.
        """
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise ArgumentError('progress', f'is {progress!r:.60}, expected a function or a bool')
        self.shown, self.label, self._stays = False, label, stays
        if stream is None:
            stream = _entered[0]._stream if _entered else sys.stderr
        self._stream: TextIO = stream
        self._callback = progress if callable(progress) else None
        self._enabled = self._callback is None and (
            progress is True or (progress is None and _is_terminal(self._stream))
        )
        self._start = time.monotonic()
        self._next = self._start + (0.0 if self._callback else _QUIET_TIME)
        self._fraction = 0.0
        self._ended = threading.Event()
        self._follower: Optional[threading.Thread] = None

    def __enter__(self) -> ProgressBar:
        """Draw from now on."""
        first = not any(each._enabled for each in _entered)
        _entered.append(self)
        if self._enabled and first:
            self._follower = threading.Thread(target=self._follow, daemon=True)
            self._follower.start()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        """Stop drawing."""
        self._ended.set()
        if self._follower is not None:
            self._follower.join()
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
        else:
            self._draw()

    def close(self, fraction: float = 1.0) -> None:
        """Report the end and leave the line clean."""
        self._fraction = fraction
        if self._callback is not None:
            self._callback(fraction)
        elif self.shown and self._stays and time.monotonic() >= self._start + _QUIET_TIME:
            self._draw(end='\n')
        elif self.shown:
            _clear_line(self._stream)

    def _follow(self) -> None:
        """Draw the innermost bar within each second."""
        while not self._ended.wait(_FOLLOWED * _QUIET_TIME):
            _entered[-1]._draw()

    def _draw(self, end: str = '') -> None:
        fraction, elapsed = self._fraction, time.monotonic() - self._start
        left = f'{elapsed * (1.0 / fraction - 1.0):.0f}' if fraction > 0.0 else '?'
        numbers = f'] {100.0 * fraction:3.0f} % {left:>5} s left'
        room = shutil.get_terminal_size().columns - len(numbers) - 3
        label = self.label[:room]
        width = min(_WIDTH, room - len(label))
        filled = int(round(width * fraction))
        line = f'{label} [{"#" * filled}{"-" * (width - filled)}{numbers}'
        with _lock:
            if self._enabled:
                if _open_line and _open_line[0] > len(line):
                    _clear_line(self._stream)
                self._stream.write(f'\r{line}{end}')
                self._stream.flush()
                _open_line[:] = [] if end else [len(line)]
                self.shown = True


@contextmanager
def drawn_stages(label: str) -> Iterator[None]:
    """
    Draw the present stage of work on a terminal, until something is written to stdout.

    Args:
        label: The first stage.
    """
    with ProgressBar(label=label, stays=False) as bar:
        if not bar._enabled:
            yield
            return

        def end() -> None:
            bar._enabled = False
            bar._ended.set()
            _clear_line(bar._stream)

        streams = (_Announced(sys.stdout, end),
                   _Announced(sys.stderr, lambda: _clear_line(bar._stream)))
        with redirect_stdout(cast(TextIO, streams[0])), redirect_stderr(cast(TextIO, streams[1])):
            yield


def next_stage(label: str) -> None:
    """Name the present stage, where `drawn_stages` draws."""
    if _entered:
        _entered[0].label = label


class _Announced:
    """A stream, and the function that is called before each text on it."""

    def __init__(self, stream: TextIO, before: Callable[[], None]):
        self._stream, self._before = stream, before

    def write(self, text: str) -> int:
        with _lock:
            self._before()
            return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_entered: list[ProgressBar] = []
_lock = threading.RLock()
_open_line: list[int] = []  # the length of a bar that has been drawn and not ended


def _clear_line(stream: TextIO) -> None:
    with _lock:
        if _open_line:
            stream.write('\r' + ' ' * _open_line.pop() + '\r')
            stream.flush()


def _is_terminal(stream: TextIO) -> bool:
    """Whether a line can be redrawn there; the bar uses no colour, so NO_COLOR needs no care."""
    return stream.isatty() and os.environ.get('TERM') != 'dumb'

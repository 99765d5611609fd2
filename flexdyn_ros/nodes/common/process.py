# SPDX-License-Identifier: Apache-2.0
"""The process of a node: the library's log, and an end that cannot hang."""

from __future__ import annotations

from contextlib import contextmanager
import ctypes
import logging
import sys
from typing import Any, Iterator, Optional


class LibraryLog(logging.Handler):
    """Passes the library's warnings on to a node's logger."""

    def __init__(self, logger: Any):
        """
        Listen to warnings and errors.

        Args:
            logger: The logger of a node.
        """
        super().__init__(logging.WARNING)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line for a message of any form."""
        text = ' '.join(record.getMessage().split())
        if record.levelno >= logging.ERROR:
            self._logger.error(text)
        else:
            self._logger.warning(text)


def log_through(logger: Any) -> None:
    """Forward warnings of the library in this process to a node's logger."""
    library = logging.getLogger('flexdyn_ros')
    for handler in [each for each in library.handlers if isinstance(each, LibraryLog)]:
        library.removeHandler(handler)
    library.addHandler(LibraryLog(logger))


CLOCK_MONOTONIC, SIGEV_THREAD = 1, 2


class _Event(ctypes.Structure):
    """struct sigevent of Linux: a function that a new thread calls with a value."""

    _fields_ = [
        ('value', ctypes.c_void_p), ('signal', ctypes.c_int), ('notify', ctypes.c_int),
        ('function', ctypes.c_void_p), ('attributes', ctypes.c_void_p),
        ('rest', ctypes.c_char * 32),
    ]


class _Times(ctypes.Structure):
    """struct itimerspec: interval and first time [s, ns]."""

    _fields_ = [(name, ctypes.c_long) for name in (
        'interval', 'interval_part', 'seconds', 'part',
    )]


@contextmanager
def time_limit(seconds: float, code: int) -> Iterator[None]:
    """
    End the process at once if the block takes longer.

    Args:
        seconds: Longest duration.
        code: The exit code then.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    library = ctypes.CDLL(None)
    timer = _timer(library, seconds, code)
    try:
        yield
    finally:
        if timer is not None:
            library.timer_delete(timer)


def _timer(library: ctypes.CDLL, seconds: float, code: int) -> Optional[ctypes.c_void_p]:
    """Return a running timer, or None where the C library has none."""
    if sys.platform != 'linux' or not hasattr(library, 'timer_create'):
        return None
    function = ctypes.cast(library._exit, ctypes.c_void_p)
    event = _Event(value=code, notify=SIGEV_THREAD, function=function.value)
    timer = ctypes.c_void_p()
    if library.timer_create(CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)) != 0:
        return None
    times = _Times(seconds=int(seconds), part=int(seconds % 1.0 * 1e9))
    library.timer_settime(timer, 0, ctypes.byref(times), None)
    return timer

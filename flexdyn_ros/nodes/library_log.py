# SPDX-License-Identifier: Apache-2.0
"""Warnings of the library in the log of a node."""

from __future__ import annotations

import logging
from typing import Any


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
        """Write one line, whatever the message looks like."""
        text = ' '.join(record.getMessage().split())
        if record.levelno >= logging.ERROR:
            self._logger.error(text)
        else:
            self._logger.warning(text)


def log_through(logger: Any) -> None:
    """Let a node's logger say what the library warns of in this process."""
    library = logging.getLogger('flexdyn_ros')
    for handler in [each for each in library.handlers if isinstance(each, LibraryLog)]:
        library.removeHandler(handler)
    library.addHandler(LibraryLog(logger))

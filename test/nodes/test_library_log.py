# SPDX-License-Identifier: Apache-2.0
"""Warnings of the library reach the log of a node once, a line each."""

import logging

from flexdyn_ros.nodes.common.process import LibraryLog, log_through


class Log:
    """A logger as nodes have one."""

    def __init__(self):
        self.lines = []

    def warning(self, text):
        self.lines.append(('warning', text))

    def error(self, text):
        self.lines.append(('error', text))


def test_warnings_become_lines_of_the_newest_logger():
    """Records below a warning stay out; a second call replaces the first logger."""
    library = logging.getLogger('flexdyn_ros')
    before, log = library.handlers[:], Log()
    try:
        log_through(Log())
        log_through(log)
        child = logging.getLogger('flexdyn_ros.codegen')
        child.info('nothing')
        child.warning('first\nsecond %d', 3)
        child.error('bad')
        assert log.lines == [('warning', 'first second 3'), ('error', 'bad')]
        assert sum(isinstance(each, LibraryLog) for each in library.handlers) == 1
    finally:
        library.handlers[:] = before

# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of a node, in the form of REP 107."""

from __future__ import annotations

import time
from typing import Any, Callable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

OK = DiagnosticStatus.OK
WARN = DiagnosticStatus.WARN
ERROR = DiagnosticStatus.ERROR
SHORTEST_PERIOD = 0.05  # of a bad level; levels may alternate with every cycle [s]


def listed(problems: Mapping[str, str]) -> str:
    """Return problems by name as one line."""
    return '; '.join(f'{name}: {why}' for name, why in problems.items())


class Diagnostics:
    """
    Publishes one status on /diagnostics, once a second and whenever its level changes.

    Attributes:
        hardware_id: Subject of the status, the robot's name.
    """

    def __init__(self, node: Any, values: Callable[[], Mapping[str, Any]]):
        """
        Start publishing.

        Args:
            node: A RobotNode.
            values: Returns the key-value pairs to publish.
        """
        self.hardware_id = ''
        self._node = node
        self._values = values
        self._level = OK
        self._message = 'not configured'
        self._published = OK, -SHORTEST_PERIOD  # level, and when [s]
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._timer = node.create_steady_timer(1.0, self._publish)

    def report(self, level: bytes, message: str) -> None:
        """
        Set the status; a worse level is published at once, a better one after SHORTEST_PERIOD.

        Args:
            level: OK, WARN or ERROR.
            message: One sentence.
        """
        self._level, self._message = level, message
        published, when = self._published
        if level > published or (
                level < published and time.monotonic() - when >= SHORTEST_PERIOD):
            self._publish()

    def _publish(self) -> None:
        self._published = self._level, time.monotonic()
        status = DiagnosticStatus(
            level=self._level,
            name=f'{self._node.get_fully_qualified_name()[1:]}: {self._node.get_name()}',
            message=self._message,
            hardware_id=self.hardware_id,
            values=[KeyValue(key=k, value=str(v)) for k, v in self._values().items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)

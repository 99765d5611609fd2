# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of a node, as REP 107 has them."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

OK = DiagnosticStatus.OK
WARN = DiagnosticStatus.WARN
ERROR = DiagnosticStatus.ERROR


class Diagnostics:
    """
    Publishes one status on /diagnostics, once a second and whenever it changes.

    Attributes:
        hardware_id: What the status is about, the robot's name.
    """

    def __init__(self, node: Node, values: Callable[[], Mapping[str, Any]]):
        """
        Start publishing.

        Args:
            node: The node.
            values: Returns the key-value pairs to publish.
        """
        self.hardware_id = ''
        self._node = node
        self._values = values
        self._level = OK
        self._message = 'not configured'
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(1.0, self._publish, clock=steady)

    def report(self, level: bytes, message: str) -> None:
        """
        Set the status; a new one is published at once.

        Args:
            level: OK, WARN or ERROR.
            message: One sentence.
        """
        if (level, message) == (self._level, self._message):
            return
        changed = level != self._level
        self._level, self._message = level, message
        if changed:
            self._publish()

    def _publish(self) -> None:
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

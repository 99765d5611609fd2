# SPDX-License-Identifier: Apache-2.0
"""The robot description of a node: its parameter, else the latched topic."""

from __future__ import annotations

from typing import Callable

from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from std_msgs.msg import String

LATCHED = QoSProfile(
    depth=1,
    durability=QoSDurabilityPolicy.TRANSIENT_LOCAL,
    reliability=QoSReliabilityPolicy.RELIABLE,
)


class DescriptionTopic:
    """
    Listens to the latched topic robot_description.

    Attributes:
        text: The newest description; empty before the first.
    """

    def __init__(self, node: Node, on_change: Callable[[], None]):
        """
        Subscribe.

        Args:
            node: Node to subscribe with.
            on_change: Called after a description that differs from the last one.
        """
        self.text = ''
        self._on_change = on_change
        self._subscription = node.create_subscription(
            String, 'robot_description', self._on_message, LATCHED
        )

    def _on_message(self, message: String) -> None:
        if message.data and message.data != self.text:
            self.text = message.data
            self._on_change()

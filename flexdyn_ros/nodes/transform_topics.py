# SPDX-License-Identifier: Apache-2.0
"""The subscriptions to TF."""

from __future__ import annotations

import time
from typing import Any

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.transform_tree import TransformTree
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

QUEUE = 100


class TransformTopics:
    """
    Listens to /tf and /tf_static.

    Attributes:
        tree: The newest transforms.
    """

    def __init__(self, node: Node):
        """
        Subscribe, where tf2_msgs is installed.

        Args:
            node: Node to subscribe with.
        """
        self.tree = TransformTree()
        self._subscriptions: list[Any] = []
        if TFMessage is not None:
            latched = QoSProfile(
                depth=QUEUE, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
            subscribe = node.create_subscription
            self._subscriptions = [
                subscribe(TFMessage, '/tf', self._on_moving, QUEUE),
                subscribe(TFMessage, '/tf_static', self._on_static, latched),
            ]

    def _on_moving(self, message: Any) -> None:
        self.tree.take(message, time.monotonic())

    def _on_static(self, message: Any) -> None:
        self.tree.take(message, None)

    @staticmethod
    def check(need: str) -> None:
        """
        Raise FlexdynError where transforms cannot be heard.

        Args:
            need: What needs them.
        """
        if TFMessage is None:
            raise FlexdynError(
                f'{need} needs tf2_msgs, which is not installed. Install '
                'ros-$ROS_DISTRO-tf2-msgs.'
            )

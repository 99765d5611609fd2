# SPDX-License-Identifier: Apache-2.0
"""Topics that nodes share: the description, measured joint states and transforms."""

from __future__ import annotations

from collections import Counter
import time
from typing import Any, Callable, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.measured_state import JOINT_STATES, MULTI_DOF
from flexdyn_ros.nodes.common.message_bytes import JointStateReader
from flexdyn_ros.nodes.common.transforms import TransformTree
from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import String

Take = Callable[..., Optional[str]]
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


def count_lost(counts: Counter[str], topic: str) -> SubscriptionEventCallbacks:
    """Return event callbacks of a subscription that write the number of lost messages."""
    def lost(information: Any) -> None:
        counts[topic] = information.total_count

    return SubscriptionEventCallbacks(message_lost=lost)


def subscribe_measured_states(
    node: Any,
    on_measured: Callable[[Any, Take], None],
    lost: Optional[Counter[str]] = None,
    group: Optional[CallbackGroup] = None,
) -> tuple[Any, Any]:
    """
    Subscribe to joint_states and multi_dof_joint_states.

    Best effort, as sensor data are, so that any publisher matches. The queues hold one message,
    so that the newest one is read. Where several publishers share a topic, a longer one keeps
    them from pushing each other's messages out (parameter
    qos_overrides./joint_states.subscription.depth).

    Args:
        node: Node to subscribe with; its `measured` is a MeasuredState, or None while it is
            not configured.
        on_measured: Called with each message, and the method of `measured` that takes it.
        lost: Takes the number of lost messages by topic; None for no report.
        group: Callback group of the subscriptions; None for that of the node.

    Returns:
        The subscriptions.
    """
    profile = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)

    read = JointStateReader().read

    def subscribe(kind: Any, topic: str, take: str) -> Any:
        raw = kind is JointState

        def callback(message: Any) -> None:
            if node.measured is not None:
                on_measured(
                    read(message) if raw else message, getattr(node.measured, take))

        options = QoSOverridingOptions.with_default_policies()
        events = None if lost is None else count_lost(lost, topic)
        return node.create_subscription(
            kind, topic, callback, profile, qos_overriding_options=options,
            event_callbacks=events, callback_group=group, raw=raw)

    return (
        subscribe(MultiDOFJointState, MULTI_DOF, 'take_multi_dof'),
        subscribe(JointState, JOINT_STATES, 'take_joint_states'),
    )


try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

QUEUE = 100
MOST_TRANSFORMS = 120  # of a message whose conversion holds Python's interpreter for 2 ms


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
        self._node = node
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
        self._take(message, time.monotonic())

    def _on_static(self, message: Any) -> None:
        self._take(message, None)

    def _take(self, message: Any, received: Optional[float]) -> None:
        count = len(message.transforms)
        if count > MOST_TRANSFORMS:
            self._node.get_logger().warning(
                f'a message of TF has {count} transforms. Converting it takes 2 ms for each '
                f'{MOST_TRANSFORMS}, and no torque is computed meanwhile',
                throttle_duration_sec=10.0)
        self.tree.take(message, received)

    @staticmethod
    def check(need: str) -> None:
        """
        Raise FlexdynError where transforms cannot be received.

        Args:
            need: The feature that needs them.
        """
        if TFMessage is None:
            raise FlexdynError(
                f'{need} needs tf2_msgs, which is not installed. Install '
                'ros-$ROS_DISTRO-tf2-msgs.'
            )

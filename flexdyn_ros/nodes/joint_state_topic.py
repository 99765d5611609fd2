# SPDX-License-Identifier: Apache-2.0
"""The subscription to joint_states."""

from __future__ import annotations

from typing import Callable

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.qos import QoSReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState


def subscribe_joint_states(node: Node, callback: Callable[[JointState], None]):
    """
    Subscribe to joint_states, best effort as sensor data are, so that any publisher is heard.

    The queue holds one message, so that the newest is what counts; where several publishers share
    the topic, a longer one (parameter qos_overrides./joint_states.subscription.depth) keeps them
    from pushing each other's messages out.

    Args:
        node: Node to subscribe with.
        callback: Called with each message.

    Returns:
        The subscription.
    """
    profile = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)
    return node.create_subscription(
        JointState,
        'joint_states',
        callback,
        profile,
        qos_overriding_options=QoSOverridingOptions.with_default_policies(),
    )

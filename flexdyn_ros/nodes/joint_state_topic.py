# SPDX-License-Identifier: Apache-2.0
"""The subscriptions to measured joint states."""

from __future__ import annotations

from typing import Any, Callable, Optional

from flexdyn_ros.nodes.lost_messages import LostMessages
from flexdyn_ros.nodes.measured_state import JOINT_STATES, MULTI_DOF
from rclpy.node import Node
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState, MultiDOFJointState


def subscribe_measured_states(
    node: Node,
    on_joint_states: Callable[[JointState], None],
    on_multi_dof: Callable[[MultiDOFJointState], None],
    lost: Optional[LostMessages] = None,
) -> tuple[Any, Any]:
    """
    Subscribe to joint_states and multi_dof_joint_states.

    Best effort, as sensor data are, so that any publisher is heard. The queues hold one message,
    so that the newest is what counts; where several publishers share a topic, a longer one
    (parameter qos_overrides./joint_states.subscription.depth) keeps them from pushing each
    other's messages out.

    Args:
        node: Node to subscribe with.
        on_joint_states: Called with each message of joint_states.
        on_multi_dof: Called with each message of multi_dof_joint_states.
        lost: Counts what the middleware drops; None where that is not asked for.

    Returns:
        The subscriptions.
    """
    profile = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)

    def subscribe(kind: Any, topic: str, callback: Callable[[Any], None]) -> Any:
        options = QoSOverridingOptions.with_default_policies()
        events = lost.of(topic) if lost else None
        return node.create_subscription(
            kind, topic, callback, profile, qos_overriding_options=options,
            event_callbacks=events)

    return (
        subscribe(MultiDOFJointState, MULTI_DOF, on_multi_dof),
        subscribe(JointState, JOINT_STATES, on_joint_states),
    )

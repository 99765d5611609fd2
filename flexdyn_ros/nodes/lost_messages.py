# SPDX-License-Identifier: Apache-2.0
"""Counts the messages that the middleware drops before a node takes them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks


class LostMessages:
    """
    Counts lost messages by topic.

    Attributes:
        counts: Number of lost messages by topic.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.counts: Counter[str] = Counter()

    def of(self, topic: str) -> SubscriptionEventCallbacks:
        """Return the event callbacks of a subscription to a topic."""
        def lost(information: Any) -> None:
            self.counts[topic] = information.total_count

        return SubscriptionEventCallbacks(message_lost=lost)

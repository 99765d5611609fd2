# SPDX-License-Identifier: Apache-2.0
"""
Subscriptions served by a thread of their own, on a wait set of rcl.

An executor of rclpy builds its wait set anew for every callback, of all that a node has, which
takes longer than a cycle of a controller's work.
"""

from __future__ import annotations

from contextlib import ExitStack
import threading
import time
from typing import Any, Sequence

from flexdyn_ros.nodes.common.guarded_callbacks import GuardedCallbacks, PAUSE
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.subscription import Subscription

LONGEST_WAIT = 200_000_000  # after which the thread looks whether the context has ended [ns]
STOP_LIMIT = 1.0  # for the callback that runs at a stop [s]


class OutsideExecutor(ReentrantCallbackGroup):
    """Keeps subscriptions out of executors; their events, such as lost messages, stay there."""

    def can_execute(self, entity: Any) -> bool:
        """Return whether an executor may serve an entity."""
        return not isinstance(entity, Subscription)


class SubscriptionThread:
    """Takes the messages of some subscriptions and calls their callbacks, in a thread."""

    def __init__(self, node: GuardedCallbacks, subscriptions: Sequence[Any]):
        """
        Start.

        Args:
            node: Their node, whose guard acts on failures.
            subscriptions: Subscriptions of a group `OutsideExecutor`, in the order in which they
                are served where several have messages.
        """
        self._node = node
        self._subscriptions = tuple(subscriptions)
        self._stopping = False
        self._wake: Any = GuardCondition(None, None, node.context)
        self._thread = threading.Thread(target=self._run, name='subscriptions', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; to be called before the node is destroyed."""
        if self._stopping:
            return
        self._stopping = True
        self._wake.trigger()
        if self._thread is not threading.current_thread():
            self._thread.join(STOP_LIMIT)
        self._wake.destroy()

    def _run(self) -> None:
        context: Any = self._node.context
        handles = [each.handle for each in self._subscriptions]
        with ExitStack() as held:
            for handle in (context.handle, self._wake.handle, *handles):
                held.enter_context(handle)
            wait_set = _rclpy.WaitSet(len(handles), 1, 0, 0, 0, 0, context.handle)
            while not self._stopping and context.ok():
                try:
                    self._serve(wait_set, handles)
                except Exception as error:
                    if self._stopping or not context.ok():
                        return
                    self._node.callback_failed('a message', error)
                    time.sleep(PAUSE)

    def _serve(self, wait_set: Any, handles: list[Any]) -> None:
        """Wait for messages, and serve one of each subscription."""
        wait_set.clear_entities()
        for handle in handles:
            wait_set.add_subscription(handle)
        wait_set.add_guard_condition(self._wake.handle)
        wait_set.wait(LONGEST_WAIT)
        if self._stopping:
            return
        ready = wait_set.get_ready_entities('subscription')
        for handle, subscription in zip(handles, self._subscriptions):
            if handle.pointer in ready:
                found = handle.take_message(subscription.msg_type, subscription.raw)
                if found is not None:
                    subscription.callback(found[0])

# SPDX-License-Identifier: Apache-2.0
"""
Subscriptions served by a thread of their own, on a wait set of rcl.

An executor of rclpy builds its wait set anew for every callback, of all that a node has. That
takes longer than a cycle of a controller's work.
"""

from __future__ import annotations

from contextlib import ExitStack
import threading
import time
from typing import Any, Callable, Optional, Sequence

from flexdyn_ros.nodes.common.guarded_callbacks import GuardedCallbacks, PAUSE
from rclpy.callback_groups import CallbackGroup
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy

LONGEST_WAIT = 200_000_000  # time between two looks at the end of the context [ns]
EVENT_PERIOD = 0.1  # between two looks at events, such as lost messages [s]
STOP_LIMIT = 1.0  # for the callback that runs at a stop [s]
TAKING = 'a message'  # counts failures outside callbacks


class OutsideExecutor(CallbackGroup):
    """
    Keeps subscriptions and their events out of executors.

    Where an event waits, every message wakes the executor until another thread has taken it.
    """

    def can_execute(self, entity: Any) -> bool:
        """Return False: executors serve nothing of this group."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Return False, as above."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing has begun."""


class SubscriptionThread:
    """
    Takes the messages of some subscriptions and calls their callbacks, in a thread.

    Attributes:
        period: Between two calls of `watch` [s]; None for no calls.
    """

    def __init__(
        self, node: GuardedCallbacks, subscriptions: Sequence[Any],
        watch: Callable[[], None] = lambda: None,
    ):
        """
        Start.

        Args:
            node: Their node, whose guard acts on failures.
            subscriptions: Subscriptions of a group `OutsideExecutor`, in the order in which they
                are served where several have messages.
            watch: Called from time to time, with messages and without.
        """
        self.period: Optional[float] = None
        self._watch = watch
        self._watch_due = 0.0
        self._node = node
        self._subscriptions = tuple(subscriptions)
        self._events = [event for each in subscriptions for event in each.event_handlers]
        self._events_due = 0.0
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
            for handle in (context.handle, self._wake.handle, *handles, *self._events):
                held.enter_context(handle)
            wait_set = _rclpy.WaitSet(
                len(handles), 1, 0, 0, 0, len(self._events), context.handle)
            while not self._stopping and context.ok():
                self._try(self._serve, wait_set, handles)
                self._try(self._watch_if_due)

    def _try(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do a piece of work; a failure is reported to the node, and the rest continues."""
        try:
            work(*arguments)
        except Exception as error:
            if not self._stopping and self._node.context.ok():
                self._node.callback_failed(TAKING, error)
                time.sleep(PAUSE)

    def _serve(self, wait_set: Any, handles: list[Any]) -> None:
        """Wait for messages, and serve one of each subscription."""
        wait_set.clear_entities()
        for handle in handles:
            wait_set.add_subscription(handle)
        wait_set.add_guard_condition(self._wake.handle)
        now, events = time.monotonic(), []
        if now >= self._events_due:
            self._events_due, events = now + EVENT_PERIOD, self._events
        for event in events:
            event.add_to_wait_set(wait_set)
        period = self.period
        wait_set.wait(LONGEST_WAIT if period is None else min(LONGEST_WAIT, int(1e9 * period)))
        if self._stopping:
            return
        ready = wait_set.get_ready_entities('subscription')
        for handle, subscription in zip(handles, self._subscriptions):
            if handle.pointer in ready:
                self._try(self._take, handle, subscription)
        for event in events:
            if event.is_ready(wait_set):
                event.callback(event.take_data())

    @staticmethod
    def _take(handle: Any, subscription: Any) -> None:
        found = handle.take_message(subscription.msg_type, subscription.raw)
        if found is not None:
            subscription.callback(found[0])

    def _watch_if_due(self) -> None:
        now, period = time.monotonic(), self.period
        if period is not None and now >= self._watch_due:
            self._watch_due = now + period
            self._watch()

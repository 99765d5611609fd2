# SPDX-License-Identifier: Apache-2.0
"""Callbacks whose exceptions end no node: one guard around everything that an executor runs."""

from __future__ import annotations

from collections import Counter
from functools import wraps
from inspect import iscoroutinefunction
import time
import traceback
from typing import Any, Callable

from flexdyn_ros.errors import FlexdynError
from rcl_interfaces.msg import SetParametersResult
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode

LOG_PERIOD = 1.0  # between two log lines on the same kind of failure [s]
PAUSE = 0.001  # after a failure outside callbacks, so that a lasting one leaves time to others [s]


class GuardedCallbacks(LifecycleNode):
    """
    A lifecycle node that survives any exception of its callbacks.

    Subscriptions, timers, services and parameter callbacks are guarded as they are created, those
    of rclpy itself included. `spin` guards the work between callbacks, such as the conversion of
    a message. A failure is counted and logged, and `on_failure` acts on it.

    Attributes:
        failures: Number of failures by callback.
    """

    def __init__(self, name: str, **node_arguments: Any):
        """
        Start without failures.

        Args:
            name: Name of the node.
            node_arguments: Passed on to LifecycleNode.
        """
        self.failures: Counter[str] = Counter()
        self._logged: dict[tuple[str, type], float] = {}
        super().__init__(name, **node_arguments)

    def on_failure(self, what: str, why: str) -> None:
        """Act on a failure; a subclass may give this."""

    def failure_sentence(self, what: str, why: str) -> str:
        """Return the log line on a failure."""
        return f'{what} failed: {why}'

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, *rest: Any, **more: Any
    ) -> Any:
        """Create a subscription whose callback is guarded."""
        guarded = self._guarded(topic, callback)
        return super().create_subscription(msg_type, topic, guarded, *rest, **more)

    def create_timer(self, timer_period_sec: float, callback: Any, *rest: Any, **more: Any) -> Any:
        """Create a timer whose callback is guarded."""
        what = getattr(callback, '__qualname__', 'timer')
        return super().create_timer(
            timer_period_sec, self._guarded(what, callback), *rest, **more)

    def create_service(
        self, srv_type: Any, srv_name: str, callback: Any, *rest: Any, **more: Any
    ) -> Any:
        """Create a service whose callback is guarded; a failed call gets an empty response."""
        guarded = self._guarded(srv_name, callback, lambda request, response: response)
        return super().create_service(srv_type, srv_name, guarded, *rest, **more)

    def add_on_set_parameters_callback(self, callback: Any) -> None:
        """Add a callback that refuses parameters where it fails."""
        refused = SetParametersResult(
            successful=False, reason='checking the parameters failed; see the log')
        guarded = self._guarded('parameters', callback, lambda parameters: refused)
        super().add_on_set_parameters_callback(guarded)

    def _guarded(
        self, what: str, callback: Any, otherwise: Callable[..., Any] = lambda *arguments: None
    ) -> Any:
        # rclpy looks at the signature, which `wraps` keeps, and awaits coroutines.
        if iscoroutinefunction(callback):
            @wraps(callback)
            async def awaited(*arguments: Any) -> Any:
                try:
                    return await callback(*arguments)
                except Exception as error:
                    self.callback_failed(what, error)
                    return otherwise(*arguments)

            return awaited

        @wraps(callback)
        def guarded(*arguments: Any) -> Any:
            try:
                return callback(*arguments)
            except Exception as error:
                self.callback_failed(what, error)
                return otherwise(*arguments)

        return guarded

    def callback_failed(self, what: str, error: Exception) -> None:
        """
        Count, log and act on a failure.

        Args:
            what: The callback.
            error: Its exception, raised again while the context shuts down.
        """
        if not self.context.ok() or isinstance(error, ExternalShutdownException):
            raise error
        self.failures[what] += 1
        kind = type(error).__name__
        why = str(error) if isinstance(error, FlexdynError) else f'{kind}: {error}'
        now, key = time.monotonic(), (what, type(error))
        if now - self._logged.get(key, -LOG_PERIOD) >= LOG_PERIOD:
            # The traceback of an unexpected error is logged once.
            first = key not in self._logged and not isinstance(error, FlexdynError)
            sentence = self.failure_sentence(what, why)
            lines = [f'{sentence} (failure {self.failures[what]} of {what})']
            lines += traceback.format_exception(error) if first else []
            self._logged[key] = now
            self.get_logger().error('\n'.join(lines))
        try:
            self.on_failure(what, why)
        except Exception as another:
            self.failures['on_failure'] += 1
            self.get_logger().error(
                f'acting on a failure failed: {another}. Restart the node.',
                throttle_duration_sec=LOG_PERIOD)


def spin(node: GuardedCallbacks) -> None:
    """
    Execute the callbacks of a node until its context shuts down.

    Args:
        node: The node.

    Raises:
        ExternalShutdownException: The context was shut down from elsewhere.
    """
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    while node.context.ok():
        try:
            executor.spin_once()
        except Exception as error:
            node.callback_failed('a message or call', error)
            time.sleep(PAUSE)

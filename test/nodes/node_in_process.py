# SPDX-License-Identifier: Apache-2.0
"""A node in the test's own process, whose callbacks are called without an executor."""

import time

from contexts import end_context, new_context
from diagnostic_msgs.msg import DiagnosticArray
from flexdyn_ros.nodes.inverse_dynamics_node import InverseDynamicsNode
import numpy as np
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Float64MultiArray


def overrides(parameters):
    """Return parameters as rclpy takes them, nested dictionaries as groups."""
    flat = {}
    for key, value in parameters.items():
        inner = value if isinstance(value, dict) else {None: value}
        flat.update({f'{key}.{k}' if k else key: v for k, v in inner.items()})
    return [Parameter(name, value=value) for name, value in flat.items()]


class TorqueNode:
    """
    An active inverse dynamics node.

    Attributes:
        node: The node.
        commands: Messages published on ~/commands, one array each.
        statuses: (level, message) of its diagnostics.
    """

    def __init__(self, parameters, activate=True):
        """Configure and activate the node."""
        self._context = new_context()
        self.commands, self.statuses, self.log = [], [], []
        given = {'autostart': False, 'backend': 'reference', **parameters}
        self.node = InverseDynamicsNode(
            context=self._context, parameter_overrides=overrides(given))
        output = self.node.cycle.output
        output._commands.get_subscription_count = lambda: 1
        output._commands.publish = lambda data: self.commands.append(
            np.array(deserialize_message(data, Float64MultiArray).data))
        self.node.diagnostics._publisher.publish = self._note
        if activate:
            self.activate()

    def activate(self):
        """Configure and activate the node."""
        self.node.trigger_configure()
        assert self.node.robot is not None, self.statuses
        self.node.trigger_activate()
        assert self.node.active
        # Tests call `_watch` themselves: on a busy machine any state may become stale.
        self.node.cycles.period = None

    def _note(self, message):
        assert isinstance(message, DiagnosticArray)
        self.statuses.append((message.status[0].level, message.status[0].message))

    @property
    def message(self):
        """The newest status message, published or not."""
        return self.node.diagnostics._message

    def state(self, message):
        """Send a message of joint_states."""
        self.node.joint_states[1].callback(serialize_message(message))

    def reference(self, message):
        """Send a message of ~/reference, as bytes where the node takes those."""
        subscription = self.node.inputs.reference.subscription
        subscription.callback(serialize_message(message) if subscription.raw else message)

    def trajectory(self, message):
        """Send a message of ~/trajectory_in, and return the published one."""
        service, found = self.node.trajectories, []
        service._publisher.publish = found.append
        service._subscription.callback(serialize_message(message))
        while not service._timer.is_canceled():
            service._timer.callback()
        if service._correction is not None:
            self.wait_for(lambda: service._correction._work is None)
        return [each if isinstance(each, type(message))
                else deserialize_message(each, type(message)) for each in found]

    def wait_for(self, condition, limit=60.0):
        """Execute callbacks of the node until a condition holds, and return its value."""
        executor = SingleThreadedExecutor(context=self._context)
        executor.add_node(self.node)
        end = time.monotonic() + limit
        while not condition():
            executor.spin_once(timeout_sec=0.01)
            assert time.monotonic() < end, self.message
        executor.shutdown()
        return condition()

    def answer(self, callback, *arguments):
        """Return the result of a coroutine of the node."""
        executor = SingleThreadedExecutor(context=self._context)
        executor.add_node(self.node)
        task = executor.create_task(callback, *arguments)
        executor.spin_until_future_complete(task, 60.0)
        executor.shutdown()
        return task.result()

    def set(self, **parameters):
        """Set parameters, __ for a dot; return the results."""
        given = {name.replace('__', '.'): value for name, value in parameters.items()}
        return self.node.set_parameters(overrides(given))

    def values(self):
        """Return the key-value pairs of diagnostics."""
        return self.node._diagnostic_values()

    def close(self):
        """Destroy the node."""
        self.node.end()
        end_context(self._context, self.node)

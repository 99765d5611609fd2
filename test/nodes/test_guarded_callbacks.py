# SPDX-License-Identifier: Apache-2.0
"""Failures outside the callbacks of a node's own, in the guard."""

from contextlib import suppress

from contexts import end_context, new_context
from flexdyn_ros.nodes.common.guarded_callbacks import GuardedCallbacks, spin
import pytest
from rclpy.executors import ExternalShutdownException

pytestmark = pytest.mark.ros


def test_what_is_not_guarded_as_it_is_created_costs_one_failure_too():
    """A guard condition stands for work of an executor between callbacks, such as a take."""
    context = new_context()
    node = GuardedCallbacks('listener', context=context)
    turns = []

    def fail():
        raise UnicodeDecodeError('utf-8', b'x', 0, 1, 'not decodable')

    condition = node.create_guard_condition(fail)

    def turn():
        turns.append(1)
        condition.trigger()
        if len(turns) > 3:
            context.shutdown()

    node.create_timer(0.01, turn)
    with suppress(ExternalShutdownException):
        spin(node)
    assert node.failures['a message or call'] >= 2
    assert len(turns) == 4
    end_context(context, node)


def test_a_failure_while_the_context_shuts_down_is_passed_on():
    context = new_context()
    node = GuardedCallbacks('listener', context=context)
    context.shutdown()
    with pytest.raises(RuntimeError, match='late'):
        node.callback_failed('timer', RuntimeError('late'))
    assert not node.failures
    end_context(context, node)

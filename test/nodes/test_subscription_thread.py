# SPDX-License-Identifier: Apache-2.0
"""The thread that serves joint states and references, apart from any executor."""

import gc
import time
from types import SimpleNamespace

from flexdyn_ros.nodes.common.topics import count_lost
from inverse_dynamics_cases import ROBOT, STATE
import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros

LIMIT = 20.0


@pytest.fixture
def made(torque_node):
    """Return an active node with a publisher of joint states beside it; no executor runs."""
    node = torque_node({'robot_description': ROBOT, 'timeout': 30.0})
    other = rclpy.create_node('other', context=node.node.context)
    node.publisher = other.create_publisher(JointState, 'joint_states', 1)
    yield node
    other.destroy_node()


def wait_for(condition, made):
    """Publish states until a condition holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, made.message
        made.publisher.publish(STATE)
        time.sleep(0.005)


def test_joint_states_are_answered_while_no_executor_runs(made):
    wait_for(lambda: made.commands, made)
    assert made.message == 'working'


def test_an_executor_leaves_the_messages_to_the_thread(made):
    threads = set()
    inner = made.node.measured.take_joint_states

    def noted(*arguments):
        import threading
        threads.add(threading.current_thread().name)
        return inner(*arguments)

    made.node.measured.take_joint_states = noted
    executor = SingleThreadedExecutor(context=made.node.context)
    executor.add_node(made.node)
    end = time.monotonic() + LIMIT
    while len(made.commands) < 20:
        assert time.monotonic() < end
        made.publisher.publish(STATE)
        executor.spin_once(timeout_sec=0.005)
    executor.shutdown()
    assert threads == {'subscriptions'}


def test_a_failed_cycle_follows_the_stale_policy_and_the_thread_goes_on(made, monkeypatch):
    wait_for(lambda: made.commands, made)
    gravity = made.node.dyn.gravity_vector([0.2, 0.3])

    def fail(sample):
        raise ZeroDivisionError('by a test')

    with monkeypatch.context() as patch:
        patch.setattr(made.node.feed_forward, 'torque', fail)
        wait_for(lambda: any(np.allclose(each, gravity) for each in made.commands), made)
    assert made.node.failures['joint_states']
    assert any('by a test' in text for _, text in made.statuses)
    wait_for(lambda: made.message == 'working', made)


def test_the_garbage_collector_leaves_out_what_an_active_node_is_made_of(made):
    """A full collection would hold the interpreter for 0.1 s and more."""
    made.node.trigger_deactivate()
    made.node.owns_process = True
    made.node.trigger_activate()
    assert len(gc.get_objects()) < 0.1 * gc.get_freeze_count()
    made.node.trigger_deactivate()
    assert gc.get_freeze_count() == 0


def test_a_message_that_cannot_be_taken_is_a_failure_and_no_end(made, monkeypatch):
    wait_for(lambda: made.commands, made)

    def fail(wait_set, handles):
        raise UnicodeDecodeError('utf-8', b'x', 0, 1, 'not decodable')

    with monkeypatch.context() as patch:
        patch.setattr(made.node.cycles, '_serve', fail)
        wait_for(lambda: made.node.failures['a message'] > 2, made)
        gravity = made.node.dyn.gravity_vector([0.2, 0.3])
        wait_for(lambda: np.allclose(made.commands[-1], gravity), made)
    before = len(made.commands)
    wait_for(lambda: len(made.commands) > before, made)


def test_events_of_the_middleware_are_served_by_the_thread(made):
    """As those of lost messages, which cannot be caused at will."""
    class Event:

        def add_to_wait_set(self, wait_set):
            self.added = True

        def is_ready(self, wait_set):
            return self.added

        def take_data(self):
            return SimpleNamespace(total_count=3)

    event = Event()
    event.callback = count_lost(made.node.lost, 'joint_states').message_lost
    made.node.cycles._events = [*made.node.cycles._events, event]
    wait_for(lambda: made.values().get('lost/joint_states') == 3, made)
    assert not made.node.failures


def test_states_that_fall_silent_are_noticed_while_no_executor_runs(made):
    made.node.parameters._values['timeout'] = 0.1
    wait_for(lambda: made.commands, made)
    made.node.cycles.period = 0.02
    end = time.monotonic() + LIMIT
    while not made.node.cycle.stops:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert np.allclose(made.commands[-1], made.node.dyn.gravity_vector([0.2, 0.3]))
    assert 'joint_states stale' in made.message


def test_a_deactivated_node_takes_states_and_publishes_nothing(made):
    wait_for(lambda: made.commands, made)
    made.node.trigger_deactivate()
    before, taken = len(made.commands), made.node.measured.age(time.monotonic())
    wait_for(lambda: made.node.measured.age(time.monotonic()) < taken, made)
    time.sleep(0.05)
    assert len(made.commands) == before
    made.node.trigger_cleanup()
    made.publisher.publish(STATE)
    made.activate()
    wait_for(lambda: len(made.commands) > before, made)


def test_the_thread_ends_with_the_node(torque_node):
    made = torque_node({'robot_description': ROBOT})
    thread = made.node.cycles._thread
    assert thread.is_alive()
    made.node.destroy_node()
    assert not thread.is_alive()


def test_messages_that_cannot_be_taken_stop_neither_the_watch_nor_other_topics(made, monkeypatch):
    """A reference that cannot be decoded, at a high rate, silences no torque."""
    wait_for(lambda: made.commands, made)
    thread = made.node.cycles
    take, reference = thread._take, made.node.inputs.reference.subscription
    sender = rclpy.create_node('sender', context=made.node.context)
    broken = sender.create_publisher(JointTrajectory, 'inverse_dynamics_node/reference', 1)

    def fail(handle, subscription):
        if subscription is reference:
            raise UnicodeDecodeError('utf-8', b'x', 0, 1, 'not decodable')
        take(handle, subscription)

    watched = []
    with monkeypatch.context() as patch:
        patch.setattr(thread, '_take', fail)
        patch.setattr(thread, '_watch', lambda: watched.append(len(made.commands)))
        thread.period = 0.01
        before = len(made.commands)

        def went_on():
            broken.publish(JointTrajectory())
            return (made.node.failures['a message'] > 3 and len(watched) > 3
                    and len(made.commands) > before + 3)

        wait_for(went_on, made)
    sender.destroy_node()


def test_a_stale_policy_that_is_set_while_it_acts_takes_effect(made):
    wait_for(lambda: made.commands, made)
    made.set(timeout=0.05)
    time.sleep(0.1)
    made.node._watch()
    assert 'policy gravity' in made.message
    assert made.commands[-1].any()
    made.set(stale_policy='zero')
    made.node._watch()
    assert 'policy zero' in made.message
    assert not made.commands[-1].any()

# SPDX-License-Identifier: Apache-2.0
"""Messages that start a computation, and the treatment of wrong stamps."""

from flexdyn_ros.nodes.arm.joint_state_cache import MOST_UNKNOWN
from flexdyn_ros.nodes.common.topics import count_lost
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from inverse_dynamics_cases import NAMES, ROBOT, STATE
from node_processes import joint_state, trajectory
import pytest

pytestmark = pytest.mark.ros


def stamped(when, elbow=0.3):
    """Return a state of the arm at a time [s]."""
    return joint_state(NAMES, (0.2, elbow), (0.4, -0.5), when)


def dropped(made, kind):
    """Return the number of messages dropped for this."""
    return made.values().get(f'dropped/{kind}', 0)


def test_only_messages_with_a_needed_joint_start_a_computation(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.state(STATE)
    made.state(joint_state(('gripper',), (0.1,), (0.0,)))
    made.state(joint_state((), (), ()))
    assert len(made.commands) == 1
    made.state(joint_state(('elbow', 'gripper'), (0.1, 0.1), (0.0, 0.0)))
    assert len(made.commands) == 2


def test_names_without_end_do_not_fill_the_memory(torque_node):
    made = torque_node({'robot_description': ROBOT})
    for k in range(30):
        made.state(joint_state([f'other_{k}_{n}' for n in range(20)], [0.0] * 20, [0.0] * 20))
    assert len(made.node.measured.unknown) == MOST_UNKNOWN


def test_a_name_that_comes_twice_drops_the_message(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.state(STATE)
    made.state(joint_state(('elbow', 'shoulder', 'elbow'), (1, 2, 3), (0, 0, 0)))
    assert len(made.commands) == 1
    assert made.message == 'joint_states dropped: it names elbow more than once'
    assert dropped(made, 'duplicate_names') == 1


def test_a_stamp_that_stands_still_drops_new_values_and_ages_old_ones(torque_node):
    made = torque_node({'robot_description': ROBOT, 'timeout': 30.0})
    made.state(stamped(5.0))
    received = made.node.measured.entries['elbow'].received
    made.state(stamped(5.0))  # repeated: answered again, and no younger
    assert len(made.commands) == 2
    assert made.node.measured.entries['elbow'].received == received
    made.state(stamped(5.0, elbow=0.31))
    assert len(made.commands) == 2
    assert 'the stamp repeats at 5 s' in made.message
    assert dropped(made, 'stamp_stands_still') == 1


def test_a_stamp_that_runs_back_is_dropped_until_the_time_is_set_anew(torque_node):
    made = torque_node({'robot_description': ROBOT, 'plausible.patience': 3})
    made.state(stamped(5.0))
    for k in range(3):
        made.state(stamped(2.0 + 0.01 * k))
    assert len(made.commands) == 1
    assert 'the stamp runs back by' in made.message
    assert dropped(made, 'stamp_runs_back') == 3
    made.state(stamped(2.03))
    made.state(stamped(2.04))
    assert len(made.commands) == 3


def test_stamps_of_two_publishers_are_not_compared(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.state(joint_state(('shoulder',), (0.2,), (0.4,), 100.0))
    for k in range(3):
        made.state(joint_state(('elbow',), (0.3,), (-0.5,), 5.0 + k))
    assert len(made.commands) == 3


def test_stamps_in_the_future_or_older_than_max_delay_are_dropped(torque_node):
    made = torque_node({'robot_description': ROBOT, 'max_delay': 2.0})
    now = made.node.get_clock().now().nanoseconds * 1e-9
    made.state(stamped(now - 1.0))
    assert len(made.commands) == 1
    made.state(stamped(now + 60.0))
    assert 'in the future' in made.message
    made.state(stamped(now - 60.0))
    assert 'max_delay is 2 s' in made.message
    assert len(made.commands) == 1
    assert dropped(made, 'stamp_in_future') == dropped(made, 'stamp_too_old') == 1


def test_stamps_of_references_that_start_computations_are_checked(torque_node):
    """The modes are integrated over these stamps."""
    made = torque_node({
        'robot_description': ROBOT, 'compute_on': 'reference', 'plausible.patience': 2})
    made.state(STATE)
    made.node._watch()
    assert made.message == 'waiting for ~/reference'

    def send(when, speed=0.1):
        message = trajectory(NAMES, (0, (), (speed, speed), ()))
        message.header.stamp.sec = when
        made.reference(message)

    send(5)
    fed = made.node.inputs.reference.watchdog._fed
    send(5)  # repeated: answered again, and no younger
    assert len(made.commands) == 2
    assert made.node.inputs.reference.watchdog._fed == fed
    send(5, 0.2)
    assert made.message == (
        'Reference refused: the stamp repeats at 5 s. Correct its publisher.')
    send(4)
    send(4)
    assert 'the stamp runs back by 1 s' in made.message
    assert made.values()['references_refused'] == 3
    assert len(made.commands) == 2
    send(4)
    assert len(made.commands) == 3


@pytest.mark.parametrize('ends', ['removed', 'silent'])
def test_references_that_start_computations_and_end_are_followed_by_the_policy(
    torque_node, ends
):
    made = torque_node({
        'robot_description': ROBOT, 'compute_on': 'reference', 'reference_timeout': 0.0,
        'timeout': 0.5})
    made.state(STATE)
    made.reference(trajectory(NAMES, (0, (), (), (1.0, 1.0))))
    if ends == 'removed':
        made.reference(trajectory(NAMES))
    made.node._watch()
    assert len(made.commands) == 1
    made.node.previous_input -= 1.0
    made.state(STATE)
    made.node._watch()
    assert made.message == 'no torque: no message has started a computation, policy gravity'
    gravity = made.node.feed_forward.gravity_torque(made.node.measured.positions)
    assert made.commands[-1] == pytest.approx(gravity)


def test_messages_that_the_middleware_drops_are_counted(torque_node):
    made = torque_node({'robot_description': ROBOT})
    events = count_lost(made.node.lost, 'joint_states')
    events.message_lost(type('Information', (), {'total_count': 7})())
    assert made.values()['lost/joint_states'] == 7
    handlers = [
        handler for subscription in made.node.joint_states
        for handler in subscription.event_handlers]
    assert len(handlers) >= 2


def test_a_missing_joint_is_named_once_in_the_log(torque_node, capfd):
    made = torque_node({'robot_description': ROBOT})
    made.state(joint_state(('shoulder',), (0.2,), (0.4,)))
    for _ in range(5):
        made.node._watch()
    assert capfd.readouterr().err.count('joint_states lack elbow') == 1


def test_saturated_efforts_of_a_trajectory_are_named(torque_node, capfd):
    made = torque_node({'robot_description': ROBOT.replace('effort="50"', 'effort="1"')})
    made.state(STATE)
    rest = ((0.0, 0.0),) * 2
    out = made.trajectory(
        trajectory(NAMES, *((t, (0.2, 0.3), *rest) for t in (0.0, 0.5, 1.0))))
    assert [list(point.effort)[1] for point in out[0].points] == [-1.0] * 3
    assert 'efforts are saturated: elbow at 3 points' in capfd.readouterr().err
    assert made.values()['trajectory_saturated/elbow'] == 3


def test_a_trajectory_whose_effort_fails_is_not_published_in_part(torque_node, monkeypatch):
    made = torque_node({'robot_description': ROBOT})
    made.state(STATE)
    works = FeedForward.torque

    def fail(self, sample):
        if sample.time > 0.0:
            raise ZeroDivisionError('division by zero')
        return works(self, sample)

    monkeypatch.setattr(FeedForward, 'torque', fail)
    rest = ((0.0, 0.0),) * 2
    assert made.trajectory(
        trajectory(NAMES, *((t, (0.2, 0.3), *rest) for t in (0.0, 0.5)))) == []
    assert made.values()['failures/TrajectoryService._work'] == 1

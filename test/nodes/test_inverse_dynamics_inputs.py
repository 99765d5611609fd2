# SPDX-License-Identifier: Apache-2.0
"""States and references of the inverse dynamics node, good, bad and stale."""

from arms import flexible_arm
from diagnostic_msgs.msg import DiagnosticStatus
import flexdyn_ros as fd
from inverse_dynamics_cases import (
    BEST_EFFORT,
    COMMANDS,
    expected,
    NAMES,
    NODE,
    ROBOT,
    sending,
    STATE,
    wait_for_torque,
)
from node_processes import joint_state, trajectory
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros

MOVING = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))


@pytest.mark.parametrize(
    ('positions', 'velocities', 'word'),
    [
        ((0.2, float('nan')), (0.4, -0.5), 'position is nan'),
        ((0.2, 0.3), (0.4, float('inf')), 'velocity is inf'),
        ((), (0.4, -0.5), 'position is missing'),
        ((0.2, 0.3), (), 'velocity is missing'),
    ],
)
def test_bad_states_stop_the_torque_and_diagnostics_name_the_joint(
    torque_node, positions, velocities, word
):
    made = torque_node({'robot_description': ROBOT, 'stale_policy': 'hold'})
    made.state(STATE)
    made.state(joint_state(NAMES, positions, velocities))
    assert len(made.commands) == 1
    level, message = made.statuses[-1]
    assert level == DiagnosticStatus.ERROR
    assert f'elbow: {word}' in message
    made.state(STATE)
    assert len(made.commands) == 2


def test_nan_or_missing_efforts_are_ignored(torque_node):
    made = torque_node({'robot_description': ROBOT})
    message = joint_state(NAMES, (0.2, 0.3), (0.4, -0.5))
    message.effort = [float('nan'), float('nan')]
    made.state(message)
    assert made.commands[-1] == pytest.approx(MOVING)


def test_a_message_with_arrays_of_the_wrong_length_is_dropped_by_name(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.state(joint_state(NAMES, (0.2, 0.3, 0.4), (0.4, -0.5)))
    assert 'position has 3 elements for 2' in made.message
    assert made.commands == []


def test_two_publishers_with_some_joints_each_make_one_state(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.state(joint_state(('elbow',), (0.3,), (-0.5,)))
    assert 'shoulder: never received' in made.message
    assert made.commands == []
    made.state(joint_state(('shoulder',), (0.2,), (0.4,)))
    assert made.commands[-1] == pytest.approx(MOVING)


@pytest.mark.parametrize(
    'qos', [QoSProfile(depth=5), BEST_EFFORT], ids=['reliable', 'best_effort']
)
def test_joint_states_of_any_reliability_are_heard(probe, start, qos):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe, qos=qos))


def test_states_that_fall_silent_over_dds_are_followed_by_gravity_and_a_ramp(probe, start):
    """By default, and without a request."""
    start(NODE, {
        'robot_description': ROBOT, 'timeout': 0.2, 'stale_gravity_time': 0.5,
        'stale_ramp_time': 0.5})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    wait_for_torque(probe, commands, MOVING, 'torque', sending(probe))
    gravity = fd.Dynamics(fd.load_robot(ROBOT)).gravity_vector([0.2, 0.3])
    wait_for_torque(probe, commands, gravity, 'gravity', lambda: None)
    wait_for_torque(probe, commands, np.zeros(2), 'zero', lambda: None)
    ramp = [m.data[0] / gravity[0] for m in commands]
    assert any(0.1 < part < 0.9 for part in ramp)
    probe.wait_for(
        lambda: any('stale, policy gravity' in s.status[0].message for s in statuses), 'status')


@pytest.mark.parametrize('policy', ['hold', 'zero', 'gravity'])
def test_stale_states_follow_the_policy(torque_node, policy):
    made = torque_node({'robot_description': ROBOT, 'stale_policy': policy, 'timeout': 0.2})
    made.state(STATE)
    for entry in made.node.measured.entries.values():
        entry.received -= 1.0
    made.node._watch()
    wanted = {
        'hold': MOVING,
        'zero': np.zeros(2),
        'gravity': fd.Dynamics(fd.load_robot(ROBOT)).gravity_vector([0.2, 0.3]),
    }[policy]
    assert made.commands[-1] == pytest.approx(wanted)
    assert made.message == f'joint_states stale, policy {policy}'


def test_a_reference_that_falls_silent_follows_the_policy(torque_node):
    made = torque_node({'robot_description': ROBOT, 'stale_policy': 'zero'})
    made.state(STATE)
    made.reference(trajectory(NAMES, (0, (), (), (1.0, 1.0))))
    assert made.commands[-1] == pytest.approx(
        expected(ROBOT, (0.2, 0.3), (0.4, -0.5), (1.0, 1.0)))
    made.node.inputs.reference.watchdog._fed -= 1.0
    made.state(STATE)
    assert made.commands[-1].tolist() == [0.0, 0.0]
    assert made.message == '~/reference stale, policy zero'


def test_estimated_modes_correct_those_of_the_torque(torque_node):
    """With modes.observed the torque is that of the estimate; bad estimates are ignored."""
    text = flexible_arm()
    made = torque_node({
        'robot_description': text, 'torque_model': 'flexible_hybrid', 'modes.observed': True,
        'change_ramp_time': 0.0, 'soft_start_time': 0.0})
    names = made.node.robot.mode_names
    state = joint_state(NAMES, (0.2, 0.3), (0.4, -0.5))
    state.header.stamp = made.node.get_clock().now().to_msg()
    state.header.stamp.nanosec //= 2
    made.state(state)
    still = made.commands[-1]
    delta, rate = [0.01, -0.001], [0.2, 0.1]
    topic = made.node.inputs.modes._subscription
    for bad in (joint_state(names[:1], delta[:1], rate[:1]), joint_state(names, delta, ()),
                joint_state(names, (float('nan'), 0.0), rate)):
        topic.callback(bad)
    assert made.node.inputs.modes.refused == 3
    topic.callback(joint_state(names[::-1], delta[::-1], rate[::-1]))
    state.header.stamp.nanosec += 10000
    made.state(state)
    dyn = fd.Dynamics(fd.load_robot(text), backend='reference')
    wanted, _ = dyn.hybrid_dynamics([0.2, 0.3, *delta], [0.4, -0.5, *rate], [0.0, 0.0])
    assert np.abs(wanted - still).max() > 0.1
    # The modes have been integrated over ten microseconds.
    assert made.commands[-1] == pytest.approx(wanted, abs=0.01 * np.abs(wanted - still).max())
    assert made.node.inputs.values(0.0)['modal_states_refused'] == 3


def test_without_vibrating_modes_estimates_are_refused(torque_node):
    made = torque_node({'robot_description': ROBOT, 'modes.observed': True}, activate=False)
    made.node.trigger_configure()
    assert 'no vibrating modes' in made.message

# SPDX-License-Identifier: Apache-2.0
"""Torques of an arm while none can be computed, and bounds on their changes."""

from flexdyn_ros.nodes.torque.torque_shaping import policy_in_force, StaleEpisode, TorqueShaping
from inverse_dynamics_cases import NAMES, ROBOT, STATE
from node_processes import joint_state
import numpy as np
import pytest

pytestmark = pytest.mark.ros

NAN = float('nan')


@pytest.mark.parametrize(
    ('chosen', 'contains', 'expected'),
    [('auto', True, 'gravity'), ('auto', False, 'zero'), ('hold', True, 'hold'),
     ('zero', True, 'zero'), ('gravity', False, 'gravity')],
)
def test_hold_must_be_asked_for(chosen, contains, expected):
    assert policy_in_force(chosen, contains) == expected


def test_gravity_is_held_for_a_time_and_then_falls_to_zero():
    episode = StaleEpisode(gravity_time=2.0, ramp_time=4.0)
    assert [episode.weight(t) for t in (10.0, 12.0, 13.0, 15.0, 16.0, 99.0)] == [
        1.0, 1.0, 0.75, 0.25, 0.0, 0.0]
    episode.end()
    assert episode.weight(100.0) == 1.0
    assert StaleEpisode(0.0, 0.0).weight(1.0) == 1.0


def test_without_settings_a_torque_passes_bit_for_bit():
    torque = np.array([0.1, -1e5])
    assert TorqueShaping().shaped(torque, 3.0) is torque


def test_a_soft_start_grows_from_zero_and_a_rate_limit_bounds_each_change():
    soft = TorqueShaping(soft_start=2.0)
    torque = np.array([8.0, -4.0])
    assert [soft.shaped(torque, t).tolist() for t in (5.0, 5.5, 7.0)] == [
        [0.0, -0.0], [2.0, -1.0], [8.0, -4.0]]
    limited = TorqueShaping(rate_limit=10.0)
    given = []
    for t in (1.0, 1.1, 1.2, 2.2):
        given.append(limited.shaped(torque, t))
        limited.note(given[-1], t)
    assert np.allclose(given, [[0, 0], [1, -1], [2, -2], [8, -4]])


def test_the_step_of_a_changed_model_is_spread_and_a_second_one_goes_on_from_there():
    shaping = TorqueShaping(change_time=1.0)
    old, new, newest = (np.array([x]) for x in (10.0, 20.0, 0.0))
    assert shaping.shaped(old, 0.0).tolist() == [10.0]
    shaping.change()
    assert [shaping.shaped(new, t)[0] for t in (0.1, 0.6)] == pytest.approx([10.0, 15.0])
    shaping.change()
    found = [shaping.shaped(newest, t)[0] for t in (0.6, 1.1, 1.7)]
    assert found == pytest.approx([15.0, 7.5, 0.0])


def test_a_soft_start_or_ramp_that_has_begun_keeps_its_time():
    """A new time neither makes the torque jump nor divides by zero."""
    soft = TorqueShaping(soft_start=2.0, change_time=1.0)
    torque = np.array([8.0])
    assert soft.shaped(torque, 0.0) == [0.0]
    soft.soft_start = 100.0
    assert soft.shaped(torque, 1.0) == [4.0]
    assert soft.shaped(torque, 3.0) == [8.0]
    soft.change()
    assert soft.shaped(0.0 * torque, 4.0) == [8.0]
    soft.change_time = 0.0
    assert soft.shaped(0.0 * torque, 4.5) == [4.0]
    assert soft.shaped(0.0 * torque, 5.0) == [0.0]


def test_after_a_stop_the_torque_starts_softly_from_what_is_published():
    """Neither the time without torques nor the torque before the stop counts."""
    shaping = TorqueShaping(soft_start=2.0, change_time=1.0)
    before, after = np.array([8.0]), np.array([10.0])
    for t in (0.0, 5.0):
        shaping.note(shaping.shaped(before, t), t)
    assert shaping.published == [8.0]
    shaping.interrupt()
    shaping.note(np.array([2.0]), 9.0)
    shaping.change()
    assert [shaping.shaped(after, t)[0] for t in (50.0, 51.0, 52.0)] == [2.0, 6.0, 10.0]
    limited = TorqueShaping(rate_limit=10.0)
    limited.note(np.array([3.0]), 1.0)
    limited.interrupt()
    assert limited.shaped(after, 1e3) == [3.0]


@pytest.mark.parametrize('policy', ['gravity', 'zero', 'hold'])
def test_torque_returns_softly_after_each_policy(torque_node, policy):
    made = torque_node({'robot_description': ROBOT, 'stale_policy': policy})
    bad = joint_state(NAMES, (NAN, 0.3), (0.4, -0.5))
    made.state(STATE)
    computed = made.commands[-1]
    made.set(soft_start_time=1e4)
    made.state(STATE)
    assert made.commands[-1] == pytest.approx(computed)  # it acts at the next start alone
    for _ in range(2):
        made.state(bad)
        stopped = made.commands[-1]
        made.state(STATE)
        assert made.commands[-1] == pytest.approx(stopped, rel=1e-3)
    made.node.cycle.shaping._soft = (-1e9, 1.0, stopped)
    made.state(STATE)
    assert made.commands[-1] == pytest.approx(computed)


def test_the_policy_follows_what_the_torque_contains(torque_node):
    """Gravity where it is in the torque; zero where the robot compensates gravity itself."""
    bad = joint_state(NAMES, (NAN, 0.3), (0.4, -0.5))
    for contains, policy in ((True, 'gravity'), (False, 'zero')):
        made = torque_node({'robot_description': ROBOT, 'compensate.gravity': contains})
        made.state(bad)
        made.state(STATE)
        assert len(made.commands) == 1
        made.state(bad)
        assert f'policy {policy}' in made.message
        expected = made.node.feed_forward.gravity_torque(np.array([0.2, 0.3])) * contains
        assert made.commands[-1] == pytest.approx(expected)


def test_hold_publishes_nothing_and_before_the_first_torque_no_policy_acts(torque_node):
    made = torque_node({'robot_description': ROBOT, 'stale_policy': 'hold'})
    made.state(STATE)
    made.state(joint_state(NAMES, (NAN, 0.3), (0.4, -0.5)))
    assert len(made.commands) == 1
    assert 'policy hold' in made.message
    fresh = torque_node({'robot_description': ROBOT, 'stale_policy': 'zero'}, activate=False)
    fresh.node.trigger_configure()
    fresh.state(STATE)
    fresh.node.trigger_activate()
    fresh.state(joint_state(NAMES, (NAN, 0.3), (0.4, -0.5)))
    assert fresh.commands == []


def test_soft_start_and_rate_limit_do_not_delay_a_stop(torque_node):
    made = torque_node({
        'robot_description': ROBOT, 'stale_policy': 'zero', 'torque_rate_limit': 1000.0,
        'soft_start_time': 0.01})
    for _ in range(30):
        made.state(STATE)
    started = made.commands[-1]
    while np.abs(made.commands[-1]).max() < 10.0:
        made.state(STATE)
    assert np.abs(made.commands[0]).max() == 0.0
    assert started is not None
    made.state(joint_state(NAMES, (NAN, 0.3), (0.4, -0.5)))
    assert made.commands[-1].tolist() == [0.0, 0.0]

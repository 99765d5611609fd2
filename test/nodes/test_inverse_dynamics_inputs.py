# SPDX-License-Identifier: Apache-2.0
"""The inverse dynamics node over DDS: states and references, good, bad and stale."""

from diagnostic_msgs.msg import DiagnosticStatus
import flexdyn_ros as fd
from inverse_dynamics_cases import BEST_EFFORT
from inverse_dynamics_cases import COMMANDS
from inverse_dynamics_cases import expected
from inverse_dynamics_cases import NAMES
from inverse_dynamics_cases import NODE
from inverse_dynamics_cases import ROBOT
from inverse_dynamics_cases import sending
from inverse_dynamics_cases import wait_for_torque
from node_processes import joint_state
from node_processes import trajectory
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros


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
    probe, start, positions, velocities, word
):
    start(NODE, {'robot_description': ROBOT, 'stale_policy': 'hold'})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    probe.wait_for(lambda: commands, 'torque before', sending(probe))
    bad = joint_state(NAMES, positions, velocities)
    told = probe.wait_for(
        lambda: [
            s.status[0].message for s in statuses
            if s.status[0].level == DiagnosticStatus.ERROR and word in s.status[0].message
        ],
        f'ERROR with "{word}"',
        sending(probe, bad),
    )
    assert 'elbow' in told[0]
    commands.clear()
    seen = len(statuses)
    probe.wait_for(lambda: len(statuses) > seen + 1, 'two more statuses', sending(probe, bad))
    assert not commands
    probe.wait_for(lambda: commands, 'torque after recovery', sending(probe))
    assert all(np.all(np.isfinite(message.data)) for message in commands)


def test_nan_or_missing_efforts_are_ignored(probe, start):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    message = joint_state(NAMES, (0.2, 0.3), (0.4, -0.5))
    message.effort = [float('nan'), float('nan')]
    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, torque, 'torque', sending(probe, message))


def test_a_message_with_arrays_of_the_wrong_length_is_dropped_by_name(probe, start):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    bad = joint_state(NAMES, (0.2, 0.3, 0.4), (0.4, -0.5))
    probe.wait_for(
        lambda: any('position has 3 elements for 2' in s.status[0].message for s in statuses),
        'diagnostic',
        sending(probe, bad),
    )
    assert not commands


def test_two_publishers_with_some_joints_each_make_one_state(probe, start):
    start(NODE, {'robot_description': ROBOT, 'timeout': 5.0})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    halves = [joint_state((NAMES[k],), ((0.2, 0.3)[k],), ((0.4, -0.5)[k],)) for k in (0, 1)]
    turn = []

    def alternate():
        turn.append(1)
        probe.publish('joint_states', halves[len(turn) % 2], qos=10 + len(turn) % 2)

    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, torque, 'torque', alternate)


def test_a_missing_joint_means_no_torque(probe, start):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    half = joint_state(('shoulder',), (0.2,), (0.4,))
    probe.wait_for(
        lambda: any('elbow: never received' in s.status[0].message for s in statuses),
        'diagnostic',
        sending(probe, half),
    )
    assert not commands


@pytest.mark.parametrize(
    'qos', [QoSProfile(depth=5), BEST_EFFORT], ids=['reliable', 'best_effort']
)
def test_joint_states_of_any_reliability_are_heard(probe, start, qos):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe, qos=qos))


@pytest.mark.parametrize('policy', ['hold', 'zero', 'gravity'])
def test_stale_states_follow_the_policy(probe, start, policy):
    start(NODE, {'robot_description': ROBOT, 'stale_policy': policy, 'timeout': 0.2})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    moving = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, moving, 'torque', sending(probe))
    wanted = {
        'hold': moving,
        'zero': np.zeros(2),
        'gravity': fd.Dynamics(fd.load_robot(ROBOT)).gravity_vector([0.2, 0.3]),
    }[policy]
    probe.wait_for(
        lambda: any(f'stale, policy {policy}' in s.status[0].message for s in statuses), 'stale'
    )
    wait_for_torque(probe, commands, wanted, policy, lambda: None)


def test_a_reference_that_falls_silent_follows_the_policy(probe, start):
    start(NODE, {'robot_description': ROBOT, 'stale_policy': 'zero', 'reference_timeout': 0.3})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    wait_for_torque(
        probe, commands, expected(ROBOT, (0.2, 0.3), (0.4, -0.5)), 'torque', sending(probe)
    )
    probe.publish(f'/{NODE}/reference', trajectory(NAMES, (0, (), (), (1.0, 1.0))))
    wait_for_torque(probe, commands, np.zeros(2), 'zero', sending(probe))

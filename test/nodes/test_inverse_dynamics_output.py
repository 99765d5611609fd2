# SPDX-License-Identifier: Apache-2.0
"""The inverse dynamics node over DDS: limits, message types and names of its torques."""

from arms import rigid_arm
from inverse_dynamics_cases import (
    COMMANDS,
    expected,
    NODE,
    ROBOT,
    sending,
    set_parameter,
    wait_for_torque,
)
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from node_processes import key_values
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros


def test_torques_saturate_at_the_effort_limits_and_joints_are_flagged(probe, start):
    urdf = rigid_arm(efforts=(5, 50))
    start(NODE, {'robot_description': urdf})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    torque = expected(urdf, (0.2, 0.3), (0.4, -0.5))
    assert torque[0] < -5.0
    wait_for_torque(probe, commands, (-5.0, torque[1]), 'saturated', sending(probe))
    flags = probe.wait_for(
        lambda: [key_values(s) for s in statuses
                 if key_values(s).get('saturated/shoulder') == 'True'],
        'flag',
        sending(probe),
    )
    assert flags[-1]['saturated/elbow'] == 'False'


def test_a_declared_effort_of_zero_needs_a_decision(probe, start):
    node = start(NODE, {'robot_description': rigid_arm(efforts=(0, 50)), 'autostart': False})
    configure = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_CONFIGURE))
    activate = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_ACTIVATE))
    assert not probe.call(ChangeState, f'/{NODE}/change_state', configure).success
    assert 'Joints shoulder declare <limit effort="0">' in node.log
    assert set_parameter(probe, 'zero_effort_limit', 'unlimited').successful
    assert probe.call(ChangeState, f'/{NODE}/change_state', configure).success
    assert probe.call(ChangeState, f'/{NODE}/change_state', activate).success
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe))


def test_the_effort_display_has_full_length_and_only_joints_with_limits(probe, start):
    start(NODE, {'robot_description': rigid_arm(limits=False)})
    shown = probe.listen(JointState, f'/{NODE}/effort_display')
    probe.wait_for(lambda: shown, 'effort display', sending(probe))
    assert list(shown[-1].name) == ['shoulder']
    assert len(shown[-1].effort) == 1


def test_commands_can_be_a_joint_state(probe, start):
    start(NODE, {'robot_description': ROBOT, 'command_type': 'JointState'})
    commands = probe.listen(JointState, COMMANDS)
    probe.wait_for(lambda: commands, 'command', sending(probe))
    assert np.allclose(commands[-1].effort, expected(ROBOT, (0.2, 0.3), (0.4, -0.5)))

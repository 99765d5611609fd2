# SPDX-License-Identifier: Apache-2.0
"""Limits, message types and names of the torques of the inverse dynamics node."""

import time

from arms import rigid_arm
from inverse_dynamics_cases import COMMANDS, expected, NODE, ROBOT, sending, STATE
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros


def test_torques_saturate_at_the_effort_limits_and_joints_are_flagged(torque_node):
    urdf = rigid_arm(efforts=(5, 50))
    made = torque_node({'robot_description': urdf})
    torque = expected(urdf, (0.2, 0.3), (0.4, -0.5))
    assert torque[0] < -5.0
    made.state(STATE)
    assert made.commands[-1] == pytest.approx([-5.0, torque[1]])
    assert made.message == 'saturated: shoulder'
    flags = made.values()
    assert (flags['saturated/shoulder'], flags['saturated/elbow']) == (True, False)


def test_a_declared_effort_of_zero_needs_a_decision(torque_node):
    made = torque_node({'robot_description': rigid_arm(efforts=(0, 50))}, activate=False)
    made.node.trigger_configure()
    assert made.node.robot is None
    assert 'Joints shoulder declare <limit effort="0">' in made.message
    assert made.set(zero_effort_limit='unlimited')[0].successful
    made.activate()
    made.state(STATE)
    assert made.commands


def test_the_effort_display_has_full_length_and_only_joints_with_limits(torque_node):
    made = torque_node({'robot_description': rigid_arm(limits=False)})
    shown = []
    output = made.node.cycle.output
    output._display.publish = lambda data: shown.append(deserialize_message(data, JointState))
    made.state(STATE)
    assert not shown  # without a subscriber
    output._display.get_subscription_count = lambda: 1
    until_counted(made, shown)
    assert list(shown[-1].name) == ['shoulder']
    assert len(shown[-1].effort) == 1


def until_counted(made, shown):
    """Send states until the node has counted its subscribers anew."""
    end = time.monotonic() + 10.0
    while not shown and time.monotonic() < end:
        made.state(STATE)


def test_commands_can_be_a_joint_state(probe, start):
    start(NODE, {'robot_description': ROBOT, 'command_type': 'JointState'})
    commands = probe.listen(JointState, COMMANDS)
    probe.wait_for(lambda: commands, 'command', sending(probe))
    assert np.allclose(commands[-1].effort, expected(ROBOT, (0.2, 0.3), (0.4, -0.5)))


def test_topics_without_a_subscriber_are_not_published(torque_node, monkeypatch):
    monkeypatch.setattr('flexdyn_ros.nodes.torque.torque_cycle.COUNT_PERIOD', 0.0)
    made = torque_node({'robot_description': ROBOT})
    output, sent = made.node.cycle.output, []
    for publisher in (output._commands, output._torques, output._display):
        publisher.publish = lambda message, publisher=publisher: sent.append(publisher)
        publisher.get_subscription_count = lambda: 0
    made.state(STATE)
    assert sent == []
    output._torques.get_subscription_count = lambda: 1
    made.state(STATE)
    assert sent == [output._torques]

# SPDX-License-Identifier: Apache-2.0
"""Friction compensation near standstill."""

import flexdyn_ros as fd
from flexdyn_ros.nodes.torque.torque_terms import QuietFriction
from inverse_dynamics_cases import NAMES, ROBOT
from node_processes import joint_state, trajectory
import numpy as np
import pytest

pytestmark = pytest.mark.ros


def test_the_velocity_fades_in_between_one_and_two_dead_bands():
    quiet = QuietFriction(fd.load_robot(ROBOT), 0.1)
    speeds = [-0.3, -0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.3]
    found = [quiet.velocities(np.array([v, v]))[0] for v in speeds]
    assert found == pytest.approx([-0.3, -0.075, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.3])
    # The elbow has no friction.
    assert quiet.velocities(np.array([0.05, 0.05]))[1] == 0.05
    quiet.desired[:] = True
    assert quiet.velocities(np.array([0.05, 0.05]))[0] == 0.05


def test_noise_at_standstill_does_not_reach_the_torque(torque_node):
    """Measured noise makes the friction of the model jump; a desired velocity counts in full."""
    random = np.random.default_rng(1)
    spread = {}
    for band in (0.0, 0.01):
        made = torque_node({'robot_description': ROBOT, 'friction_dead_band': band})
        for _ in range(50):
            made.state(joint_state(NAMES, (0.2, 0.3), random.uniform(-0.005, 0.005, 2)))
        spread[band] = np.ptp(np.array(made.commands)[:, 0])
    assert spread[0.0] > 0.1  # the shoulder's dry friction is 0.3 N m
    assert spread[0.01] < 1e-3
    rest = made.commands[-1]
    made.reference(trajectory(NAMES, (0, (), (0.005, 0.0), ())))
    assert made.commands[-1][0] - rest[0] == pytest.approx(
        0.7 * 0.005 + 0.3 * np.tanh(0.5), rel=1e-2)

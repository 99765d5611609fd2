# SPDX-License-Identifier: Apache-2.0
"""A base whose motion is prescribed, in the nodes' models: it stands or moves on, and holds."""

from arms import flexible_arm
import flexdyn_ros as fd
from flexdyn_ros.nodes.arm.arm_coordinates import actuated_joints, ArmCoordinates
from flexdyn_ros.nodes.simulator.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.simulator.joint_controller import JointController
import numpy as np
import pytest


def load(motion):
    """Return the dynamics of the flexible arm on a heavy base that moves so."""
    payload = '<payload link="base" mass="20" ixx="2" iyy="2" izz="2"/>'
    text = flexible_arm().replace('</flexdyn>', f'<base motion="{motion}"/>{payload}</flexdyn>')
    return fd.Dynamics(fd.load_robot(text), backend='reference')


def simulator(dyn):
    """Return a simulator of the actuated joints without a controller."""
    joints = actuated_joints(dyn.robot)
    return ArmSimulator(dyn, joints, 1e-3, JointController((), (), len(joints)))


def test_only_a_free_base_is_undriven():
    """A free base accelerates by the arm; a prescribed base does not."""
    counts = {
        motion: len(ArmCoordinates(load(motion).robot).undriven(('shoulder', 'elbow')))
        for motion in ('fixed', 'prescribed', 'free')
    }
    assert counts == {'fixed': 0, 'prescribed': 0, 'free': 6}
    assert actuated_joints(load('prescribed').robot) == ('shoulder', 'elbow')


def test_the_simulated_arm_moves_as_on_ground():
    """At rest the prescribed base carries the arm's fall as a fixed one does; a free one falls."""
    ends = {}
    for motion in ('fixed', 'prescribed', 'free'):
        arm = simulator(load(motion))
        arm.advance(0.02)
        ends[motion] = arm.q
    assert ends['prescribed'][7:] == pytest.approx(ends['fixed'], abs=1e-12)
    assert np.array_equal(ends['prescribed'][:7], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    assert ends['free'][2] < -1e-4

# SPDX-License-Identifier: Apache-2.0
"""The swing of a simulated arm without commands."""

from arms import flexible_arm
import flexdyn_ros as fd
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.nodes.root_frame import root_link
from flexdyn_ros.nodes.simulator.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.simulator.joint_controller import JointController
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
import numpy as np
import pytest


@pytest.mark.ros
def test_amplitudes_lead_away_from_the_nearer_limit_and_stay_within():
    from flexdyn_ros.nodes.simulator.swing_motion import signed_amplitude

    inf = float('inf')
    assert signed_amplitude(0.0, -inf, inf, 0.3) == 0.3
    assert signed_amplitude(2.0, -3.0, 3.0, 0.3) == -0.3
    assert signed_amplitude(0.0, 0.0, 0.2, 0.3) == pytest.approx(0.16)
    assert signed_amplitude(0.0, 0.0, 0.0, 0.3) == 0.0


@pytest.mark.ros
def test_an_arm_under_gravity_follows_the_swing():
    """A flexible arm that hangs out horizontally swings and returns; joints stay close."""
    from flexdyn_ros.nodes.simulator.swing_motion import swing_gains, SwingMotion

    dyn = fd.Dynamics(fd.load_robot(flexible_arm()))
    joints, period, cycle = ('shoulder', 'elbow'), 2.0, 0.005
    simulator = ArmSimulator(
        dyn, joints, 1e-3, JointController(*swing_gains(dyn, joints, period), 2), (), True)
    motion = SwingMotion(simulator.q[:2].copy(), np.array([0.3, -0.3]), period)
    feed_forward = FeedForward(dyn, 'flexible_quasi_static')
    off, moved = 0.0, 0.0
    while simulator.time < period:
        q, qd, qdd = motion.at(simulator.time)
        simulator.controller.position, simulator.controller.velocity = q, qd
        off = max(off, np.abs(simulator.q[:2] - q).max())
        moved = max(moved, simulator.q[0])
        sample = JointSample(simulator.time, simulator.q[:2], simulator.qd[:2], qdd)
        simulator.effort = feed_forward.torque(sample)
        simulator.advance(cycle)
    assert off < 0.1
    assert 0.2 < moved < 0.4
    assert simulator.q[:2] == pytest.approx([0.0, 0.0], abs=0.1)


def test_the_root_link_is_no_joints_child():
    assert root_link(flexible_arm()) == 'base'
    with pytest.raises(ValueError, match='2 root links: a, b'):
        root_link('<robot name="r"><link name="a"/><link name="b"/></robot>')

# SPDX-License-Identifier: Apache-2.0
"""The simulator that a node runs, with loops: no ROS is needed for it."""

from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.nodes.arm.deflection import JointSample
from flexdyn_ros.nodes.simulator.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.simulator.joint_controller import JointController
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.torque_terms import TorqueTerms
import numpy as np
import pytest
import xacro

URDF = Path(__file__).resolve().parents[3] / 'urdf'


def simulator(name, joints, positions=(), kp=(), kd=()):
    """Return the simulator of an example mechanism, and its dynamics."""
    robot = fd.load_robot(xacro.process_file(str(URDF / f'{name}.urdf.xacro')).toprettyxml())
    dyn = fd.Dynamics(robot)
    controller = JointController(kp, kd, len(joints))
    return ArmSimulator(dyn, joints, 2e-3, controller, positions), dyn


def test_a_commanded_crank_starts_where_it_is_put_and_stays_closed():
    arm, dyn = simulator('four_bar', ['crank'], [0.4])
    assert arm.q[0] == pytest.approx(0.4)
    assert np.abs(dyn.loop_gaps(arm.q)).max() < 1e-12
    arm.effort = np.array([1.5])
    for _ in range(20):
        arm.advance(0.01)
    assert np.abs(dyn.loop_gaps(arm.q)).max() < 1e-12
    assert np.abs(dyn.loop_jacobian(arm.q) @ arm.qd).max() < 1e-11
    alone = fd.simulate(dyn, arm._initial, np.zeros(3), [1.5, 0, 0], 0.2, 2e-3)
    np.testing.assert_allclose(arm.q, alone.q[-1], atol=1e-6)


def test_terms_of_the_torque_are_those_of_the_motors():
    """Gravity alone, and all terms but friction: nothing on passive joints."""
    _, dyn = simulator('four_bar', ['crank'])
    q, qd = dyn.project([0.7, 0, 0], [2.0, 0, 0], hold=['crank'])
    qdd = dyn.forward_dynamics(q, qd, [0.4, 0, 0])
    without = TorqueTerms(friction=False).sum(dyn, q, qd, qdd)
    np.testing.assert_allclose(without, [0.4, 0, 0], atol=1e-9)
    gravity = TorqueTerms(coriolis=False, inertia=False, friction=False).sum(dyn, q, qd, qdd)
    np.testing.assert_allclose(gravity, dyn.inverse_dynamics(q, 0 * qd, 0 * qd), atol=1e-12)
    still = dyn.forward_dynamics(q, 0 * qd, gravity)
    np.testing.assert_allclose(still, 0 * qd, atol=1e-9)


def test_legs_of_several_axes_under_a_controller():
    """Motors of single axes of joints of several hold the platform near its hanging place."""
    joints = [f'leg{k}/tx' for k in (1, 2, 3)]
    arm, dyn = simulator('hslm', joints, kp=(2000.0,), kd=(200.0,))
    arm.advance(0.004)
    assert np.abs(dyn.loop_gaps(arm.q)).max() < 1e-11
    assert 0.0 < -arm.qd[dyn.robot.joint_names.index('leg1/rz')] < 0.1


def test_gravity_of_a_delta_is_shared_by_its_motors():
    robot = fd.load_robot(xacro.process_file(str(URDF / 'delta.urdf.xacro')).toprettyxml())
    dyn = fd.Dynamics(robot, backend='reference')
    sample = JointSample(0.0, np.zeros(15), np.zeros(15), np.zeros(15))
    torque = FeedForward(dyn, 'gravity', TorqueTerms()).torque(sample)
    motors = [robot.joint_names.index(f'motor{k}') for k in (1, 2, 3)]
    np.testing.assert_allclose(torque[motors], torque[motors[0]], rtol=1e-9)
    assert np.count_nonzero(torque) == 3


def test_a_static_start_of_a_bent_mechanism_rests_under_the_torque_that_holds_it():
    robot = fd.load_robot(xacro.process_file(str(URDF / 'delta.urdf.xacro')).toprettyxml())
    dyn, motors = fd.Dynamics(robot), [f'motor{k}' for k in (1, 2, 3)]
    arm = ArmSimulator(
        dyn, motors, 2e-3, JointController((), (), 3), (0.1, -0.05, 0.2), static_deflection=True)
    hold = dyn.inverse_dynamics(arm.q, np.zeros(17), np.zeros(17))
    arm.effort = hold[[robot.joint_names.index(name) for name in motors]]
    start = arm.q.copy()
    np.testing.assert_allclose(arm.q[arm.columns], (0.1, -0.05, 0.2), atol=1e-12)
    assert np.abs(start[15:]).max() > 1e-4
    arm.advance(0.02)
    np.testing.assert_allclose(arm.q, start, atol=1e-7)

# SPDX-License-Identifier: Apache-2.0
"""An arm on a base that is free: torques, modes, and the simulator, without ROS."""

from arm_states import load, random_state
from arms import flexible_arm, moving_arm, rigid_arm
import flexdyn_ros as fd
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.arm_coordinates import actuated_joints
from flexdyn_ros.nodes.arm.joint_motion import JointSample, ModalState
from flexdyn_ros.nodes.simulator.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.simulator.joint_controller import JointController
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
import numpy as np
import pytest


@pytest.mark.parametrize('gravity', ['0 0 0', '0 0 -9.81'])
@pytest.mark.parametrize('kind', ['floating', 'planar'])
def test_the_torque_of_a_free_motion_is_the_one_that_caused_it(kind, gravity):
    dyn, coordinates = load(moving_arm(rigid_arm(), kind, axis='0 1 0', gravity=gravity))
    q, qd = random_state(dyn)
    tau = np.zeros(dyn.robot.nv)
    tau[-2:] = 3.0, -2.0
    qdd = dyn.forward_dynamics(q, qd, tau)
    known = qdd.copy()
    known[:-2] = np.nan  # the accelerations of the base are not looked at
    free = coordinates.undriven(actuated_joints(dyn.robot))
    assert len(free) == dyn.robot.nv - 2
    forward = FeedForward(dyn, 'rigid', free=free)
    assert np.allclose(forward.torque(JointSample(0.0, q, qd, known)), tau, atol=1e-9)
    held = FeedForward(dyn, 'rigid')
    assert not np.allclose(
        held.torque(JointSample(0.0, q, qd, np.nan_to_num(known)))[-2:], tau[-2:], atol=0.1)


def free_flexible_motion(steps):
    """Return dynamics, free coordinates, and a motion of a floating arm that bends."""
    dyn, coordinates = load(moving_arm(flexible_arm(), 'floating'))
    robot = dyn.robot
    torque = np.zeros(robot.nv)
    torque[robot.n_joints - 2:robot.n_joints] = 1.0, -0.5

    def drive(t, q, qd):
        return torque * np.sin(8.0 * t) ** 2

    motion = fd.simulate(
        dyn, robot.neutral_configuration(), np.zeros(robot.nv), drive, 0.002 * steps, 0.002)
    return dyn, coordinates, motion, drive


def sample_of(dyn, motion, k, tau):
    """Return joint sample and modal state of a simulated motion at sample k."""
    robot = dyn.robot
    q, qd = motion.q[k], motion.qd[k]
    qdd = dyn.forward_dynamics(q, qd, tau)
    n, m = robot.n_joints, robot.n_modes
    state = ModalState(q[-m:], qd[n:], qdd[n:])
    return JointSample(motion.t[k], q[:-m], qd[:n], qdd[:n]), state


def test_the_modes_of_a_free_arm_follow_together_with_its_base():
    dyn, coordinates, motion, drive = free_flexible_motion(60)
    free = coordinates.undriven(actuated_joints(dyn.robot))
    forward = FeedForward(dyn, 'flexible_hybrid', free=free)
    for k in range(len(motion.t)):
        tau = drive(motion.t[k], None, None)
        sample, state = sample_of(dyn, motion, k, tau)
        # With the simulated modal state the torque is the one that drove the motion ...
        exact = forward.torque_with(sample, state)
        assert np.allclose(exact, tau[:len(exact)], atol=1e-9)
        # ... and the integrated modes stay near the simulated ones.
        found = forward.torque(sample)
    assert np.allclose(forward.state.delta, state.delta, rtol=0.02, atol=1e-6)
    assert np.allclose(found, tau[:len(found)], atol=0.02)


def test_an_arm_that_rests_in_free_fall_does_not_sag():
    dyn, coordinates = load(moving_arm(flexible_arm(), 'floating', gravity='0 0 -9.81'))
    rest = np.zeros(dyn.robot.n_joints)
    sample = JointSample(0.0, coordinates.neutral_positions, rest, rest)
    free = coordinates.undriven(actuated_joints(dyn.robot))
    falling = FeedForward(dyn, 'flexible_quasi_static', free=free)
    assert np.allclose(falling.torque(sample), 0.0, atol=1e-9)
    assert np.allclose(falling.state.delta, 0.0, atol=1e-12)
    standing = FeedForward(dyn, 'flexible_quasi_static')
    standing.torque(sample)
    assert abs(standing.state.delta[0]) > 1e-3


# The simulator.


@pytest.mark.parametrize('arm', [rigid_arm(), flexible_arm()])
def test_the_simulator_moves_a_floating_arm_as_simulate_does(arm):
    dyn, _ = load(moving_arm(arm))
    simulator = ArmSimulator(dyn, ('shoulder', 'elbow'), 0.002, JointController((), (), 2))
    simulator.effort = np.array([2.0, -1.0])
    simulator.step = 0.002
    simulator.advance(0.1)
    tau = np.zeros(dyn.robot.nv)
    tau[dyn.robot.n_joints - 2:dyn.robot.n_joints] = simulator.effort
    start = dyn.robot.neutral_configuration()
    expected = fd.simulate(dyn, start, np.zeros(dyn.robot.nv), tau, 0.1, 0.002)
    assert np.allclose(simulator.q, expected.q[-1], rtol=1e-9, atol=1e-12)
    assert np.allclose(simulator.qd, expected.qd[-1], rtol=1e-9, atol=1e-12)


def test_a_simulated_floating_arm_keeps_its_momentum():
    dyn, coordinates = load(moving_arm(rigid_arm()))
    simulator = ArmSimulator(dyn, ('shoulder', 'elbow'), 0.001, JointController((), (), 2))
    simulator.effort = np.array([5.0, -3.0])
    simulator.advance(0.5)
    (joint,) = coordinates.multi_dof
    assert np.abs(simulator.qd).max() > 0.5
    # The rows of the mass matrix for the base are its momentum in body axes.
    momentum = (dyn.mass_matrix(simulator.q) @ simulator.qd)[joint.velocities]
    assert np.allclose(momentum, 0.0, atol=1e-8)


def test_velocities_without_a_position_can_be_driven_and_not_positioned():
    dyn, _ = load(moving_arm(rigid_arm()))
    thrusters = ('body/tx', 'shoulder')
    simulator = ArmSimulator(dyn, thrusters, 0.01, JointController((), (1.0,), 2))
    simulator.effort = np.array([10.0, 0.0])
    simulator.advance(0.01)
    assert simulator.qd[0] > 0.0
    with pytest.raises(FlexdynError, match='"body/tx" is a velocity without a position'):
        ArmSimulator(dyn, thrusters, 0.01, JointController((1.0,), (), 2))
    with pytest.raises(FlexdynError, match='body/tx'):
        ArmSimulator(dyn, thrusters, 0.01, JointController((), (), 2), (0.1, 0.2))

# SPDX-License-Identifier: Apache-2.0
"""Floating, planar and ball joints in the nodes: transforms, twists, and a base that is free."""

from types import SimpleNamespace

from arms import flexible_arm
from arms import moving_arm
from arms import rigid_arm
import flexdyn_ros as fd
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm_coordinates import actuated_joints
from flexdyn_ros.nodes.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.arm_simulator import JointController
from flexdyn_ros.nodes.feed_forward import FeedForward
from flexdyn_ros.nodes.joint_motion import JointSample
from flexdyn_ros.nodes.joint_motion import ModalState
from flexdyn_ros.nodes.measured_state import MeasuredState
import numpy as np
import pytest

BALL = moving_arm(rigid_arm()).replace('<flexdyn version="1.0">', """<flexdyn version="1.0">
  <multi_axis_joint joint="body" axes="rx ry rz tx tz" rotation="quaternion"/>""")
JOINTS = {
    'floating': moving_arm(rigid_arm()),
    'planar, normal z': moving_arm(rigid_arm(), 'planar'),
    'planar, slanted': moving_arm(rigid_arm(), 'planar', axis='0.48 -0.6 0.64'),
    'ball with slides': BALL,
}


def load(text):
    """Return the dynamics and the coordinates of a robot."""
    dyn = fd.Dynamics(fd.load_robot(text), backend='reference')
    return dyn, ArmCoordinates(dyn.robot)


def random_state(dyn, seed=5):
    """Return a configuration with unit quaternions and velocities."""
    random = np.random.default_rng(seed)
    q, qd = random.uniform(-1.0, 1.0, dyn.robot.nq), random.uniform(-1.0, 1.0, dyn.robot.nv)
    for start in dyn.robot.quaternion_starts:
        q[start:start + 4] /= np.linalg.norm(q[start:start + 4])
    return q, qd


@pytest.mark.parametrize('name', JOINTS)
def test_transform_and_twist_are_pose_and_velocity_of_the_child_frame(name):
    dyn, coordinates = load(JOINTS[name])
    q, qd = random_state(dyn)
    (joint,) = coordinates.multi_dof
    own, rates = q[joint.positions], qd[joint.velocities]
    position, (x, y, z, w) = joint.pose(own)
    pose = dyn.frame_pose(q, 'base')
    assert np.allclose(position, pose[:3, 3], atol=1e-12)
    # Trace and antisymmetric part of a rotation matrix, Diebel (2006).
    assert np.trace(pose[:3, :3]) == pytest.approx(4 * w * w - 1)
    skew = pose[:3, :3] - pose[:3, :3].T
    assert np.allclose([skew[2, 1], skew[0, 2], skew[1, 0]], 4 * w * np.array([x, y, z]))
    twist = dyn.jacobian(q, 'base') @ qd
    linear, angular = joint.twist(own, rates)
    assert np.allclose(pose[:3, :3] @ linear, twist[:3], atol=1e-12)
    assert np.allclose(pose[:3, :3] @ angular, twist[3:], atol=1e-12)


@pytest.mark.parametrize('name', JOINTS)
def test_states_come_back_from_transform_and_twist(name):
    dyn, coordinates = load(JOINTS[name])
    (joint,) = coordinates.multi_dof
    q, qd = random_state(dyn)
    own, rates = q[joint.positions], qd[joint.velocities]
    position, quaternion = joint.pose(own)
    for sign in (1.0, -1.0):  # the same rotation
        found = joint.positions_of(position, sign * quaternion, own)
        assert np.allclose(found, own, atol=1e-12)
    assert np.allclose(joint.velocities_of(own, *joint.twist(own, rates)), rates, atol=1e-12)


def test_the_angle_of_a_planar_joint_goes_on_beyond_half_a_turn():
    _, coordinates = load(JOINTS['planar, slanted'])
    (joint,) = coordinates.multi_dof
    own = None
    for angle in np.arange(0.0, 20.0, 0.5):
        own = joint.positions_of(*joint.pose(np.array([1.0, 2.0, angle])), own)
        assert np.allclose(own, [1.0, 2.0, angle])


# What nodes hear.


def vector(x, y, z):
    """Return an object with three numbers."""
    return SimpleNamespace(x=x, y=y, z=z)


def transforms(*poses, stamp=0, names=('body',), twists=True):
    """Return an object with the fields of a MultiDOFJointState, each pose x y z and x y z w."""
    made = [
        SimpleNamespace(
            translation=vector(*pose[:3]),
            rotation=SimpleNamespace(**dict(zip('xyzw', pose[3:]))))
        for pose in poses
    ]
    twist = SimpleNamespace(linear=vector(1.0, 2.0, 3.0), angular=vector(4.0, 5.0, 6.0))
    return SimpleNamespace(
        header=header(stamp), joint_names=list(names), transforms=made,
        twist=[twist] * len(poses) if twists else [])


def header(nanosec):
    """Return an object with the fields of a Header."""
    return SimpleNamespace(stamp=SimpleNamespace(sec=1, nanosec=nanosec))


def joints(stamp=0):
    """Return an object with the fields of a JointState of the arm."""
    return SimpleNamespace(
        header=header(stamp), name=['elbow', 'shoulder'], position=[0.2, 0.1],
        velocity=[0.4, 0.3])


UPRIGHT = (0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0)


def test_the_measured_state_is_that_of_both_topics():
    measured = MeasuredState(load(JOINTS['floating'])[1])
    assert measured.names == ('shoulder', 'elbow', 'body')
    assert measured.problems(0.0, 1.0) == dict.fromkeys(measured.names, 'never received')
    measured.take_joint_states(joints(), 10.0)
    assert not measured.complete
    measured.take_multi_dof(transforms(UPRIGHT), 10.5)
    assert measured.complete and not measured.problems(10.9, 1.0)
    assert measured.positions.tolist() == [*UPRIGHT, 0.1, 0.2]
    assert measured.velocities.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.3, 0.4]
    assert measured.age(11.0) == 1.0
    assert measured.problems(11.2, 1.0).keys() == {'shoulder', 'elbow'}


@pytest.mark.parametrize(('message', 'words'), [
    (transforms((np.nan, *UPRIGHT[1:])), 'transform is'),
    (transforms((*UPRIGHT[:3], 0.0, 0.0, 0.0, 0.0)), 'no unit quaternion'),
    (transforms(UPRIGHT, twists=False), 'twist is missing'),
    (SimpleNamespace(**{**vars(transforms(UPRIGHT)), 'transforms': []}), 'transform is missing'),
])
def test_unusable_transforms_name_the_joint_and_the_reason(message, words):
    measured = MeasuredState(load(JOINTS['floating'])[1])
    measured.take_multi_dof(transforms(UPRIGHT), 1.0)
    assert measured.take_multi_dof(message, 2.0) is None
    assert words in measured.problems(2.0, 9.0)['body']
    assert measured.positions[:7].tolist() == [*UPRIGHT]  # the last valid ones


def test_twists_are_not_needed_where_velocities_are_not():
    measured = MeasuredState(load(JOINTS['floating'])[1], need_velocity=False)
    measured.take_multi_dof(transforms(UPRIGHT, twists=False), 1.0)
    assert 'body' not in measured.problems(1.0, 9.0)


def test_arrays_of_a_wrong_length_drop_the_message_and_unknown_names_are_noted():
    measured = MeasuredState(load(JOINTS['floating'])[1])
    dropped = measured.take_multi_dof(transforms(UPRIGHT, names=('body', 'other')), 1.0)
    assert dropped == 'multi_dof_joint_states dropped: transforms has 1 elements for 2 names'
    measured.take_multi_dof(transforms(UPRIGHT, names=('other',)), 1.0)
    assert measured.unknown == {'other'}


def test_equal_stamps_pair_the_topics():
    measured = MeasuredState(load(JOINTS['floating'])[1])
    heard = []
    for take, message in (
        (measured.take_joint_states, joints(1)),  # not known yet whether stamps will agree
        (measured.take_multi_dof, transforms(UPRIGHT, stamp=1)),
        (measured.take_multi_dof, transforms(UPRIGHT, stamp=2)),
        (measured.take_joint_states, joints(2)),
        (measured.take_joint_states, joints(3)),
        (measured.take_multi_dof, transforms(UPRIGHT, stamp=3)),
    ):
        take(message, 0.0)
        heard.append(measured.whole)
    assert heard == [True, True, False, True, False, True]


def test_topics_of_their_own_clocks_are_not_paired():
    measured = MeasuredState(load(JOINTS['floating'])[1])
    measured.take_joint_states(joints(1), 0.0)
    assert measured.whole
    measured.take_multi_dof(transforms(UPRIGHT, stamp=7), 0.0)
    assert not measured.whole
    measured.take_joint_states(joints(11), 0.0)
    assert measured.whole


# A base that is free.


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


def test_axes_of_a_multi_axis_joint_are_told_one_by_one():
    text = BALL.replace(' rotation="quaternion"', '')
    dyn, coordinates = load(text)
    assert not coordinates.multi_dof
    names = ('body/rx', 'body/ry', 'body/rz', 'body/tx', 'body/tz', 'shoulder', 'elbow')
    assert tuple(coordinates.places) == names
    assert actuated_joints(dyn.robot) == names

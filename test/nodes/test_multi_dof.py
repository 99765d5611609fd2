# SPDX-License-Identifier: Apache-2.0
"""Floating, planar and ball joints in the nodes: transforms, twists, both topics."""

from types import SimpleNamespace

from arm_states import load, random_state
from arms import moving_arm, rigid_arm
from flexdyn_ros.nodes.arm.arm_coordinates import actuated_joints
from flexdyn_ros.nodes.arm.measured_state import MeasuredState
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
        found = joint.positions_of((position, sign * quaternion), own)
        assert np.allclose(found, own, atol=1e-12)
    assert np.allclose(joint.velocities_of(own, joint.twist(own, rates)), rates, atol=1e-12)


def test_the_angle_of_a_planar_joint_goes_on_beyond_half_a_turn():
    _, coordinates = load(JOINTS['planar, slanted'])
    (joint,) = coordinates.multi_dof
    own = None
    for angle in np.arange(0.0, 20.0, 0.5):
        own = joint.positions_of(joint.pose(np.array([1.0, 2.0, angle])), own)
        assert np.allclose(own, [1.0, 2.0, angle])


# Messages that nodes receive.


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


def test_axes_of_a_multi_axis_joint_are_told_one_by_one():
    text = BALL.replace(' rotation="quaternion"', '')
    dyn, coordinates = load(text)
    assert not coordinates.multi_dof
    names = ('body/rx', 'body/ry', 'body/rz', 'body/tx', 'body/tz', 'shoulder', 'elbow')
    assert tuple(coordinates.places) == names
    assert actuated_joints(dyn.robot) == names

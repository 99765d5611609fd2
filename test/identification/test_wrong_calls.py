# SPDX-License-Identifier: Apache-2.0
"""Wrong motions, choices and folders: each is an error that names the place and the remedy."""

import pickle

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, FileNotWritten, NotYetSupported, UnknownName
from flexdyn_ros.model.check import check_robot
import numpy as np
import pytest
from simulated_arms import described_arm, recorded, true_arm

PLAIN = {'friction': 'default', 'delay': 0.0}
LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>
  <origin xyz="0.3 0 0"/><axis xyz="0 1 0"/>{}
  <limit lower="-2" upper="2" effort="50" velocity="2"/></joint>"""


@pytest.fixture(scope='module')
def arm():
    return described_arm()


@pytest.fixture(scope='module')
def motion(arm):
    random = np.random.default_rng(1)
    return recorded(true_arm(arm, random), random, seconds=6.0)


@pytest.fixture(scope='module')
def found(arm, motion):
    return fd.identify(arm, motion, **PLAIN)


def robot_of(*parts, extension=None):
    """Return a robot on a base, of links and joints in XML."""
    return fd.load_robot(
        f'<robot name="small"><link name="base"/>{"".join(parts)}</robot>', extension=extension)


def changed(motion, rows=slice(None), **arrays):
    """Return a motion with some of its samples, and with other arrays."""
    given = {'t': motion.t, 'q': motion.q, 'tau': motion.tau, **arrays}
    return fd.Motion(**{name: value[rows] for name, value in given.items()})


@pytest.mark.parametrize(('argument', 'value', 'words'), [
    ('names', 'abc', '3 different names'),
    ('names', 5, '3 different names'),
    ('names', [['a'], ['b'], ['c']], '3 different names'),
    ('q', np.zeros((100, 3)) * 1j, 'real numbers'),
    ('q', np.zeros((100, 3), dtype=bool), 'real numbers'),
    ('q', np.zeros((100, 0)), 'has no column'),
    ('qd', np.zeros((100, 2)), r'\(100, 2\), expected \(100, 3\)'),
    ('tau', [None] * 100, 'real numbers'),
])
def test_motions_refuse(argument, value, words):
    given = {'t': np.arange(100.0), 'q': np.zeros((100, 3)), argument: value}
    with pytest.raises(ArgumentError, match=words) as caught:
        fd.Motion(**given)
    assert caught.value.argument == argument


def test_motions_that_determine_nothing_are_refused(arm, motion):
    with pytest.raises(ArgumentError, match='all zero'):
        fd.identify(arm, changed(motion, tau=0.0 * motion.tau), **PLAIN)
    with pytest.raises(ArgumentError, match='holds one time alone'):
        fd.identify(arm, changed(motion, t=0.0 * motion.t), **PLAIN)
    with pytest.raises(ArgumentError, match='18 equations for 25 base parameters'):
        fd.identify(arm, changed(motion, slice(0, 100)), **PLAIN)
    with pytest.raises(ArgumentError, match='check their units'):
        fd.identify(arm, changed(motion, tau=1e200 * motion.tau), saturation=None, **PLAIN)


@pytest.mark.parametrize('motions', [None, 3, {'a': 1}, [np.zeros((100, 3))]])
def test_motions_of_another_type_are_refused(arm, found, motions):
    with pytest.raises(ArgumentError, match='expected a Motion'):
        fd.identify(arm, motions)
    with pytest.raises(ArgumentError, match='expected a Motion'):
        found.torque(motions)


def test_errors_name_the_motion(arm, motion):
    with pytest.raises(ArgumentError, match=r'"motions\[1\]" is a motion without torques'):
        fd.identify(arm, [motion, fd.Motion(motion.t, motion.q)])
    fewer = changed(motion, q=motion.q[:, :2], tau=motion.tau[:, :2])
    with pytest.raises(ArgumentError, match=r'"motions\[1\]" has 2 columns .* expected 3: joint1'):
        fd.identify(arm, [motion, fewer])


@pytest.mark.parametrize(('choice', 'value', 'words'), [
    ('friction', 'viscos', 'Did you mean "viscous"'),
    ('friction', None, 'expected names'),
    ('friction', {'joint1': 5}, 'expected names'),
    ('cutoff', 'a', 'real numbers'), ('cutoff', 0.0, 'positive'),
    ('trim', -1.0, 'zero or more'), ('saturation', 0.0, 'positive'),
    ('saturation', np.nan, 'not finite'), ('smoothing_velocity', 0.0, 'positive'),
    ('delay', np.array([1, 2]), 'at most 0.2 s'), ('weight', np.inf, 'not finite'),
    ('gravity', 'yes', 'True or False'), ('physical', 1, 'True or False'),
    ('progress', 5, 'function'), ('payload', 'base', 'does not move'),
    ('fixed', np.array(5), 'expected names'), ('bounds', np.eye(2), 'expected names'),
    ('fixed', 5, 'expected names'), ('fixed', {'joint1/viscous': 'x'}, 'real numbers'),
    ('fixed', {'joint1/viscous': -1}, 'zero or more'), ('fixed', {'link1/mass': 0}, 'positive'),
    ('bounds', 5, 'expected names'), ('bounds', {'joint1/viscous': 3}, r'\(low, high\)'),
    ('bounds', {'joint1/viscous': (-5, -1)}, 'zero or more'),
])
def test_choices_refuse(arm, motion, choice, value, words):
    with pytest.raises(ArgumentError, match=words) as caught:
        fd.identify(arm, motion, **{**PLAIN, choice: value})
    assert caught.value.argument == choice


def test_choices_that_exclude_each_other_are_refused(arm, motion):
    with pytest.raises(ArgumentError, match='together with a payload'):
        fd.identify(arm, motion, payload='link3', gravity=True)
    with pytest.raises(ArgumentError, match='physical is False'):
        fd.identify(arm, motion, bounds={'link2/mass': (1, 2)}, physical=False)
    with pytest.raises(ArgumentError, match='no unknown parameter that changes'):
        fd.identify(arm, motion, payload='base', friction='none')


def test_a_bounded_mass_leaves_a_possible_body(arm, motion):
    found = fd.identify(arm, motion, bounds={'link2/mass': (1.0, 2.0)}, **PLAIN)
    assert 1.0 < found.parameters['link2/mass'].value < 2.0
    assert not check_robot(found.robot).errors


def test_robots_of_other_kinds(motion):
    rolling = [LINK.format('a'), JOINT.format('first', 'floating', 'base', 'a', '')]
    closed = [LINK.format('a'), JOINT.format('first', 'revolute', 'base', 'a', ''),
              LINK.format('b'), JOINT.format('second', 'revolute', 'base', 'b', '')]
    loop = ('<flexdyn version="1.0"><loop name="closed" frame1="a" frame2="b" '
            'constrain="tx tz"/></flexdyn>')
    for robot in (robot_of(*rolling), robot_of(*closed, extension=loop)):
        count = robot.n_joints
        wide = np.tile(motion.q[:, :1], count)
        with pytest.raises(NotYetSupported, match='loops and quaternions'):
            fd.identify(robot, fd.Motion(motion.t, wide, tau=wide))
    with pytest.raises(ArgumentError, match='"robot" has no joint that moves'):
        fd.identify(robot_of(), motion)


def test_a_mimic_joint_is_part_of_its_leader(tmp_path):
    robot = robot_of(
        LINK.format('a'), JOINT.format('first', 'revolute', 'base', 'a', ''), LINK.format('b'),
        JOINT.format('second', 'revolute', 'a', 'b', '<mimic joint="first" multiplier="2"/>'))
    found = fd.identify(
        robot, recorded(robot, np.random.default_rng(0), noise=0.01, seconds=8.0), **PLAIN)
    assert found.model.coordinates == ('first',)
    assert found.statistics.physical_rms[0] < 0.01 < found.statistics.torque_rms[0]
    assert fd.load_robot(found.write(tmp_path)[0]) == found.robot


def test_torques_of_a_motion_need_its_coordinates(found, motion):
    elastic = (*motion.names, 'joint1/elastic')
    wide = np.column_stack([motion.q, motion.q[:, 0]])
    with pytest.raises(UnknownName, match='joint1/elastic'):
        found.torque(fd.Motion(motion.t, wide, names=elastic))
    with pytest.raises(ArgumentError, match='"motion" has no column of joint3'):
        found.torque(fd.Motion(motion.t, motion.q[:, :2], names=motion.names[:2]))


def test_results_pickle(found, motion):
    again = pickle.loads(pickle.dumps(found))
    assert again.parameters == found.parameters and again.robot == found.robot
    assert np.array_equal(again.torque(motion), found.torque(motion))


def test_results_write_over_their_files_and_name_a_folder_that_fails(found, tmp_path):
    assert found.write(tmp_path) == found.write(str(tmp_path))
    (tmp_path / 'taken').write_text('')
    for folder in (tmp_path / 'taken', tmp_path / 'taken' / 'inner', 'nul\0', None, 3):
        with pytest.raises(FileNotWritten, match='cannot be written'):
            found.write(folder)
    assert (tmp_path / 'taken').read_text() == ''


def test_a_robot_from_xacro_is_written_and_read_again(arm, motion, tmp_path):
    text = arm.descriptions[0].replace('<mass value="4"/>', '<mass value="${2 * half}"/>')
    text = text.replace('<robot name="arm3">', (
        '<robot name="arm/3" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:property name="half" value="2"/>'))
    (tmp_path / 'arm.urdf.xacro').write_text(text)
    found = fd.identify(fd.load_robot(tmp_path / 'arm.urdf.xacro'), motion, **PLAIN)
    files = found.write(tmp_path / 'out')
    assert files[0].name == 'arm_3.urdf'
    assert fd.load_robot(files[0]) == found.robot


def test_a_joint_whose_torques_are_all_beyond_its_limit_is_named(arm, motion):
    """Some limits in descriptions are made up."""
    effort = motion.tau.copy()
    effort[:, 1] = 1e4
    with pytest.raises(ArgumentError, match='no torque of "joint2" below its effort limit'):
        fd.identify(arm, changed(motion, tau=effort), **PLAIN)


@pytest.mark.parametrize('physical', [True, False])
def test_a_joint_at_constant_speed_leaves_its_inertia_alone(physical):
    """Its acceleration is rounding, which is no excitation."""
    robot = robot_of(
        LINK.format('upper'), JOINT.format('lift', 'continuous', 'base', 'upper', ''),
        LINK.format('tip'), JOINT.format('bend', 'continuous', 'upper', 'tip', ''))
    dyn, t = fd.Dynamics(robot, 'reference'), np.arange(0.0, 6.0, 0.01)
    swing = np.sin(2.0 * t) + 0.3 * np.sin(5.0 * t)
    q = np.column_stack([0.5 * t, swing])
    qd = np.column_stack([0.5 + 0.0 * t, 2.0 * np.cos(2.0 * t) + 1.5 * np.cos(5.0 * t)])
    qdd = np.column_stack([0.0 * t, -4.0 * np.sin(2.0 * t) - 7.5 * np.sin(5.0 * t)])
    tau = np.array([dyn.inverse_dynamics(*state) for state in zip(q, qd, qdd, strict=True)])
    motion = fd.Motion(t, q, qd, tau)
    found = fd.identify(robot, motion, physical=physical, **PLAIN)
    assert max(abs(each.value) for each in found.parameters.values()) < 10.0
    assert found.torque(motion)[50:-50] == pytest.approx(tau[50:-50], abs=0.01)

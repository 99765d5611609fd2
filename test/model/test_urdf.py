# SPDX-License-Identifier: Apache-2.0
"""Facts of a URDF as they arrive in the robot: defaults, rotations, order, mimic joints."""

import math

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.base import rotation_from_rpy
from model_texts import ARM, inertial, joint, link, one_joint, robot
import numpy as np
import pytest
from scipy.spatial.transform import Rotation


def test_arm_in_depth_first_order():
    arm = load_robot(ARM)
    assert arm.name == 'arm'
    assert arm.root == 'base'
    assert arm.frame_names == ('base', 'upper', 'fore', 'tool', 'finger', 'buoy')
    assert tuple(j.name for j in arm.joints) == ('shoulder', 'elbow', 'wrist', 'grip', 'mooring')
    assert arm.joint_names == (
        'shoulder', 'elbow', *(f'mooring/{s}' for s in ('tx', 'ty', 'tz', 'rx', 'ry', 'rz')),
    )
    assert (arm.n_joints, arm.n_modes, arm.nv, arm.nq) == (8, 0, 8, 9)
    assert arm.total_mass == 2.0 + 1.0 + 0.1 + 3.0
    assert arm.actuated == ('shoulder', 'elbow', 'mooring')
    assert arm.source == str(ARM)


def test_children_keep_file_order_whatever_the_order_of_links_and_joints():
    text = robot(
        link('d'), link('c'), link('b'), link('a'),
        joint('second', 'a', 'd'), joint('third', 'a', 'b'), joint('deep', 'd', 'c'),
    )
    loaded = load_robot(text)
    assert loaded.frame_names == ('a', 'd', 'c', 'b')
    assert loaded.joint_names == ('second', 'deep', 'third')


def test_long_chain_needs_no_recursion():
    n = 3000
    parts = [link(f'l{k}') for k in range(n)]
    parts += [joint(f'j{k}', f'l{k}', f'l{k + 1}') for k in range(n - 1)]
    assert load_robot(robot(*parts)).n_joints == n - 1


@pytest.mark.parametrize('rpy', [(0.3, -1.1, 2.0), (0.0, 0.0, 0.0), (3.0, math.pi / 2, -3.0)])
def test_rpy_is_the_exact_rotation(rpy):
    expected = Rotation.from_euler('xyz', rpy).as_matrix()
    np.testing.assert_allclose(rotation_from_rpy(rpy), expected, atol=1e-15)


def test_origin_by_quaternion():
    quaternion = Rotation.from_euler('xyz', (0.3, -1.1, 2.0)).as_quat() * 2.0
    text = ' '.join(map(repr, quaternion.tolist()))
    loaded = load_robot(one_joint(inner=f'<origin quat_xyzw="{text}"/><axis xyz="0 0 1"/>'))
    np.testing.assert_allclose(
        loaded.joint('j').origin.rotation, rotation_from_rpy((0.3, -1.1, 2.0)), atol=1e-15
    )


def test_inertia_is_turned_into_link_axes():
    rpy = (0.4, 0.5, -0.6)
    text = inertial(2.0, (0.1, 0.2, 0.3), (0.3, 0.4, 0.5), (0.01, 0.02, 0.03),
                    ' '.join(map(repr, rpy)))
    inertia = load_robot(one_joint(inertial=text)).link('b').inertia
    turn = Rotation.from_euler('xyz', rpy).as_matrix()
    written = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    assert inertia.mass == 2.0
    assert inertia.com == (0.1, 0.2, 0.3)
    np.testing.assert_allclose(inertia.matrix, turn @ written @ turn.T, atol=1e-15)
    assert np.array_equal(inertia.matrix, np.transpose(inertia.matrix))


def test_inertial_without_origin_is_at_the_link_frame():
    inertia = load_robot(one_joint()).link('b').inertia
    assert inertia.com == (0.0, 0.0, 0.0)
    assert inertia.matrix[0] == (0.1, 0.0, 0.0)


@pytest.mark.parametrize('text', [
    '',
    '<inertial><mass value="0"/></inertial>',
    '<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    '</inertial>',
])
def test_no_mass_is_invented(text):
    loaded = load_robot(one_joint(inertial=text))
    assert loaded.link('b').inertia is None
    assert loaded.total_mass == 0.0


@pytest.mark.parametrize(('inner', 'axis'), [
    ('', (1.0, 0.0, 0.0)),
    ('<axis xyz="0 0 -2"/>', (0.0, 0.0, -1.0)),
    ('<axis xyz="1 1 0"/>', (math.sqrt(0.5), math.sqrt(0.5), 0.0)),
])
def test_axis(inner, axis):
    for kind in ('revolute', 'continuous', 'prismatic', 'planar'):
        assert load_robot(one_joint(kind, inner)).joint('j').axis == pytest.approx(axis, abs=1e-15)


@pytest.mark.parametrize('kind', ['fixed', 'floating'])
def test_axis_of_a_joint_without_one_may_be_zero(kind):
    assert load_robot(one_joint(kind, '<axis xyz="0 0 0"/>')).joint('j').axis == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(('kind', 'names'), [
    ('revolute', ('j',)),
    ('continuous', ('j',)),
    ('prismatic', ('j',)),
    ('fixed', ()),
    ('planar', ('j/x', 'j/y', 'j/theta')),
    ('floating', ('j/tx', 'j/ty', 'j/tz', 'j/rx', 'j/ry', 'j/rz')),
])
def test_coordinates_of_each_joint_type(kind, names):
    assert load_robot(one_joint(kind)).coordinate_names == names


def test_limits_stay_unwritten_where_they_are():
    none = load_robot(one_joint()).joint('j').limit
    assert (none.lower, none.upper, none.effort, none.velocity) == (None, None, None, None)
    some = load_robot(one_joint(inner='<limit lower="-1" effort="0"/>')).joint('j').limit
    assert (some.lower, some.upper, some.effort, some.velocity) == (-1.0, None, 0.0, None)


def test_dynamics_is_viscous_and_coulomb_friction():
    drive = load_robot(ARM).joint('shoulder').dynamics
    assert (drive.friction.viscous, drive.friction.coulomb) == (0.5, 0.2)
    assert drive.damping == 0.0


@pytest.mark.parametrize('kind', ['planar', 'floating'])
def test_dynamics_of_a_joint_with_mixed_units_is_noted(kind):
    loaded = load_robot(one_joint(kind, '<dynamics damping="1"/>'))
    assert loaded.joint('j').dynamics.friction.viscous == 0.0
    assert len(loaded.notes) == 1
    assert '"j"' in loaded.notes[0]


def _chain(*inner, kinds=None):
    n = len(inner)
    kinds = kinds or ['revolute'] * n
    return robot(
        *(link(f'l{k}') for k in range(n + 1)),
        *(joint(f'j{k}', f'l{k}', f'l{k + 1}', kinds[k], inner[k]) for k in range(n)),
    )


def test_chain_of_mimics_is_composed_onto_the_leader():
    loaded = load_robot(_chain(
        '', '<mimic joint="j0" multiplier="2" offset="0.5"/>',
        '<mimic joint="j1" multiplier="-3" offset="0.25"/>', '<mimic joint="j0"/>',
    ))
    assert loaded.joint_names == ('j0',)
    second, last = loaded.joint('j2').mimic, loaded.joint('j3').mimic
    assert (second.leader, second.multiplier, second.offset) == ('j0', -6.0, -3.0 * 0.5 + 0.25)
    assert (last.leader, last.multiplier, last.offset) == ('j0', 1.0, 0.0)
    assert loaded.actuated == ('j0',)


def test_leader_may_come_later_in_the_file():
    loaded = load_robot(_chain('<mimic joint="j1"/>', ''))
    assert loaded.joint_names == ('j1',)
    assert loaded.joint('j0').mimic.leader == 'j1'


def test_mimic_on_a_fixed_joint_is_ignored():
    loaded = load_robot(_chain('', '<mimic joint="nobody"/>', kinds=['revolute', 'fixed']))
    assert loaded.joint('j1').mimic is None


def test_two_parents_point_to_the_loop_element():
    text = robot(link('a'), link('b'), link('c'), joint('j1', 'a', 'b'), joint('j2', 'a', 'c'),
                 joint('j3', 'b', 'c'))
    with pytest.raises(ModelError) as caught:
        load_robot(text)
    assert caught.value.name == 'c'
    assert '<loop>' in caught.value.advice
    assert '"j2"' in caught.value.problem
    assert '"j3"' in caught.value.problem


def test_single_link_is_a_robot():
    loaded = load_robot(robot(link('a')))
    assert (loaded.nv, loaded.total_mass, loaded.joint_names) == (0, 1.0, ())


def test_robots_compare_and_print():
    one, other = load_robot(ARM), load_robot(ARM.read_text())
    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == 'Robot "arm": 6 links, 8 joint coordinates, 0 modes, 6.1 kg'

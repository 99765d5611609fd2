# SPDX-License-Identifier: Apache-2.0
"""The robot that each element of <flexdyn> gives."""

from extension_texts import DRIVE
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records import joint as records, link as links
from flexdyn_ros.model.records.joint import Friction, Pose
from model_texts import ARM, arm_with, beam, BENDING, flexdyn
import pytest


def test_gravity():
    assert load_robot(ARM).gravity_vector == (0.0, 0.0, -9.81)
    assert arm_with('<gravity xyz="1 2 -3"/>').gravity_vector == (1.0, 2.0, -3.0)


def test_drive():
    arm = arm_with(DRIVE)
    drive = arm.joint('elbow').dynamics
    assert drive.stiffness == 1.2e4
    assert drive.elastic
    assert drive.damping == 5.0
    assert drive.reflected_inertia == 100.0**2 * 3e-5
    assert drive.friction == Friction(4.0, 2.1, 3.0, 0.05, 0.02)
    assert arm.mode_names == ('elbow/elastic',)
    assert arm.joint('shoulder').dynamics == load_robot(ARM).joint('shoulder').dynamics


def test_friction_replaces_what_urdf_says():
    arm = arm_with('<joint_dynamics joint="shoulder"><friction coulomb="7"/></joint_dynamics>')
    friction = arm.joint('shoulder').dynamics.friction
    assert (friction.viscous, friction.coulomb, friction.breakaway) == (0.0, 7.0, 7.0)
    assert friction.smoothing_velocity == 0.01


def test_drive_without_friction_keeps_what_urdf_says():
    drive = arm_with('<joint_dynamics joint="shoulder" damping="3"/>').joint('shoulder').dynamics
    assert (drive.friction.viscous, drive.friction.coulomb, drive.damping) == (0.5, 0.2, 3.0)


def test_follower_may_be_elastic():
    arm = arm_with('<joint_dynamics joint="grip" stiffness="500"/>')
    assert arm.mode_names == ('grip/elastic',)
    assert 'grip' not in arm.joint_names


def test_payload():
    payload, = arm_with(
        '<payload link="tool" mass="1.5" com="0 0 0.05" ixx="0.1" iyy="0.2" izz="0.3" '
        'ixy="0.01" ixz="0.02" iyz="0.03"/>'
    ).payloads
    assert payload.link == 'tool'
    assert payload.inertia.mass == 1.5
    assert payload.inertia.com == (0.0, 0.0, 0.05)
    assert payload.inertia.matrix == ((0.1, 0.01, 0.02), (0.01, 0.2, 0.03), (0.02, 0.03, 0.3))


def test_planar_payload_with_one_moment():
    payload, = arm_with('<payload link="tool" mass="1.5" izz="0.3"/>').payloads
    assert payload.inertia.matrix[2] == (0.0, 0.0, 0.3)


def test_actuated_keep_the_order_of_the_robot():
    assert arm_with('<actuated joints="elbow shoulder"/>').actuated == ('shoulder', 'elbow')


def test_fixed_base_is_the_default():
    assert arm_with('<base motion="fixed"/>') == load_robot(ARM)


def test_empty_extension_changes_nothing():
    assert arm_with() == load_robot(ARM)
    assert load_robot(ARM, extension='<flexdyn/>') == load_robot(ARM)


def test_several_are_merged():
    merged = load_robot(ARM, extension=[
        flexdyn('<gravity xyz="0 0 -1.62"/>', '<joint_dynamics joint="elbow" stiffness="1.2e4"/>'),
        flexdyn('<gravity xyz="0 0 -1.620"/>',
                '<joint_dynamics joint="elbow" damping="5"><friction viscous="4"/>'
                '</joint_dynamics>'),
        flexdyn('<joint_dynamics joint="elbow"><friction coulomb="2"/></joint_dynamics>'),
    ])
    whole = arm_with(
        '<gravity xyz="0 0 -1.62"/>',
        '<joint_dynamics joint="elbow" stiffness="12000" damping="5">'
        '<friction viscous="4" coulomb="2"/></joint_dynamics>',
    )
    assert merged == whole


def test_the_same_given_twice_is_accepted():
    whole = beam(inner=BENDING + '<torsion modes="1"/><point_mass at="1" mass="2"/>')
    assert arm_with(whole, whole, DRIVE, DRIVE) == arm_with(whole, DRIVE)


def test_modes_of_one_beam_may_come_from_two_files():
    first = beam(inner='<bending axis="y" modes="1"/><point_mass at="1" mass="2"/>')
    second = beam(inner='<torsion modes="2"/>')
    merged = load_robot(ARM, extension=[flexdyn(first), flexdyn(second)])
    assert merged.mode_names == ('upper/bending_y1', 'upper/torsion1', 'upper/torsion2')
    assert len(merged.link('upper').beam.point_masses) == 1


def test_a_difference_names_both_values_and_files(tmp_path):
    (tmp_path / 'one.xml').write_text(flexdyn('<gravity xyz="0 0 -9.81"/>'))
    (tmp_path / 'two.xml').write_text(flexdyn('<gravity xyz="0 0 -1.62"/>'))
    with pytest.raises(ModelError) as caught:
        load_robot(ARM, extension=[tmp_path / 'one.xml', tmp_path / 'two.xml'])
    for words in ('"0 0 -9.81"', '"0 0 -1.62"', 'one.xml', 'two.xml'):
        assert words in str(caught.value)


def test_extension_inside_the_urdf_and_beside_it():
    inside = ARM.read_text().replace('</robot>', flexdyn(DRIVE) + '</robot>')
    both = load_robot(inside, extension=flexdyn('<gravity xyz="0 0 0"/>'))
    assert both == arm_with(DRIVE, '<gravity xyz="0 0 0"/>')


def test_order_of_modes():
    arm = arm_with(
        beam(link='fore', tip='wrist', inner='<torsion modes="1"/>' + BENDING),
        beam(inner='<torsion modes="1"/><bending axis="z" modes="2"/>' + BENDING), DRIVE,
    )
    assert arm.mode_names == (
        'upper/bending_y1', 'upper/bending_z1', 'upper/bending_z2', 'upper/torsion1',
        'elbow/elastic', 'fore/bending_y1', 'fore/torsion1',
    )


def test_loops_in_file_order():
    arm = arm_with(
        '<loop name="b" frame1="tool" frame2="base" constrain="rx tx"/>',
        '<loop name="a" frame1="base" frame2="tool" constrain="tz"/>',
    )
    assert [loop.name for loop in arm.loops] == ['b', 'a']
    assert arm.loops[0].free == ('ry', 'rz', 'ty', 'tz')
    assert arm.constraint_names == ('b/rx', 'b/tx', 'a/tz')
    assert load_robot(ARM).loops == ()


def test_actuated_coordinates_of_a_joint_of_several():
    arm = arm_with('<actuated joints="mooring/tz elbow mooring/rx"/>')
    assert arm.actuated_coordinates == tuple(
        name for name in arm.joint_names if name in ('elbow', 'mooring/tz', 'mooring/rx')
    )
    whole = load_robot(ARM)
    assert whole.actuated_coordinates == whole.joint_names


def test_multi_axis_joint():
    arm = arm_with('<multi_axis_joint joint="mooring" axes="rx rz tx"/>')
    names = ('mooring/rx', 'mooring/rz', 'mooring/tx')
    assert arm.joint('mooring').coordinate_names == arm.joint('mooring').position_names == names
    assert set(names) <= set(arm.joint_names)
    assert arm.nq == arm.nv == load_robot(ARM).nv - 3


def test_drive_of_one_axis_of_several():
    arm = arm_with(
        '<multi_axis_joint joint="mooring" axes="rx tz"/>',
        '<joint_dynamics joint="mooring/tz" damping="3" rotor_inertia="0.1" gear_ratio="2"/>',
        '<joint_dynamics joint="mooring/rx"><friction coulomb="2"/></joint_dynamics>',
    )
    drives = dict(arm.joint('mooring').drives)
    assert drives['tz'].damping == 3.0
    assert drives['tz'].reflected_inertia == pytest.approx(0.4)
    assert drives['rx'].friction.coulomb == 2.0


@pytest.mark.parametrize('axes, drive, word', [
    ('"rx tz"', '<joint_dynamics joint="mooring/tz" stiffness="10"/>', 'cannot have a spring'),
    ('"rx ry rz" rotation="quaternion"', '<joint_dynamics joint="mooring/rx" damping="1"/>',
     'no axis for a drive'),
    ('"rx tz"', '<joint_dynamics joint="mooring/ty" damping="1"/>', 'No joint is called'),
    ('"rx tz"', '<joint_dynamics joint="mooring/tz"/>', 'is empty'),
    ('"rx tz"', '<joint_dynamics joint="mooring" damping="1"/>', 'multi_axis'),
])
def test_drives_that_an_axis_cannot_have(axes, drive, word):
    with pytest.raises(ModelError, match=word):
        arm_with(f'<multi_axis_joint joint="mooring" axes={axes}/>', drive)


def test_multi_axis_joint_by_quaternion():
    arm = arm_with(
        '<multi_axis_joint joint="mooring" axes="rx ry rz ty" rotation="quaternion"/>'
    )
    joint = arm.joint('mooring')
    assert joint.coordinate_names == tuple(f'mooring/{a}' for a in ('rx', 'ry', 'rz', 'ty'))
    assert joint.position_names == tuple(f'mooring/{a}' for a in ('qx', 'qy', 'qz', 'qw', 'ty'))
    assert arm.nq == arm.nv + 1
    start, = arm.quaternion_starts
    assert list(arm.neutral_configuration()[start: start + 5]) == [0, 0, 0, 1, 0]


@pytest.mark.parametrize(('flexible', 'inner', 'stiffens'), [
    ('', BENDING, True),
    ('geometric_stiffening="true"', BENDING, True),
    ('geometric_stiffening="false"', BENDING, False),
    ('rotation="linear"', BENDING, False),
    ('', '<torsion modes="1"/>', False),
    ('', '', False),
])
def test_stiffening_is_on_where_a_beam_bends(flexible, inner, stiffens, caplog):
    arm = arm_with(beam(inner=inner, flexible=flexible))
    assert arm.link('upper').stiffens is stiffens
    assert arm.notes == ()
    assert not caplog.records


def test_kings_equations_with_stiffening_are_refused():
    both = 'rotation="linear" geometric_stiffening="true"'
    with pytest.raises(ModelError, match='contradicts rotation="linear"') as caught:
        arm_with(beam(flexible=both))
    assert (caught.value.element, caught.value.name) == ('flexible_link', 'upper')


def test_records_print_what_differs_from_the_defaults():
    arm = arm_with(DRIVE)
    assert repr(arm) == f'<{arm}>'
    assert str(arm).startswith('Robot "arm": ')
    assert repr(Friction(coulomb=0.5)) == 'Friction(coulomb=0.5)'
    assert repr(Pose()) == 'Pose()'
    text = repr(arm.joint('elbow'))
    assert text.startswith("Joint(name='elbow', type='revolute', parent='upper', child='fore'")
    assert 'mimic' not in text and 'stiffness=12000.0' in text
    names = {name: getattr(module, name) for module in (records, links) for name in dir(module)}
    for record in (*arm.joints, *arm.links):
        assert eval(repr(record), names) == record

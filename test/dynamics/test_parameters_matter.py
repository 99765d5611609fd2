# SPDX-License-Identifier: Apache-2.0
"""Every accepted parameter of the extension, and of the URDF's physics, changes some output."""

import xml.etree.ElementTree as ElementTree

import flexdyn_ros as fd
from flexdyn_ros.model.extension.elements import FLEXDYN
import numpy as np
from oracles.compare import reference_dynamics
import pytest

BASE = """
<robot name="r"><link name="link0"/>
<link name="link1"><inertial><origin xyz="0.4 0.01 0.02"/><mass value="3"/>
<inertia ixx="0.9" ixy="0.01" ixz="0.02" iyy="1.1" iyz="0.03" izz="1.2"/></inertial></link>
<link name="link2"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
<inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="0.003" izz="0.04"/></inertial></link>
<link name="link3"><inertial><mass value="0.5"/>
<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial></link>
<joint name="joint1" type="revolute"><origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/>
<parent link="link0"/><child link="link1"/><axis xyz="0 0.6 0.8"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/>
<dynamics damping="0.5" friction="0.3"/></joint>
<joint name="joint2" type="revolute"><origin xyz="0.8 0.1 0.05" rpy="0.3 0.1 0.2"/>
<parent link="link1"/><child link="link2"/><axis xyz="0 0.6 0.8"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="joint3" type="prismatic"><origin xyz="0.1 0 0" rpy="0.3 0.1 0.2"/>
<parent link="link2"/><child link="link3"/><axis xyz="1 0 0"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/>
<mimic joint="joint1" multiplier="0.7" offset="0.2"/></joint>
<flexdyn version="1.0"><gravity xyz="1 2 -9"/>
<flexible_link link="link1" inertial="total" geometric_stiffening="false" rotation="exact">
<beam tip="0.9 0.2 0.1" y_axis="0.1 1 0.2" young="2e8" shear="8e7" area="1e-3" iy="2e-5" iz="3e-5"
 j="4e-5" polar="5e-5" iyz="5e-6" mass="0.7" rotary_inertia="false" shear_centre="0.01 0.02">
<bending axis="y" modes="2" damping_ratio="0.02"/>
<bending axis="z" modes="1" damping_ratio="0.03"/>
<torsion modes="1" damping_ratio="0.01"/><axial modes="1" damping_ratio="0.01"/>
<point_mass at="0.6" mass="0.4" ixx="0.01" iyy="0.02" izz="0.03"/></beam></flexible_link>
<joint_dynamics joint="joint1" damping="0.4" rotor_inertia="2e-4" gear_ratio="30"
 parallel_stiffness="5" rest_position="0.1" parallel_damping="0.2"/>
<joint_dynamics joint="joint2" stiffness="300" damping="0.6" rotor_inertia="1e-4" gear_ratio="50">
<bearing directions="rx ty" stiffness="4000 1e5" damping="3 4"/>
<friction viscous="0.4" coulomb="0.5" stribeck="0.9" stribeck_velocity="0.8"
 smoothing_velocity="0.5"/></joint_dynamics>
<payload link="link1" mass="0.6" com="0.5 0.1 0.2" ixx="0.01" iyy="0.02" izz="0.02" ixy="0.001"
 ixz="0.002" iyz="0.003"/>
<mode_coupling modes="link1/bending_y1 link1/torsion1" powers="1 2" energy="90"/></flexdyn></robot>
"""
# A link in segments behind a nonlinear spring, with nonlinear stiffness in two passive joints.
SEGMENTED = """
<robot name="s"><link name="link0"/><link name="link1"/><link name="link2"><inertial>
<mass value="0.5"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>
</link><joint name="joint1" type="continuous"><parent link="link0"/><child link="link1"/>
<axis xyz="0 0.6 0.8"/></joint>
<joint name="joint2" type="continuous"><origin xyz="0.8 0.1 0.05" rpy="0.3 0.1 0.2"/>
<parent link="link1"/><child link="link2"/><axis xyz="0 0.6 0.8"/></joint>
<flexdyn version="1.0"><flexible_link link="link1">
<segments count="3" directions="x y z" placement="centred" tip="0.9 0.2 0.1" y_axis="0.1 1 0.2"
 young="2e8" shear="8e7" area="1e-3" iy="2e-5" iz="3e-5" j="4e-5" polar="5e-5" mass="0.7"
 iyz="5e-6" damping_ratio="0.02"><friction viscous="0.4" coulomb="0.5" stribeck="0.9"
 stribeck_velocity="0.8" smoothing_velocity="0.5"/>
<point_mass at="0.6" mass="0.4" ixx="0.01" iyy="0.02" izz="0.03"/></segments>
<mode_spring mode="segment2_y" polynomial="0 40 900" linear="keep"/>
<mode_spring mode="segment3_z" points="-0.1 -9, 0 0, 0.01 1, 0.1 20"/></flexible_link>
<joint_dynamics joint="joint1" rotor_inertia="2e-4" gear_ratio="30">
<spring points="-0.1 -9, 0 0, 0.01 1, 0.1 20"/></joint_dynamics></flexdyn></robot>
"""
BEAM = 'flexdyn/flexible_link/beam'
SEGMENTS = 'flexdyn/flexible_link/segments'
MODE_SPRING = 'flexdyn/flexible_link/mode_spring'
JOINT2 = "flexdyn/joint_dynamics[@joint='joint2']"
MULTI_AXIS, LOOP = 'flexdyn/multi_axis_joint', 'flexdyn/loop'
# Attributes that choose what an element speaks about, or what only one value is known for.
NAMES = {
    ('flexdyn', 'version'), ('flexdyn/flexible_link', 'link'), ('flexdyn/joint_dynamics', 'joint'),
    ('flexdyn/payload', 'link'), ('flexdyn/base', 'motion'), ('flexdyn/actuated', 'joints'),
    (MULTI_AXIS, 'joint'), (f'{MULTI_AXIS}/axis', 'name'),
    *((LOOP, name) for name in ('name', 'frame1', 'frame2')),
}
# Of files, each attribute matters in test_modal_files.py.
MODAL = 'flexdyn/flexible_link/modal'
# (element's path in the base text, attribute, changed value).
CHANGES = [
    *(('flexdyn/gravity', 'xyz', v) for v in ('1.1 2 -9', '1 2.1 -9', '1 2 -9.1')),
    ('flexdyn/flexible_link', 'inertial', 'hub'), ('flexdyn/flexible_link', 'rotation', 'linear'),
    ('flexdyn/flexible_link', 'geometric_stiffening', 'true'),
    ('flexdyn/flexible_link', 'deflection', 'linearised'),
    *((BEAM, 'tip', v) for v in ('0.95 0.2 0.1', '0.9 0.25 0.1', '0.9 0.2 0.15', 'joint2')),
    (BEAM, 'y_axis', '0.1 1 0.3'), (BEAM, 'young', '2.1e8'), (BEAM, 'shear', '8.1e7'),
    (BEAM, 'area', '1.1e-3'), (BEAM, 'iy', '2.1e-5'), (BEAM, 'iz', '3.1e-5'),
    (BEAM, 'iyz', '6e-6'), (BEAM, 'shear_centre', '0.01 0.03'), (BEAM, 'root', '0.05 0 0'),
    (BEAM, 'j', '4.1e-5'), (BEAM, 'polar', '5.1e-5'), (BEAM, 'mass', '0.75'),
    (BEAM, 'rotary_inertia', 'true'), (f"{BEAM}/bending[@axis='y']", 'axis', 'z'),
    (f"{BEAM}/bending[@axis='y']", 'modes', '3'), (f'{BEAM}/torsion', 'modes', '2'),
    *((f"{BEAM}/bending[@axis='{a}']", 'damping_ratio', '0.05') for a in 'yz'),
    (f'{BEAM}/torsion', 'damping_ratio', '0.02'), (f'{BEAM}/point_mass', 'at', '0.7'),
    (f'{BEAM}/axial', 'damping_ratio', '0.02'), (f'{BEAM}/axial', 'modes', '2'),
    (f"{BEAM}/bending[@axis='y']", 'boundary', 'pinned-free'),
    (f"{BEAM}/bending[@axis='y']", 'boundary', 'clamped-clamped'),
    (f"{BEAM}/bending[@axis='y']", 'boundary', 'clamped-pinned'),
    (f"{BEAM}/bending[@axis='z']", 'shear_correction', '0.8'),
    *((f'{BEAM}/{family}', name, value) for family in ("bending[@axis='z']", 'torsion', 'axial')
      for name, value in (('basis', 'polynomial'), ('static_modes', '1'))),
    (BEAM, 'loaded', 'true'), (BEAM, 'loss_factor', '0.1'), (BEAM, 'rayleigh_mass', '0.3'),
    (BEAM, 'rayleigh_stiffness', '0.01'),
    (f'{BEAM}/point_mass', 'mass', '0.5'),
    *((f'{BEAM}/point_mass', name, '0.025') for name in ('ixx', 'iyy', 'izz')),
    (JOINT2, 'stiffness', '310'), (JOINT2, 'damping', '0.7'), (JOINT2, 'rotor_inertia', '2e-4'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'parallel_stiffness', '6'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'rest_position', '0.2'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'parallel_damping', '0.3'),
    (f'{JOINT2}/bearing', 'directions', 'rz ty'),
    (f'{JOINT2}/bearing', 'stiffness', '4000 1.1e5'), (f'{JOINT2}/bearing', 'damping', '3 5'),
    ('flexdyn/mode_coupling', 'modes', 'link1/bending_y1 joint2/bearing_rx'),
    ('flexdyn/mode_coupling', 'powers', '2 1'), ('flexdyn/mode_coupling', 'energy', '100'),
    (JOINT2, 'pitch', '0.05'), (JOINT2, 'gear_ratio', '51'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'damping', '0.5'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'rotor_inertia', '3e-4'),
    ("flexdyn/joint_dynamics[@joint='joint1']", 'gear_ratio', '31'),
    *((f'{JOINT2}/friction', name, '0.7') for name in (
        'viscous', 'coulomb', 'stribeck', 'stribeck_velocity', 'smoothing_velocity')),
    ('flexdyn/payload', 'mass', '0.7'),
    *(('flexdyn/payload', 'com', v) for v in ('0.6 0.1 0.2', '0.5 0.2 0.2', '0.5 0.1 0.3')),
    *(('flexdyn/payload', name, '0.015') for name in ('ixx', 'iyy', 'izz')),
    *(('flexdyn/payload', name, '0.004') for name in ('ixy', 'ixz', 'iyz')),
]
SEGMENT_CHANGES = [
    (SEGMENTS, 'count', '4'), (SEGMENTS, 'directions', 'y z'),
    (SEGMENTS, 'placement', 'reference'), (SEGMENTS, 'tip', '0.9 0.25 0.1'),
    (SEGMENTS, 'y_axis', '0.1 1 0.3'),
    (SEGMENTS, 'young', '2.1e8'), (SEGMENTS, 'shear', '8.1e7'), (SEGMENTS, 'area', '1.1e-3'),
    (SEGMENTS, 'iy', '2.1e-5'), (SEGMENTS, 'iz', '3.1e-5'), (SEGMENTS, 'j', '4.1e-5'),
    (SEGMENTS, 'iyz', '6e-6'), (SEGMENTS, 'root', '0.05 0 0'),
    (SEGMENTS, 'polar', '5.1e-5'), (SEGMENTS, 'mass', '0.75'), (SEGMENTS, 'damping_ratio', '0.03'),
    (f'{SEGMENTS}/point_mass', 'at', '0.7'), (f'{SEGMENTS}/point_mass', 'mass', '0.5'),
    *((f'{SEGMENTS}/point_mass', name, '0.025') for name in ('ixx', 'iyy', 'izz')),
    *((f'{SEGMENTS}/friction', name, '0.7') for name in (
        'viscous', 'coulomb', 'stribeck', 'stribeck_velocity', 'smoothing_velocity')),
    (f'{MODE_SPRING}[1]', 'mode', 'segment2_x'), (f'{MODE_SPRING}[1]', 'polynomial', '0 41 900'),
    (f'{MODE_SPRING}[1]', 'linear', 'replace'),
    (f'{MODE_SPRING}[2]', 'points', '-0.1 -9, 0 0, 0.01 2, 0.1 20'),
    ('flexdyn/joint_dynamics/spring', 'points', '-0.1 -9, 0 0, 0.01 2, 0.1 20'),
]
URDF_CHANGES = [
    ("link[@name='link2']/inertial/mass", 'value', '1.6'),
    *(("link[@name='link2']/inertial/origin", 'xyz', v) for v in (
        '0.2 0.2 0.3', '0.1 0.3 0.3', '0.1 0.2 0.4')),
    *(("link[@name='link2']/inertial/origin", 'rpy', v) for v in (
        '0.2 0.2 0.3', '0.1 0.3 0.3', '0.1 0.2 0.4')),
    *(("link[@name='link2']/inertial/inertia", name, '0.035') for name in ('ixx', 'iyy', 'izz')),
    *(("link[@name='link2']/inertial/inertia", name, '0.004') for name in ('ixy', 'ixz', 'iyz')),
    *(("joint[@name='joint2']/origin", 'xyz', v) for v in (
        '0.7 0.1 0.05', '0.8 0.2 0.05', '0.8 0.1 0.1')),
    *(("joint[@name='joint2']/origin", 'rpy', v) for v in (
        '0.4 0.1 0.2', '0.3 0.2 0.2', '0.3 0.1 0.3')),
    ("joint[@name='joint2']/axis", 'xyz', '0 0.8 0.6'),
    ("joint[@name='joint1']/dynamics", 'damping', '0.6'),
    ("joint[@name='joint1']/dynamics", 'friction', '0.4'),
    ("joint[@name='joint3']/mimic", 'multiplier', '0.8'),
    ("joint[@name='joint3']/mimic", 'offset', '0.3'),
]


# A beam of stations in the place of the uniform one.
TAPERED = BASE.replace(' young="2e8" shear="8e7" area="1e-3" iy="2e-5" iz="3e-5"\n j="4e-5" '
                       'polar="5e-5" iyz="5e-6" mass="0.7"', '').replace('<torsion', """
<station at="0" young="2e8" shear="8e7" area="1e-3" iy="2e-5" iz="3e-5" j="4e-5" polar="5e-5"
 iyz="5e-6" linear_density="0.8"/>
<station at="0.4" young="2e8" shear="8e7" area="9e-4" iy="1.8e-5" iz="2.8e-5" j="3e-5"
 polar="4e-5" iyz="5e-6" linear_density="0.7"/>
<station at="1" young="1.9e8" shear="7e7" area="5e-4" iy="1e-5" iz="2e-5" j="2e-5" polar="3e-5"
 iyz="4e-6" linear_density="0.5"/><torsion""", 1)
STATION_CHANGES = [
    ('young', '2.1e8'), ('shear', '8.1e7'), ('area', '1.1e-3'), ('iy', '2.1e-5'),
    ('iz', '3.1e-5'), ('j', '4.1e-5'), ('polar', '5.1e-5'), ('linear_density', '0.9'),
    ('at', '0.5'), ('iyz', '6e-6'),
]


def changed(path=None, attribute=None, value=None, also=(), base=BASE):
    """Return the base text with one attribute changed, set or (None) removed."""
    root = ElementTree.fromstring(base)
    for where, name, text in ((path, attribute, value), *also):
        if where is None:
            continue
        element = root.find(where)
        assert element is not None, where
        if text is None:
            del element.attrib[name]
        else:
            assert element.get(name) != text
            element.set(name, text)
    if attribute == 'axis' and 'bending' in path:  # one family a direction: exchange the two
        root.findall(f'{BEAM}/bending')[1].set('axis', 'y')
    return ElementTree.tostring(root, encoding='unicode')


def outputs(text):
    """Return names and the numbers that the robot gives at a fixed state."""
    robot = fd.load_robot(text)
    dyn = reference_dynamics(robot)
    rng = np.random.default_rng(1)
    q, qd, qdd = (np.abs(rng.normal(size=robot.nv)) for _ in range(3))
    q[robot.n_joints:] *= 0.05
    values = [dyn.inverse_dynamics(q, qd, qdd), dyn.mass_matrix(q).ravel()]
    values += [dyn.friction_vector(qd), dyn.elastic_vector(q, qd), dyn.gravity_vector(q)]
    return robot.coordinate_names, np.concatenate(values)


BEFORE, SEGMENTED_BEFORE = outputs(BASE), outputs(SEGMENTED)


def assert_differs(text, what, before=BEFORE):
    """Assert that the changed text gives other numbers."""
    names, values = outputs(text)
    assert np.all(np.isfinite(values))
    if names == before[0]:
        effect = np.max(np.abs(values - before[1]) / np.maximum(1.0, np.abs(before[1])))
        assert effect > 1e-9, f'{what} has no effect'


@pytest.mark.parametrize('path, attribute, value', CHANGES + URDF_CHANGES)
def test_changing_it_changes_the_dynamics(path, attribute, value):
    """One attribute at a time."""
    assert_differs(changed(path, attribute, value), f'{path} {attribute}')


@pytest.mark.parametrize('path, attribute, value', SEGMENT_CHANGES)
def test_changing_segments_and_springs_changes_the_dynamics(path, attribute, value):
    """One attribute at a time."""
    text = changed(path, attribute, value, base=SEGMENTED)
    assert_differs(text, f'{path} {attribute}', SEGMENTED_BEFORE)


@pytest.mark.parametrize('name, one, other', [
    ('density', '800', '900'), ('linear_density', '0.8', '0.9'),
])
def test_the_other_ways_to_give_the_mass_matter(name, one, other):
    """Density and mass per length, in the place of mass."""
    for path, base in ((BEAM, BASE), (SEGMENTS, SEGMENTED)):
        without = ((path, 'mass', None),)
        before = outputs(changed(path, name, one, without, base))
        assert_differs(changed(path, name, other, without, base), name, before)


@pytest.mark.parametrize('name, value', STATION_CHANGES)
def test_stations_matter(name, value):
    """One property of one station at a time."""
    root = ElementTree.fromstring(TAPERED)
    station = root.findall(f'{BEAM}/station')[1 if name == 'at' else 0]
    assert float(station.get(name)) != float(value)
    station.set(name, value)
    assert_differs(ElementTree.tostring(root, encoding='unicode'), name, outputs(TAPERED))


def test_interpolation_matters():
    text = TAPERED.replace('rotary_inertia="false"', 'interpolation="conical"')
    assert_differs(text, 'interpolation', outputs(TAPERED))


@pytest.mark.parametrize(('name', 'usual', 'other'), [
    ('distribution', 'uniform', 'fit'),
    ('remainder', 'root', 'tip'),
    ('remainder', 'root', 'both'),
])
def test_shares_of_inertial_matter(name, usual, other):
    """How the mass that a beam takes of <inertial> is distributed, and where the rest is."""
    text = changed(BEAM, name, usual, ((BEAM, 'mass', None),))
    assert_differs(text.replace(f'{name}="{usual}"', f'{name}="{other}"'), name, outputs(text))


def test_the_two_joint_types_of_elastic_and_stiff_damping_differ():
    """Damping of a stiff joint is friction, that of an elastic joint acts across the spring."""
    robot = fd.load_robot(BASE)
    dyn = reference_dynamics(robot)
    rate = np.zeros(robot.nv)
    rate[robot.coordinate_names.index('joint2/elastic')] = 1.0
    assert dyn.friction_vector(rate)[1] == 0.0
    assert dyn.elastic_vector(0 * rate, rate) @ rate == pytest.approx(0.6)


def test_axes_and_rotation_of_a_multi_axis_joint_matter():
    """Other axes, and a quaternion's spin in the place of the rates of angles."""
    text = BASE.replace('type="revolute"><origin xyz="0.8', 'type="floating"><origin xyz="0.8')
    text = text.replace('stiffness="300"', '').replace('joint="joint2"', 'joint="joint3"')

    def spin(axes):
        element = f'<multi_axis_joint joint="joint2" axes={axes}/></flexdyn>'
        robot = fd.load_robot(text.replace('</flexdyn>', element))
        q = robot.neutral_configuration()
        turned = {'/ry': 0.5, '/qy': np.sin(0.25), '/qw': np.cos(0.25)}
        names = [name for joint in robot.joints for name in joint.position_names]
        for ending, value in turned.items():
            q[[k for k, name in enumerate(names) if name.endswith(ending)]] = value
        return robot.joint_names, reference_dynamics(robot).jacobian(q, 'link2')

    names, by_angles = spin('"rx ry rz"')
    same, by_quaternion = spin('"rx ry rz" rotation="quaternion"')
    others, _ = spin('"rx ry tz"')
    assert names == same != others
    assert np.abs(by_angles - by_quaternion).max() > 0.1


def test_what_a_general_axis_is_matters():
    """Direction, place, pitch and kind of an axis, and the order of two."""
    text = BASE.replace('type="revolute"><origin xyz="0.8', 'type="floating"><origin xyz="0.8')
    text = text.replace('stiffness="300"', '').replace('joint="joint2"', 'joint="joint3"')
    axis = '<axis name="a" xyz="{}" through="{}"{}/>'
    fixed = '<axis name="b" xyz="1 0 0"/>'
    found = []
    for inner in (
        axis.format('0 1 0', '0 0 0.1', '') + fixed, fixed + axis.format('0 1 0', '0 0 0.1', ''),
        axis.format('0 1 1', '0 0 0.1', '') + fixed, axis.format('0 1 0', '0 0 0.2', '') + fixed,
        axis.format('0 1 0', '0 0 0.1', ' pitch="0.1"') + fixed,
        '<axis name="a" xyz="0 1 0" motion="slide"/>' + fixed,
    ):
        element = f'<multi_axis_joint joint="joint2">{inner}</multi_axis_joint></flexdyn>'
        robot = fd.load_robot(text.replace('</flexdyn>', element))
        q = np.full(robot.nq, 0.3)
        found.append(reference_dynamics(robot).frame_pose(q, 'link2'))
    for k, one in enumerate(found):
        for other in found[:k]:
            assert np.abs(one - other).max() > 1e-3


def test_the_directions_of_a_loop_matter():
    """Each direction that is held changes the motion."""
    found = []
    for constrain in ('tx', 'ty', 'tx ty', 'rz', 'rx ry'):
        loop = f'<loop name="l" frame1="link2" frame2="link0" constrain="{constrain}"/></flexdyn>'
        robot = fd.load_robot(BASE.replace('</flexdyn>', loop))
        q, dyn = np.full(robot.nv, 0.1), reference_dynamics(robot)
        dyn.loop_tolerance = np.inf
        found.append(dyn.forward_dynamics(q, 0 * q, 0 * q))
    for k, one in enumerate(found):
        for other in found[:k]:
            assert np.abs(one - other).max() > 1e-3


def test_the_table_covers_the_schema():
    """Every attribute that the reader accepts is perturbed above, or named as not physical."""
    def walk(element, path):
        yield from ((path, attribute.name) for attribute in element.attributes)
        for child in element.children:
            yield from walk(child, f'{path}/{child.name}')

    def bare(path):
        return '/'.join(part.split('[')[0] for part in path.split('/'))

    tested = {(bare(path), attribute) for path, attribute, _ in CHANGES + SEGMENT_CHANGES}
    tested |= {(path, f'{what}density') for path in (BEAM, SEGMENTS) for what in ('', 'linear_')}
    tested |= {(f'{BEAM}/station', name) for name, _ in STATION_CHANGES}
    tested |= {(BEAM, 'interpolation'), (BEAM, 'distribution'), (BEAM, 'remainder')}
    tested |= {('flexdyn/joint_dynamics/friction', a) for p, a, _ in CHANGES if 'friction' in p}
    tested |= {(f'{MULTI_AXIS}/axis', name) for name in ('xyz', 'through', 'pitch', 'motion')}
    tested |= {(MULTI_AXIS, 'axes'), (MULTI_AXIS, 'rotation'), (LOOP, 'constrain')}
    tested |= {(MODAL, name) for name in (
        'file', 'format', 'modes', 'damping_ratio', 'tolerance', 'body_frame',
    )}
    tested |= {(f'{MODAL}/attach', name) for name in ('joint', 'node')}
    # Sensors take no part in the dynamics: see test/modal_observer.
    walked = {pair for pair in walk(FLEXDYN, 'flexdyn') if pair[0] != 'flexdyn/sensor'}
    assert walked == tested | NAMES

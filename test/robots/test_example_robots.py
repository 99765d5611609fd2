# SPDX-License-Identifier: Apache-2.0
"""The example robots expand, state their sources and load with the names and masses of these."""

import re
from xml.etree import ElementTree

from example_robots import (
    declared_arguments,
    expand,
    PUMA_GRAVITY_CASE,
    REFERENCES,
    ROBOTS,
    STATE,
    URDF_FOLDER,
    VARIANTS,
)
import flexdyn_ros as fd
import numpy as np
from oracles.vendor_robots import robots_folder
import pytest

DESCRIPTIONS = sorted(URDF_FOLDER.glob('*.x*'))  # xacro and xml files
UR5 = robots_folder() / 'ur_description' / 'urdf' / 'ur5_robot.urdf'

# A different value of every argument, with the other arguments that let it act.
CHANGES = {
    'canadarm': {
        'modes': {'modes': '1'},
        'out_of_plane_modes': {'out_of_plane_modes': '1'},
        'damping_ratio': {'damping_ratio': '0.1'},
        'payload_mass': {'payload_mass': '3'},
    },
    'cobot7': {
        'flexible_forearm': {'flexible_forearm': 'false'},
        'modes': {'modes': '2'},
        'torsion_modes': {'torsion_modes': '1'},
        'elastic_joints': {'elastic_joints': 'true'},
        'joint_stiffness': {'joint_stiffness': '9000', 'elastic_joints': 'true'},
        'joint_spring': {'joint_spring': 'strain_wave', 'elastic_joints': 'true'},
        'friction': {'friction': 'false'},
    },
    'delta': {
        'arm_angle': {'arm_angle': '0.3'},
        'modes': {'modes': '2'},
        'damping_ratio': {'damping_ratio': '0.1'},
        'payload_mass': {'payload_mass': '1'},
    },
    'four_bar': {
        'crank_angle': {'crank_angle': '2.0'},
        'constrain': {'constrain': 'tx ty tz'},
        'modes': {'modes': '1'},
        'young': {'young': '2e11', 'modes': '1'},
    },
    'hslm': {
        'platform_mass': {'platform_mass': '8'},
        'gravity': {'gravity': '0 0 -9.81'},
        'actuated': {'actuated': 'leg1/tx leg2/tx'},
    },
    'dual_arm': {'modes': {'modes': '2'}, 'payload_mass': {'payload_mass': '0'}},
    'flexible_beam': {
        'hinged': {'hinged': 'true'},
        'modes': {'modes': '1'},
        'modes_z': {'modes_z': '1'},
        'torsion_modes': {'torsion_modes': '0'},
        'damping_ratio': {'damping_ratio': '0.1'},
        'hardening': {'hardening': '1e5'},
        'gravity': {'gravity': '0 0 -9.81'},
    },
    'puma560': {
        'model': {'model': 'el_rayyes'},
        'link1': {'link1': 'published'},
        'drives': {'drives': 'true'},
    },
    'spinning_beam': {
        'hub_radius': {'hub_radius': '0.5'},
        'modes': {'modes': '1'},
        'modes_z': {'modes_z': '0'},
        'tip_mass': {'tip_mass': '3'},
        'geometric_stiffening': {'geometric_stiffening': 'false'},
    },
    'segmented_arm': {
        'flexible': {'flexible': 'false'},
        'segments': {'segments': '3'},
        'directions': {'directions': 'y z'},
        'placement': {'placement': 'centred'},
        'damping_ratio': {'damping_ratio': '0.01'},
        'first_joint': {'first_joint': 'continuous'},
        'joint_spring': {'joint_spring': 'true'},
        'gravity': {'gravity': '0 0 0'},
    },
    'satellite_arm': {
        'base_motion': {'base_motion': 'fixed'},
        'modes': {'modes': '2'},
        'torsion_modes': {'torsion_modes': '1'},
        'damping_ratio': {'damping_ratio': '0.1'},
        'payload_mass': {'payload_mass': '3'},
    },
    'stanford_arm': {'d2': {'d2': '0.2'}},
    'telescopic_boom': {
        'modes': {'modes': '2'},
        'boundary': {'boundary': 'pinned-free'},
        'basis': {'basis': 'polynomial', 'shear': 'false'},
        'static_modes': {'static_modes': '0'},
        'torsion_modes': {'torsion_modes': '2'},
        'axial_modes': {'axial_modes': '1'},
        'loaded': {'loaded': 'false'},
        'shear': {'shear': 'false'},
        'loss_factor': {'loss_factor': '0.02'},
        'hoist_mass': {'hoist_mass': '10'},
    },
    'two_link_arm': {
        'ei_factor': {'ei_factor': '0.05'},
        'link_mass': {'link_mass': '1'},
        'modes': {'modes': '2'},
        'modes_z': {'modes_z': '1'},
        'torsion_modes': {'torsion_modes': '1'},
        'tip_mass': {'tip_mass': '0'},
        'joint_mass': {'joint_mass': '2'},
        'joint_inertia': {'joint_inertia': '0.01'},
        'damping_ratio': {'damping_ratio': '0.1'},
        'gravity': {'gravity': '0 0 0'},
    },
}


def load(variant):
    """Return the Robot of a variant."""
    return fd.load_robot(expand(variant.robot, variant.arguments))


@pytest.mark.parametrize('path', DESCRIPTIONS, ids=lambda path: path.name)
def test_every_description_states_its_sources(path):
    text = path.read_text()
    header = re.search(r'<!--\s*\n(.*?)-->', text, re.DOTALL)
    assert header, f'{path.name} has no header comment'
    assert re.search(r'^\s*Sources\b', header.group(1), re.MULTILINE)
    assert 'SPDX-License-Identifier: Apache-2.0' in text
    assert '$(find' not in text


def test_every_robot_is_tested_and_listed():
    files = {path.name.replace('.urdf.xacro', '') for path in URDF_FOLDER.glob('*.urdf.xacro')}
    assert files == set(ROBOTS) == set(CHANGES)
    readme = (URDF_FOLDER / 'README.md').read_text()
    for path in DESCRIPTIONS:
        assert f'`{path.name}`' in readme or f'`{path.name.replace(".xacro", "")}`' in readme, path


@pytest.mark.parametrize('robot', ROBOTS)
def test_every_argument_is_documented_with_its_default(robot):
    header = (URDF_FOLDER / f'{robot}.urdf.xacro').read_text().split('<robot')[0]
    documented = header.split('Arguments', 1)[1]
    row = next(
        line
        for line in (URDF_FOLDER / 'README.md').read_text().splitlines()
        if f'`{robot}.urdf.xacro`' in line
    )
    arguments = declared_arguments(robot)
    assert set(arguments) == set(CHANGES[robot])
    for name, default in arguments.items():
        assert re.search(rf'^ +{name} ', documented, re.MULTILINE), name
        listed = re.search(rf'`{name}` \(([^)]*)\)', row)
        assert listed, name
        shown = listed.group(1).strip('"')
        assert shown == default or float(shown) == float(default)


@pytest.mark.parametrize(
    'robot, name', [(robot, name) for robot in ROBOTS for name in CHANGES[robot]]
)
def test_every_argument_changes_the_description(robot, name):
    changed = dict(CHANGES[robot][name])
    before = {key: value for key, value in changed.items() if key != name}
    assert expand(robot, changed) != expand(robot, before)


@pytest.mark.parametrize('variant', VARIANTS, ids=str)
def test_expanded_text_is_plain_urdf(variant):
    root = ElementTree.fromstring(expand(variant.robot, variant.arguments))
    assert root.tag == 'robot'
    assert {child.tag for child in root} <= {'link', 'joint', 'flexdyn'}
    assert all(':' not in element.tag and '}' not in element.tag for element in root.iter())
    links = {link.get('name') for link in root.findall('link')}
    assert root.find("link[@name='tip']") is not None or any('tool' in name for name in links)
    for link in root.findall('link'):
        if link.find('inertial') is not None and link.get('name') != 'tip':
            assert link.find('visual') is not None, f'{link.get("name")} cannot be seen'
    for joint in root.findall('joint'):
        if joint.get('type') != 'fixed':
            limit = joint.find('limit')
            assert float(limit.get('lower')) < float(limit.get('upper'))
            assert float(limit.get('effort')) > 0 and float(limit.get('velocity')) > 0


@pytest.mark.parametrize('variant', VARIANTS, ids=str)
def test_names_and_mass(variant):
    robot = load(variant)
    assert robot.name == variant.robot
    assert robot.joint_names == variant.joints
    assert robot.mode_names == variant.modes
    assert robot.coordinate_names == variant.joints + variant.modes
    assert robot.total_mass == pytest.approx(variant.mass, rel=1e-12)


@pytest.mark.parametrize('link, length', [('upper_arm', 6.0), ('forearm', 7.0), ('hand', 2.0)])
def test_canadarm_beams_are_the_published_ones(link, length):
    robot = fd.load_robot(expand('canadarm'))
    beam = robot.link(link).beam
    assert beam.length == length
    assert beam.young * beam.iz == 1e5
    assert beam.mass == {'upper_arm': 140.0, 'forearm': 85.0, 'hand': 95.0}[link]
    np.testing.assert_array_equal(robot.gravity, np.zeros(3))


def test_payloads_are_apart_from_the_mass():
    robot = fd.load_robot(expand('canadarm', {'payload_mass': '50'}))
    assert [(p.link, p.inertia.mass) for p in robot.payloads] == [('tool', 50.0)]
    dual = fd.load_robot(expand('dual_arm'))
    assert [(p.link, p.inertia.mass) for p in dual.payloads] == [('left_tool', 0.5)]


def test_beam_has_the_printed_stiffness():
    beam = fd.load_robot(expand('flexible_beam')).link('beam').beam
    assert beam.young * beam.iz == pytest.approx(203.5752, rel=1e-6)
    assert beam.shear * beam.j == pytest.approx(168.967416, rel=1e-6)
    assert beam.area == pytest.approx(1.1309734e-4, rel=1e-7)


@pytest.mark.parametrize('factor, stiffness', [('0.05', 10.178), ('0.5', 101.78)])
def test_two_link_arm_has_the_printed_stiffness(factor, stiffness):
    robot = fd.load_robot(expand('two_link_arm', {'ei_factor': factor}))
    for name in ('link1', 'link2'):
        beam = robot.link(name).beam
        assert beam.young * beam.iz == pytest.approx(stiffness, rel=1e-4)


def test_hub_of_the_second_link_carries_the_joint_mass():
    robot = fd.load_robot(expand(
        'two_link_arm', {'joint_mass': '2', 'joint_inertia': '0.0125', 'link_mass': '1'}))
    hub = robot.link('link2').inertia
    assert hub.mass == pytest.approx(2.0, rel=1e-12)
    np.testing.assert_allclose(hub.com, np.zeros(3), atol=1e-12)
    np.testing.assert_allclose(hub.matrix, 0.0125 * np.eye(3), atol=1e-12)


def test_cobot_friction_is_the_symmetric_part_of_the_identified_sigmoid():
    p1, p2 = 0.54615, 5.1181  # joint 1, Gaz and others 2019
    friction = fd.load_robot(expand('cobot7')).joint('joint1').dynamics.friction
    for speed in (-1.0, 0.05, 0.4):
        sigmoid = p1 / (1 + np.exp(-p2 * speed)) - p1 / 2
        ours = friction.coulomb * np.tanh(speed / friction.smoothing_velocity)
        assert ours == pytest.approx(sigmoid, rel=1e-12)


def test_cobot_rotors_reflect_to_the_published_inertia():
    robot = fd.load_robot(expand('cobot7', {'elastic_joints': 'true'}))
    for joint, published in (('joint1', 0.605721456), ('joint7', 0.205544064)):
        reflected = robot.joint(joint).dynamics.reflected_inertia
        assert reflected == pytest.approx(published, rel=1e-12)


def test_puma_drives_are_referred_to_the_joint():
    dynamics = fd.load_robot(expand('puma560', {'drives': 'true'})).joint('joint2').dynamics
    assert dynamics.reflected_inertia == pytest.approx(200e-6 * 107.815**2, rel=1e-12)
    assert dynamics.friction.viscous == pytest.approx(0.817e-3 * 107.815**2, rel=1e-12)
    assert dynamics.friction.coulomb == pytest.approx(107.815 * (0.126 + 0.071) / 2, rel=1e-12)


def dynamics_of(robot, arguments=None):
    """Return the Dynamics of an example robot on the reference backend."""
    return fd.Dynamics(fd.load_robot(expand(robot, arguments)), backend='reference')


@pytest.mark.parametrize(
    'robot, arguments',
    [('stanford_arm', {}), ('puma560', {}), ('puma560', {'link1': 'published'})],
    ids=['stanford', 'puma', 'puma_published_link1'],
)
def test_reference_vectors_of_the_classical_arms(robot, arguments):
    dyn = dynamics_of(robot, arguments)
    expected = REFERENCES[robot]
    torque = dyn.inverse_dynamics(STATE['q'], STATE['qd'], STATE['qdd'])
    np.testing.assert_allclose(torque, expected['torque'], rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        dyn.gravity_vector(STATE['q']), expected['gravity'], rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        dyn.mass_matrix(STATE['q']), expected['mass_matrix'], rtol=0, atol=1e-9)


def test_published_gravity_torque_of_the_puma():
    q, expected = PUMA_GRAVITY_CASE
    np.testing.assert_allclose(
        dynamics_of('puma560').gravity_vector(q), expected, rtol=0, atol=6e-5)


def test_extension_beside_a_vendors_description():
    before = UR5.read_bytes()
    plain = fd.load_robot(UR5)
    robot = fd.load_robot(UR5, extension=URDF_FOLDER / 'ur5_extension.flexdyn.xml')
    joints = (
        'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint',
        'wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint',
    )
    assert plain.coordinate_names == joints
    assert robot.joint_names == joints
    assert robot.mode_names == (
        'shoulder_lift_joint/elastic', 'upper_arm_link/bending_y1', 'upper_arm_link/bending_z1',
        'upper_arm_link/torsion1', 'elbow_joint/elastic',
    )
    mass = 4.0 + 3.7 + 8.393 + 2.275 + 2 * 1.219 + 0.1879
    assert plain.total_mass == pytest.approx(mass, rel=1e-12)
    assert robot.total_mass == pytest.approx(mass, rel=1e-12)
    hub = robot.link('upper_arm_link').inertia
    assert hub.mass == pytest.approx(8.393 - 2700 * 3.6442e-4 * 0.425, rel=1e-12)
    moments = np.linalg.eigvalsh(hub.matrix)
    assert moments[0] > 0 and moments[0] + moments[1] >= moments[2]
    assert UR5.read_bytes() == before


def test_modes_out_of_a_file_are_those_of_the_tube():
    """First bending frequency of the clamped tube, 1.8751^2 sqrt(EI / rho A) / L^2."""
    robot = fd.load_robot(UR5, extension=URDF_FOLDER / 'ur5_modes.flexdyn.xml')
    assert robot.mode_names == tuple(f'forearm_link/mode{k}' for k in (1, 3, 5))
    assert robot.total_mass == pytest.approx(fd.load_robot(UR5).total_mass, rel=1e-12)
    arrays = robot.link('forearm_link').modal.arrays
    ratio = (0.025**4 - 0.023**4) / 4 / (0.025**2 - 0.023**2)
    expected = 1.87510407**2 * np.sqrt(70e9 * ratio / 2700) / 0.39225**2
    rates = np.sqrt(np.diag(arrays.stiffness) / np.diag(arrays.modal_mass))
    assert rates[:2] == pytest.approx([expected] * 2, rel=1e-6)

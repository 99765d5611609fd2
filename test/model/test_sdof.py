# SPDX-License-Identifier: Apache-2.0
"""The SDOF notation, both ways: printed numbers of its author, and round trips."""

from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from flexdyn_ros.model.sdof.chain import robot_to_sdof
from flexdyn_ros.model.sdof.notation import read_sdof, write_sdof
from flexdyn_ros.model.sdof.urdf import sdof_to_urdf
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
import pytest
import yaml

# The Stanford arm of van der Merwe, section 4.5, tables 4.1 and 4.2.
STANFORD = """
name: stanford
gravity: [0, -9.81, 0]
links:
  - {gamma: [0, 0, 0, 0, 0.5, -0.15], axes: [1], mass: 2.0, com: [0, 0.3, -0.07],
     inertia_com: [0.1, 0.02, 0.1]}
  - {gamma: [0, 0, 0, 0.8, 0, 0], axes: [2, 3], mass: 2.0, com: [0.3, 0, 0],
     inertia_com: [0.002, 0.25, 0.25]}
  - {gamma: [0, 0, 0, 0.2, 0, 0], axes: [2], mass: 0.8, com: [0.12, 0, 0],
     inertia_com: [0.002, 0.008, 0.008]}
  - {gamma: [0, 0, 0, 0.05, 0, 0], axes: [0], mass: 0.5, com: [0.05, 0, 0],
     inertia_com: [0.001, 0.004, 0.004]}
"""
# Fixed turns between moving ones, slides along several axes; checked by Lagrange's equations.
GIMBALS = """
gravity: [0, 0, -9.81]
links:
  - {gamma: [0.1, -0.2, 0.3, 0.4, 0.2, -0.1], axes: [0, 1, 2, 3], mass: 1.3,
     com: [0.2, 0.1, -0.3], inertia_com: [0.10, 0.20, 0.25]}
  - {gamma: [-0.3, 0.2, 0.1, 0.5, 0.1, 0.2], axes: [1, 2, 5], mass: 0.7, com: [0.1, 0.2, 0.1],
     inertia_com: [0.05, 0.07, 0.03]}
  - {name: last, gamma: [0.3, 0.5, -0.1, 0.2, -0.3, 0.1], axes: [0, 2], mass: 0.9,
     com: [0.15, 0.0, 0.1], inertia_com: [0.02, 0.03, 0.04], viscous: [0.3, 0.0]}
"""


def dynamics(text):
    """Return the dynamics of a text in the notation."""
    return reference_dynamics(fd.load_robot(sdof_to_urdf(read_sdof(text, 'chain.yaml'))))


def place(gammas, q, axes):
    """Return the pose of the end, by equations 2.20 to 2.29."""
    rotation, position, values = np.eye(3), np.zeros(3), iter(q)
    for gamma, moved in zip(gammas, axes):
        gamma = np.array(gamma)
        gamma[list(moved)] = [next(values) for _ in moved]
        (cx, cy, cz), (sx, sy, sz) = np.cos(gamma[:3]), np.sin(gamma[:3])
        passive = (
            np.array([[cz, sz, 0], [-sz, cz, 0], [0, 0, 1]])
            @ np.array([[cy, 0, -sy], [0, 1, 0], [sy, 0, cy]])
            @ np.array([[1, 0, 0], [0, cx, sx], [0, -sx, cx]])
        )
        rotation = rotation @ passive.T
        position = position + rotation @ gamma[3:]
    return rotation, position


def test_the_stanford_arm():
    """Equation 4.62: torques as the source prints them."""
    dyn = dynamics(STANFORD)
    q, qd = [0.0, 0.0, 0.8, 0.0, 0.0], [1.5, 0.0, 0.4, 1.0, 3.0]
    chain = read_sdof(STANFORD, '')
    rotation, position = place(
        [link.gamma for link in chain.links], q, [link.axes for link in chain.links])
    pose = dyn.frame_pose(q, 'tip')
    np.testing.assert_allclose(pose[:3, :3], rotation, atol=1e-14)
    np.testing.assert_allclose(pose[:3, 3], position, atol=1e-14)
    assert dyn.robot.joint('link1_joint').type == 'continuous'
    assert dyn.robot.nv == 5
    printed = [2.26935, 18.25191, -4.40825, 2.16351, 0.0015]
    np.testing.assert_allclose(dyn.inverse_dynamics(q, qd, np.zeros(5)), printed, atol=1e-9)


def test_poses_by_the_printed_equations():
    """Oblique axes where a fixed turn stands between: the product of gimbals."""
    dyn, chain = dynamics(GIMBALS), read_sdof(GIMBALS, '')
    q = np.random.default_rng(1).normal(size=9)
    rotation, position = place(
        [link.gamma for link in chain.links], q, [link.axes for link in chain.links])
    pose = dyn.frame_pose(q, 'tip')
    np.testing.assert_allclose(pose[:3, :3], rotation, atol=1e-14)
    np.testing.assert_allclose(pose[:3, 3], position, atol=1e-14)


@pytest.mark.parametrize('off', [0.0, 1e-9, -1e-7])
def test_poses_beside_the_pole_of_the_angles(off):
    """Right angles, whose roll and yaw in URDF turn about one axis; and back to the notation."""
    right = np.pi / 2
    gamma = [0.3, right + off, -0.4, 0.1, 0.2, 0.3]
    text = yaml.safe_dump({'links': [
        {'gamma': gamma, 'axes': [axis], 'mass': 1.0, 'com': [0.1, 0.2, 0.3],
         'inertia_com': [0.1, 0.11, 0.12]} for axis in (2, 1, 5)]})
    dyn, q = dynamics(text), [0.7, right - 2.0 * off, 0.5]
    rotation, position = place([gamma] * 3, q, [[2], [1], [5]])
    pose = dyn.frame_pose(q, 'tip')
    np.testing.assert_allclose(pose[:3, :3], rotation, atol=1e-14)
    np.testing.assert_allclose(pose[:3, 3], position, atol=1e-14)
    assert_same(dyn, dynamics(write_sdof(robot_to_sdof(dyn.robot))))


def test_torques_of_gimbals():
    """Numbers of Lagrange's equations, computed apart; friction comes on top."""
    dyn = dynamics(GIMBALS)
    q = [0.1, -0.2, 0.3, 0.4, 0.2, 0.1, 0.2, 0.3, -0.1]
    qd = [0.7, -0.4, 0.9, 0.3, -0.8, 0.5, -0.2, 1.1, -0.6]
    qdd = [0.2, -0.1, 0.4, 0.3, -0.5, 0.6, 0.1, -0.7, 0.8]
    expected = [
        12.854468574, -14.868311228, -0.380883046, 4.525266995, -7.160732873, -1.614957232,
        15.969016655, -0.161674996, 0.021833368,
    ]
    expected[7] += 0.3 * qd[7]
    np.testing.assert_allclose(dyn.inverse_dynamics(q, qd, qdd), expected, atol=1e-7)


@pytest.mark.parametrize('text', [STANFORD, GIMBALS])
def test_round_trip(text):
    """Notation, robot, notation, robot: the same equations of motion."""
    first = dynamics(text)
    again = write_sdof(robot_to_sdof(first.robot))
    assert_same(first, dynamics(again))
    assert write_sdof(read_sdof(again, '')) == again


def assert_same(ours, theirs):
    """Compare equations of motion and the end of the chain; q is the same."""
    nv = ours.robot.nv
    assert theirs.robot.nv == nv
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, nv))
    assert_agree(ours.inverse_dynamics(q, qd, qdd), theirs.inverse_dynamics(q, qd, qdd), 1e-11)
    assert_agree(ours.mass_matrix(q), theirs.mass_matrix(q), 1e-11)
    last = ours.robot.links[-1].name
    assert_agree(
        ours.frame_pose(q, last)[:3, 3], theirs.frame_pose(q, theirs.robot.links[-1].name)[:3, 3],
        1e-11,
    )


def test_a_chain_of_any_axes():
    """Oblique joints, a fixed link with mass, offset slides and turns: other frames, same q."""
    inertial = (
        '<inertial><origin xyz="0.1 -0.2 0.3"/><mass value="1.{0}"/><inertia ixx="0.2" '
        'iyy="0.3" izz="0.4" ixy="0.01" ixz="0.02" iyz="-0.03"/></inertial>'
    )
    links = '<link name="base"/>' + ''.join(
        f'<link name="l{k}">{inertial.format(k)}</link>' for k in range(1, 6))
    joint = (
        '<joint name="j{0}" type="{1}"><parent link="{2}"/><child link="l{0}"/><origin '
        'xyz="0.3 0.1 -0.2" rpy="0.4 -0.7 1.1"/>{3}</joint>'
    )
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    joints = (
        joint.format(1, 'continuous', 'base', '<axis xyz="1 2 -2"/><dynamics damping="0.4"/>')
        + joint.format(2, 'prismatic', 'l1', '<axis xyz="0 3 4"/>' + limit)
        + joint.format(3, 'fixed', 'l2', '') + joint.format(4, 'floating', 'l3', '')
        + joint.format(5, 'continuous', 'l4', '<axis xyz="-1 0 0"/>')
    )
    axes = (
        '<axis name="turn" xyz="1 1 0" through="0.1 0 0.2"/><axis name="slide" xyz="0 1 1" '
        'motion="slide"/><axis name="tilt" xyz="0 0 -1" through="0 0.3 0"/>'
    )
    robot = fd.load_robot(
        f'<robot name="r">{links}{joints}<flexdyn version="1.0"><gravity xyz="1 2 -9"/>'
        f'<multi_axis_joint joint="j4">{axes}</multi_axis_joint></flexdyn></robot>'
    )
    text = write_sdof(robot_to_sdof(robot))
    assert_same(reference_dynamics(robot), dynamics(text))


@pytest.mark.parametrize(('change', 'words'), [
    (('gamma: [0, 0, 0, 0, 0.5, -0.15]', 'gamma: [0, 0]'), 'gamma is .* 6 finite numbers'),
    (('axes: [2, 3]', 'axes: [3, 2]'), 'rising'), (('mass:', 'mas:'), 'Did you mean "mass"'),
    (('links:', 'chains:'), 'unknown key "chains"'), (('name: stanford', '- 3: ]'), 'no YAML'),
])
def test_what_is_no_chain(change, words):
    """One sentence that names the key."""
    with pytest.raises(fd.FlexdynError, match=words):
        read_sdof(STANFORD.replace(*change, 1), 'chain.yaml')


@pytest.mark.parametrize(('model', 'words'), [
    ('two_link_arm', 'modes'), ('four_bar', 'loops'), ('satellite_arm', 'moving base'),
    ('dual_arm', 'branch|modes'),
])
def test_what_the_notation_cannot_express(model, words):
    """Loops, modes, branches and bases that move are refused."""
    urdf = Path(__file__).resolve().parents[2] / 'urdf'
    with pytest.raises(fd.FlexdynError, match=words):
        robot_to_sdof(fd.load_robot(urdf / f'{model}.urdf.xacro'))


def test_the_command(tmp_path):
    """Both ways by files."""
    chain, urdf, back = (tmp_path / name for name in ('a.yaml', 'a.urdf', 'b.yaml'))
    chain.write_text(STANFORD, encoding='utf-8')
    for given, made in ((chain, urdf), (urdf, back)):
        assert main(['convert', str(given), '-o', str(made)]) == 0
    assert_same(dynamics(STANFORD), dynamics(back.read_text(encoding='utf-8')))

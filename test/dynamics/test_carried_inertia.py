# SPDX-License-Identifier: Apache-2.0
"""Composite and articulated inertias, and the factors of the mass matrix, as methods."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.random_robots import random_robot_urdf, random_state
from oracles.robot_kinds import ROBOTS
import pytest

FLOATING = {'seed': 17, 'n_joints': 5, 'kinds': ('floating', 'revolute'), 'flexible': 0.8}
BACKENDS = ['reference', 'python', 'auto']


def free_bodies(robot):
    """Yield the link behind each floating joint, its places in qd, and those of all it carries."""
    places = {name: k for k, name in enumerate(robot.coordinate_names)}
    for joint in robot.joints:
        if joint.type != 'floating':
            continue
        links, outside = [joint.child], []
        for other in robot.joints:
            if other.parent in links:
                links.append(other.child)
                names = [*other.coordinate_names, *filter(None, [other.elastic_name])]
                outside += [places[name] for name in names]
        modes = [f'{link.name}/{mode}' for link in robot.links if link.name in links
                 for mode in link.mode_names]
        outside += [places[name] for name in robot.mode_names if name in modes or any(
            name.startswith(f'{link}/') for link in links)]
        yield joint.child, [places[name] for name in joint.coordinate_names], sorted(set(outside))


@pytest.mark.parametrize('backend', BACKENDS)
def test_against_blocks_of_the_mass_matrix(backend):
    """Behind a floating joint: its block of M, and that less the part of the others."""
    robot = fd.load_robot(random_robot_urdf(**FLOATING))
    dyn, exact = fd.Dynamics(robot, backend), reference_dynamics(robot)
    q, _, _ = random_state(robot, np.random.default_rng(2))
    mass, found = exact.mass_matrix(q), list(free_bodies(robot))
    assert found and robot.n_modes and all(len(outside) > 2 for _, _, outside in found[:1])
    for link, own, outside in found:
        block = mass[np.ix_(own, own)]
        assert_agree(dyn.composite_inertia(q, link), block, 1e-11)
        shared = mass[np.ix_(own, outside)]
        left = block - shared @ np.linalg.solve(mass[np.ix_(outside, outside)], shared.T)
        assert_agree(dyn.articulated_inertia(q, link), left, 1e-9)


def test_another_frame_of_the_body():
    """A link behind a fixed joint: the same inertia in its axes at its origin."""
    robot = fd.load_robot("""
        <robot name="hand"><link name="base"/><link name="arm"><inertial><origin xyz="0.1 0 0.3"/>
        <mass value="2"/><inertia ixx="0.3" iyy="0.2" izz="0.4" ixy="0.01" ixz="0" iyz="0.02"/>
        </inertial></link><link name="tool"/><joint name="j" type="continuous"><parent
        link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint><joint name="f" type="fixed">
        <origin xyz="0.2 -0.1 0.5" rpy="0.4 0.2 -0.9"/><parent link="arm"/><child link="tool"/>
        </joint></robot>""")
    dyn = fd.Dynamics(robot)
    arm, tool = (dyn.composite_inertia([0.3], name) for name in ('arm', 'tool'))
    pose = np.linalg.inv(dyn.frame_pose([0.3], 'arm')) @ dyn.frame_pose([0.3], 'tool')
    x, y, z = pose[:3, 3]
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    # The arm's twist for a unit twist of the tool.
    carry = np.block([[pose[:3, :3], skew @ pose[:3, :3]], [np.zeros((3, 3)), pose[:3, :3]]])
    assert_agree(tool, carry.T @ arm @ carry, 1e-13)
    assert_agree(arm[:3, :3], 2.0 * np.eye(3), 1e-15)
    assert_agree(dyn.articulated_inertia([0.3], 'tool'), tool, 1e-13)


@pytest.mark.parametrize('backend', BACKENDS)
@pytest.mark.parametrize('name', ['flexible_tree', 'multi_axis', 'planar'])
def test_factors_of_the_mass_matrix(name, backend):
    """U D U^T in the documented order, one sample and many."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS[name]))
    dyn, exact = fd.Dynamics(robot, backend), reference_dynamics(robot)
    q, _, _ = random_state(robot, np.random.default_rng(2))
    upper, diagonal = dyn.mass_matrix_factors(q)
    order = np.ix_(dyn.factor_order, dyn.factor_order)
    assert_agree(upper @ np.diag(diagonal) @ upper.T, exact.mass_matrix(q)[order], 1e-10)
    assert np.array_equal(np.tril(upper), np.eye(robot.nv)) and (diagonal > 0.0).all()
    many, diagonals = dyn.batch.mass_matrix_factors(np.array([q, q]))
    assert_agree(many[1], upper, 1e-12)
    assert_agree(diagonals[0], diagonal, 1e-12)


@pytest.mark.parametrize('backend', BACKENDS)
def test_what_has_none(backend):
    """Massless links, mimic joints and linearised deflections are named."""
    link = '<link name="{0}">{1}</link>'
    joint = (
        '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/></joint>'
    )
    massless = fd.Dynamics(fd.load_robot(
        '<robot name="light">' + link.format('a', '') + link.format('b', '')
        + link.format('c', '') + joint.format('one', 'a', 'b') + joint.format('two', 'b', 'c')
        + '</robot>'
    ), backend)
    with pytest.raises(fd.FlexdynError, match='"two" moves no inertia'):
        massless.mass_matrix_factors([0.1, 0.2])
    with pytest.raises(fd.FlexdynError, match='"two" moves no inertia'):
        massless.articulated_inertia([0.1, 0.2], 'b')
    robot = fd.load_robot(random_robot_urdf(**ROBOTS['mimics']))
    dyn, (q, _, _) = fd.Dynamics(robot, backend), random_state(robot, np.random.default_rng(2))
    tip = robot.links[-1].name
    with pytest.raises(fd.FlexdynError, match='mimic'):
        dyn.mass_matrix_factors(q)
    with pytest.raises(fd.FlexdynError, match='mimic'):
        dyn.articulated_inertia(q, tip)
    assert dyn.composite_inertia(q, tip)[0, 0] > 0.0
    linearised = fd.reduced(fd.load_robot(random_robot_urdf(**ROBOTS['flexible_chain'])),
                            'linearised')
    q, _, _ = random_state(linearised, np.random.default_rng(2))
    for name in ('composite_inertia', 'articulated_inertia'):
        with pytest.raises(fd.FlexdynError, match='linearised'):
            getattr(fd.Dynamics(linearised, backend), name)(q, linearised.links[-1].name)

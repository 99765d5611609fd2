# SPDX-License-Identifier: Apache-2.0
"""C(q, qd): C qd are the Coriolis forces, dM/dt - 2 C is skew, and entries are Christoffel's."""

from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.model.configuration import ConfigurationSpace
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.random_robots import random_robot_urdf, random_state
from oracles.robot_kinds import ROBOTS
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf'
# Elastic joints, segments, payloads, a free base, and loops, which stay open here.
MODELS = ('cobot7', 'segmented_arm', 'satellite_arm', 'telescopic_boom', 'hslm')
REDUCED = ('flexible_chain', 'flexible_tree', 'floating', 'multi_axis')


def rate_of_mass_matrix(dyn, q, qd, step=1e-3):
    """Return dM/dt along the flow, (nv, nv), by differences of sixth order."""
    space = ConfigurationSpace(dyn.robot)

    def apart(k):
        ahead, behind = (dyn.mass_matrix(space.moved(q, sign * k * step * qd)) for sign in (1, -1))
        return (ahead - behind) / step

    return (45.0 * apart(1) - 9.0 * apart(2) + apart(3)) / 60.0


def by_polarisation(dyn, q, qd):
    """Return Christoffel's symbols times qd: the quadratic forces' bilinear form."""
    return np.transpose([
        (dyn.coriolis_vector(q, qd + unit) - dyn.coriolis_vector(q, qd - unit)) / 4.0
        for unit in np.eye(len(qd))
    ])


def assert_close(found, expected, mass, tolerance):
    """Compare (nv, nv) matrices entry by entry, in the units of the mass matrix over seconds."""
    size = np.sqrt(np.outer(np.diag(mass), np.diag(mass)))
    scale = max(1.0, np.abs(expected / size).max())
    np.testing.assert_allclose(found / size, expected / size, rtol=0.0, atol=tolerance * scale)


def assert_is_coriolis_matrix(dyn, q, qd):
    """Check C qd, the rate of M, and the symbols where velocities are rates of coordinates."""
    q, qd = np.array(q), np.array(qd)
    found, forces = dyn.coriolis_matrix(q, qd), dyn.coriolis_vector(q, qd)
    assert_agree(found @ qd, forces, 1e-11)
    mass = dyn.mass_matrix(q)
    assert np.abs(found).max() > 0.0
    assert_close(found + found.T, rate_of_mass_matrix(dyn, q, qd), mass, 1e-9)
    if not ConfigurationSpace(dyn.robot).quaternions:
        assert_close(found, by_polarisation(dyn, q, qd), mass, 1e-11)


@pytest.mark.parametrize('name', [name for name in ROBOTS if name != 'stiff_beams'])
def test_every_kind_of_robot(name):
    """Trees, bending links, payloads, mimic joints, floating bases, joints of several axes."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS[name]))
    q, qd, _ = random_state(robot, np.random.default_rng(ROBOTS[name]['seed']))
    assert_is_coriolis_matrix(reference_dynamics(robot), q, qd)


@pytest.mark.parametrize('name', MODELS)
def test_elastic_joints_segments_and_loops(name):
    """The models that the package ships."""
    robot = fd.load_robot(URDF / f'{name}.urdf.xacro')
    q, qd, _ = random_state(robot, np.random.default_rng(3))
    assert_is_coriolis_matrix(reference_dynamics(robot), q, qd)


@pytest.mark.parametrize('form', ['linearised', 'undeformed_kinetic_energy'])
@pytest.mark.parametrize('name', REDUCED)
def test_reduced_forms(name, form):
    """Forms whose forces are an energy's have one too."""
    robot = fd.load_robot(random_robot_urdf(**{**ROBOTS[name], 'max_modes': 1}))
    q, qd, _ = random_state(robot, np.random.default_rng(4))
    assert_is_coriolis_matrix(reference_dynamics(fd.reduced(robot, form)), q, qd)


def test_planar_arm_in_closed_form():
    """Two point masses: C = [[-h qd2, -h (qd1 + qd2)], [h qd1, 0]] (Spong and Vidyasagar)."""
    mass, length = 1.7, (0.8, 0.6)
    body = (
        '<inertial><origin xyz="{0} 0 0"/><mass value="1.7"/><inertia ixx="0" iyy="0" izz="0" '
        'ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    joint = (
        '<joint name="joint{0}" type="continuous"><origin xyz="{1} 0 0"/><parent link="link{2}"/>'
        '<child link="link{0}"/><axis xyz="0 0 1"/></joint>'
    )
    robot = fd.load_robot(
        '<robot name="planar"><link name="link0"/>'
        f'<link name="link1">{body.format(length[0])}</link>'
        f'<link name="link2">{body.format(length[1])}</link>'
        f'{joint.format(1, 0, 0)}{joint.format(2, length[0], 1)}</robot>'
    )
    q, (first, second) = [0.4, 1.1], (0.9, -1.6)
    h = mass * length[0] * length[1] * np.sin(q[1])
    expected = [[-h * second, -h * (first + second)], [h * first, 0.0]]
    for backend in ('reference', 'auto'):
        found = fd.Dynamics(robot, backend).coriolis_matrix(q, [first, second])
        np.testing.assert_allclose(found, expected, atol=1e-14)


def test_linear_rotations_have_none():
    """King's first-order rotations are refused by name, generated and not."""
    text = random_robot_urdf(**ROBOTS['flexible_chain'])
    robot = fd.load_robot(text.replace('<flexible_link ', '<flexible_link rotation="linear" '))
    q, qd, _ = random_state(robot, np.random.default_rng(2))
    for backend in ('reference', 'auto'):
        with pytest.raises(fd.FlexdynError, match='rotation="linear".*rotation="exact"'):
            fd.Dynamics(robot, backend).coriolis_matrix(q, qd)
    with pytest.raises(fd.FlexdynError, match='rotation="linear"'):
        fd.generate(robot, 'coriolis_matrix')


def test_the_second_formulation():
    """Kinematic influence has the same; its paper's approximations have none."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS['flexible_chain']))
    q, qd, _ = random_state(robot, np.random.default_rng(2))
    other = fd.Dynamics(robot, formulation='kinematic_influence')
    assert_agree(other.coriolis_matrix(q, qd) @ qd, other.coriolis_vector(q, qd), 1e-10)
    approximate = fd.Dynamics(
        robot, formulation='kinematic_influence', approximations='undeformed_inertia'
    )
    with pytest.raises(fd.FlexdynError, match='approximations'):
        approximate.coriolis_matrix(q, qd)


def test_compiled_batches_and_payloads():
    """Compiled code, many samples and a payload that differs from the description."""
    robot = fd.load_robot(URDF / 'two_link_arm.urdf.xacro')
    dyn, exact = fd.Dynamics(robot), reference_dynamics(robot)
    rng = np.random.default_rng(6)
    q, qd = (np.array(each) for each in zip(*(random_state(robot, rng)[:2] for _ in range(5))))
    for change in (lambda each: None, lambda each: each.set_payload(robot.links[-1].name, 0.7)):
        change(dyn), change(exact)
        many = dyn.batch.coriolis_matrix(q, qd)
        for sample, at, rate in zip(many, q, qd):
            expected, mass = exact.coriolis_matrix(at, rate), exact.mass_matrix(at)
            assert_close(sample, expected, mass, 1e-12)
            assert_close(dyn.coriolis_matrix(at, rate), expected, mass, 1e-12)


def test_operations_grow_with_joints_times_depth():
    """A star of arms: one arm more costs the same again, where n^2 methods pay for each other."""
    def operations(arms):
        links, joints = '<link name="base"/>', ''
        for k in range(2 * arms):
            links += (
                f'<link name="l{k}"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="1.{k}"/>'
                '<inertia ixx="1" iyy="1" izz="1" ixy="0.1" ixz="0.2" iyz="0.3"/></inertial>'
                '</link>'
            )
            parent = 'base' if k % 2 == 0 else f'l{k - 1}'
            joints += (
                f'<joint name="j{k}" type="continuous"><parent link="{parent}"/>'
                f'<child link="l{k}"/><origin xyz="0.3 0 0.1"/><axis xyz="0 {k % 2} {1 - k % 2}"/>'
                '</joint>'
            )
        robot = fd.load_robot(f'<robot name="star">{links}{joints}</robot>')
        return sum(fd.generate(robot, 'coriolis_matrix', optimise='quick').counts.values())

    one, two, four = map(operations, (1, 2, 4))
    assert one > 0
    np.testing.assert_allclose([two, four], [2.0 * one, 4.0 * one], rtol=0.02)

# SPDX-License-Identifier: Apache-2.0
"""A passive spring beside a joint's drive: force, energy, balance, frequency, refusals."""

from dataclasses import replace

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
from flexdyn_ros.simulation.frequencies import stiffness_matrix
from flexdyn_ros.simulation.stability import find_limit
import numpy as np
from oracles.compare import reference_dynamics
import pytest
from scipy.optimize import brentq

BODY = (
    '<inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.2" izz="0.2" '
    'ixy="0" ixz="0" iyz="0"/></inertial>'
)
SPRING = '<joint_dynamics joint="swing" parallel_stiffness="30" rest_position="{}" damping="0.4"/>'


def arm(*parts):
    """Return a pendulum with a slider on it."""
    return fd.load_robot(
        f'<robot name="r"><link name="a"/><link name="b">{BODY}</link><link name="c">{BODY}</link>'
        '<joint name="swing" type="revolute"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 1 0"/></joint><joint name="slide" type="prismatic"><parent link="b"/>'
        '<child link="c"/><origin xyz="1 0 0"/><axis xyz="1 0 0"/></joint><joint name="follower" '
        'type="prismatic"><parent link="b"/><child link="d"/><axis xyz="0 1 0"/><mimic '
        f'joint="slide"/></joint><link name="d"/><flexdyn version="1.0">{"".join(parts)}</flexdyn>'
        '</robot>')


@pytest.mark.parametrize('backend', ['reference', 'python', 'c'])
def test_force_energy_and_balance(backend):
    """The force is k (q - rest), the energy its integral; the terms sum up."""
    sprung, plain = (fd.Dynamics(arm(*parts), backend=backend) for parts in (
        (SPRING.format(0.3), '<joint_dynamics joint="slide" parallel_stiffness="500"/>'), ()))
    q, qd, qdd = np.array([0.8, -0.02]), np.array([1.5, 0.3]), np.array([0.4, 2.0])
    assert sprung.elastic_vector(q, qd) == pytest.approx([30 * 0.5, -10.0])
    assert sprung.potential_energy(q) - plain.potential_energy(q) == pytest.approx(
        0.5 * 30 * 0.25 + 0.5 * 500 * 4e-4)
    more = sprung.inverse_dynamics(q, qd, qdd) - plain.inverse_dynamics(q, qd, qdd)
    assert more == pytest.approx([30 * 0.5 + 0.4 * 1.5, -10.0])
    assert sprung.forward_dynamics(q, qd, sprung.inverse_dynamics(q, qd, qdd)) == pytest.approx(
        qdd, rel=1e-9)


def test_a_balanced_pendulum_swings_at_the_spring_s_frequency():
    """About its rest position and without gravity; the energy is kept."""
    robot = arm(SPRING.format(0.3).replace(' damping="0.4"', ''), '<gravity xyz="0 0 0"/>',
                '<joint_dynamics joint="slide" parallel_stiffness="1e5"/>')
    dyn = reference_dynamics(robot)
    inertia = dyn.mass_matrix(np.zeros(2))[0, 0]
    period = 2.0 * np.pi * np.sqrt(inertia / 30.0)
    motion = fd.simulate(dyn, [0.31, 0.0], [0.0, 0.0], None, period, period / 1000)
    assert motion.q[-1][0] == pytest.approx(0.31, abs=1e-5)
    assert motion.q[500][0] == pytest.approx(0.29, abs=1e-4)
    assert np.ptp(motion.energy) < 1e-6 * motion.energy[0]


def test_beside_an_elastic_drive_it_acts_on_the_link_side():
    """As a spring and a damper on q + deflection do, in every term and in a simulation."""
    robot = arm('<joint_dynamics joint="swing" stiffness="400" rotor_inertia="0.1" damping="0.2" '
                'parallel_stiffness="30" parallel_damping="0.7" rest_position="0.3"/>')
    plain = arm('<joint_dynamics joint="swing" stiffness="400" rotor_inertia="0.1" '
                'damping="0.2"/>')
    q, qd, qdd = np.array([[0.8, -0.02, 0.05], [1.5, 0.3, -2.0], [1.0, 2.0, 3.0]])
    force = 30.0 * (0.8 + 0.05 - 0.3) + 0.7 * (1.5 - 2.0)
    without = reference_dynamics(plain)
    for backend in ('reference', 'c'):
        dyn = fd.Dynamics(robot, backend=backend)
        more = dyn.inverse_dynamics(q, qd, qdd) - without.inverse_dynamics(q, qd, qdd)
        assert more == pytest.approx([force, 0.0, force], rel=1e-11, abs=1e-11)
        assert dyn.potential_energy(q) - without.potential_energy(q) == pytest.approx(
            0.5 * 30.0 * 0.55**2)
        tau = dyn.inverse_dynamics(q, qd, qdd)
        assert dyn.forward_dynamics(q, qd, tau) == pytest.approx(qdd, rel=1e-9)
    assert stiffness_matrix(dyn, np.zeros(3)) == pytest.approx(
        np.array([[30.0, 0.0, 30.0], [0.0, 0.0, 0.0], [30.0, 0.0, 430.0]]), abs=1e-6)
    motion = fd.simulate(dyn, [0.5, 0.0, 0.0], np.zeros(3), None, 0.2, 1e-4, method='rk4')
    swift = fd.simulate(dyn, [0.5, 0.0, 0.0], np.zeros(3), None, 0.2, 1e-4, method='auto')
    assert swift.q[-1] == pytest.approx(motion.q[-1], abs=1e-5)


def pendulum(element):
    """Return a rigid pendulum alone."""
    return fd.load_robot(
        f'<robot name="r"><link name="a"/><link name="b">{BODY}</link><joint name="swing" '
        'type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>'
        f'<flexdyn version="1.0">{element}</flexdyn></robot>')


@pytest.mark.parametrize('gear', ['', ' stiffness="90" rotor_inertia="0.05"'])
def test_a_pendulum_comes_to_rest_where_spring_and_weight_balance(gear):
    """At the root of k (q - r) = m g l cos q, by scipy; a drive without torque takes no part."""
    robot = pendulum(
        '<joint_dynamics joint="swing" parallel_stiffness="30" parallel_damping="8" '
        f'rest_position="0.3" damping="0.5"{gear}/>')
    at = brentq(lambda x: 30.0 * (x - 0.3) - 2.0 * 9.81 * 0.5 * np.cos(x), 0.0, 1.5)
    q, dyn = np.zeros(robot.nv), fd.Dynamics(robot)
    motion = fd.simulate(dyn, q, 0.0 * q, None, 12.0, 2e-3)
    assert motion.q[-1].sum() == pytest.approx(at, abs=1e-6)


def test_a_spring_beside_a_follower_acts_on_its_leader():
    """At twice the leader's motion and an offset, twice the force."""
    element = '<joint_dynamics joint="follower" parallel_stiffness="50" rest_position="0.1"/>'
    robot = arm(element)
    robot = replace(robot, joints=tuple(
        replace(j, mimic=replace(j.mimic, multiplier=2.0, offset=0.03)) if j.mimic else j
        for j in robot.joints))
    dyn = reference_dynamics(robot)
    stretch = 2.0 * 0.04 + 0.03 - 0.1
    assert dyn.elastic_vector([0.3, 0.04], [0.0, 0.0]) == pytest.approx([0.0, 2 * 50 * stretch])


@pytest.mark.parametrize('optimise', [True, False])
def test_exported_code_of_a_small_rigid_arm_has_the_spring(optimise):
    """An arm whose equations are written in closed form."""
    robot = pendulum(SPRING.format(0.3))
    code = fd.generate(robot, 'inverse_dynamics', language='python', optimise=optimise)
    names: dict = {}
    exec(code.source, names)
    found = names['inverse_dynamics']([0.8], [1.5], [0.4])
    assert found == pytest.approx(
        reference_dynamics(robot).inverse_dynamics([0.8], [1.5], [0.4]), rel=1e-12)


def test_its_frequency_limits_the_time_step():
    """Of the slider alone: sqrt(k / m)."""
    robot = arm('<joint_dynamics joint="slide" parallel_stiffness="5e5"/>')
    limit = find_limit(reference_dynamics(robot), np.zeros(2))
    assert limit.cause.startswith('spring of joint "slide" at 79.5')
    assert limit.step == pytest.approx(np.sqrt(8.0) / np.sqrt(5e5 / 2.0), rel=1e-3)


@pytest.mark.parametrize(('element', 'words'), [
    ('joint="swing" rest_position="0.1"', 'no effect without parallel_stiffness'),
    ('joint="swing" parallel_stiffness="-3"', 'parallel_stiffness="-3"'),
])
def test_refusals(element, words):
    with pytest.raises(ModelError, match=words):
        arm(f'<joint_dynamics {element}/>')

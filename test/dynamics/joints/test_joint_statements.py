# SPDX-License-Identifier: Apache-2.0
"""Statements about joints: rotors, friction, springs, mimics; one statement a test."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.random_robots import inertial_xml
from oracles.small_robots import arm
import pytest


def test_a_rotor_adds_its_reflected_inertia_on_its_diagonal_alone():
    """M gains gear_ratio^2 * rotor_inertia, nothing else changes."""
    drive = '<joint_dynamics joint="joint2" rotor_inertia="3e-4" gear_ratio="50"/>'
    plain, geared = (reference_dynamics(fd.load_robot(arm(d))) for d in ('', drive))
    q, qd = [0.4, -0.7], [0.5, 1.5]
    expected = plain.mass_matrix(q) + np.diag([0.0, 50.0**2 * 3e-4])
    assert_agree(geared.mass_matrix(q), expected, 1e-14)
    assert np.array_equal(geared.bias_vector(q, qd), plain.bias_vector(q, qd))


def test_urdf_damping_and_friction_apply():
    """<dynamics damping friction> is viscous and Coulomb friction."""
    losses = '<dynamics damping="2.5" friction="0.7"/>'
    plain, lossy = (reference_dynamics(fd.load_robot(arm(dynamics=d))) for d in ('', losses))
    q, qd, qdd = [0.4, -0.7], [0.5, 1.5], [1.0, -2.0]
    change = lossy.inverse_dynamics(q, qd, qdd) - plain.inverse_dynamics(q, qd, qdd)
    assert_agree(change, [0.0, 2.5 * 1.5 + 0.7], 1e-12)
    back = lossy.forward_dynamics(q, qd, lossy.inverse_dynamics(q, qd, qdd))
    assert_agree(back, qdd, 1e-9)


def test_friction_follows_its_printed_law():
    """Viscous, Coulomb, Stribeck and smoothing; odd, and zero at rest."""
    law = (
        '<joint_dynamics joint="joint2"><friction viscous="4" coulomb="2.1" stribeck="3" '
        'stribeck_velocity="0.05" smoothing_velocity="0.02"/></joint_dynamics>'
    )
    dyn = reference_dynamics(fd.load_robot(arm(law, '<dynamics damping="9" friction="9"/>')))
    for rate in (0.0, 0.003, 0.04, 1.2, -0.04):
        expected = 4.0 * rate
        expected += (2.1 + 0.9 * np.exp(-((rate / 0.05) ** 2))) * np.tanh(rate / 0.02)
        assert dyn.friction_vector([0.0, rate])[1] == pytest.approx(expected, abs=1e-14)
    assert np.all(dyn.friction_vector([0.0, 0.0]) == 0.0)


def test_two_masses_on_a_spring_ring_at_the_printed_frequency():
    """Motor inertia B and link inertia J on a spring k: w^2 = k (1/B + 1/J)."""
    body = inertial_xml(1.0, [0, 0, 0], np.diag([0.1, 0.1, 0.3]))
    text = (
        f'<robot name="two"><link name="a"/><link name="b">{body}</link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint><flexdyn version="1.0"><joint_dynamics joint="j" '
        'stiffness="400" damping="0.5" rotor_inertia="2e-4" gear_ratio="30"/></flexdyn></robot>'
    )
    robot = fd.load_robot(text)
    dyn = reference_dynamics(robot)
    assert robot.coordinate_names == ('j', 'j/elastic')
    motor, link = 30.0**2 * 2e-4, 0.3
    stiffness = np.array([dyn.elastic_vector(e, [0, 0]) for e in np.eye(2)]).T
    values = np.linalg.eigvals(np.linalg.solve(dyn.mass_matrix([0.0, 0.0]), stiffness))
    assert max(values.real) == pytest.approx(400.0 * (1.0 / motor + 1.0 / link), rel=1e-12)
    assert min(values.real) == pytest.approx(0.0, abs=1e-9)
    damping = dyn.elastic_vector([0, 0], [2.0, 3.0]) + dyn.friction_vector([2.0, 3.0])
    assert_agree(damping, [0.0, 1.5], 1e-14)


def test_a_spring_adds_exactly_its_torque():
    """Deflection e needs k e on the spring's coordinate; forward dynamics gives it back."""
    drive = '<joint_dynamics joint="joint2" stiffness="{}" rotor_inertia="0.01"/>'
    soft, hard = (reference_dynamics(fd.load_robot(arm(drive.format(k)))) for k in (100.0, 350.0))
    q, qd, qdd = [0.4, -0.7, 0.02], [0.5, 1.5, -0.3], [1.0, -2.0, 0.6]
    change = hard.inverse_dynamics(q, qd, qdd) - soft.inverse_dynamics(q, qd, qdd)
    assert_agree(change, [0.0, 0.0, 250.0 * 0.02], 1e-12)
    push = hard.mass_matrix(q) @ (
        hard.forward_dynamics(q, qd, [0, 0, 0]) - soft.forward_dynamics(q, qd, [0, 0, 0])
    )
    assert_agree(push, [0.0, 0.0, -250.0 * 0.02], 1e-10)


def test_a_continuous_joint_is_one_periodic_coordinate():
    """Torques at q and q + 2 pi k are equal to 1e-12."""
    dyn = reference_dynamics(fd.load_robot(arm()))
    q, qd, qdd = np.array([0.4, -0.7]), [0.5, 1.5], [1.0, -2.0]
    assert dyn.robot.nq == dyn.robot.nv == 2
    turned = q + 2 * np.pi * np.array([3, -2])
    expected = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.inverse_dynamics(turned, qd, qdd), expected, 1e-12)


def test_a_mimic_joint_equals_the_free_model_projected():
    """Inertia reflects with the ratio squared and torque with the ratio; offset included."""
    drive = '<joint_dynamics joint="joint2" rotor_inertia="2e-4" gear_ratio="20" damping="0.3"/>'
    free = fd.load_robot(arm(drive, '<dynamics friction="0.5"/>'))
    tied = fd.load_robot(arm(drive, (
        '<dynamics friction="0.5"/><mimic joint="joint1" multiplier="-1.7" offset="0.2"/>'
    )))
    assert tied.coordinate_names == ('joint1',)
    ratio = np.array([1.0, -1.7])
    q = ratio * 0.4 + np.array([0.0, 0.2])
    both, one = reference_dynamics(free), reference_dynamics(tied)
    expected = ratio @ both.inverse_dynamics(q, ratio * 0.6, ratio * 1.5)
    assert_agree(one.inverse_dynamics([0.4], [0.6], [1.5]), [expected], 1e-12)
    assert_agree(one.mass_matrix([0.4]), [[ratio @ both.mass_matrix(q) @ ratio]], 1e-12)

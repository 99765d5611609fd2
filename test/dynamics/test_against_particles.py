# SPDX-License-Identifier: Apache-2.0
"""Every method of Dynamics against the brute-force particle model on random robots, to 1e-10."""

from functools import lru_cache

import flexdyn_ros as fd
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np
from oracles.compare import (
    assert_agree,
    assert_generalised_agree,
    assert_matrices_agree,
    reference_dynamics,
)
from oracles.particle_model import ParticleModel
from oracles.random_robots import random_robot_urdf, random_state
from oracles.robot_kinds import ONE_AXIS, random_wrenches, ROBOTS
import pytest

TOLERANCE = 1e-10


@lru_cache(maxsize=None)
def build(name):
    """Return robot, our dynamics, the particles and a state."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS[name]))
    rng = np.random.default_rng(ROBOTS[name]['seed'])
    return robot, reference_dynamics(robot), ParticleModel(robot), random_state(robot, rng)


@pytest.fixture(params=list(ROBOTS))
def case(request):
    """Return a random robot, twice modelled, with a state."""
    return build(request.param)


def test_the_robots_cover_the_model():
    """Together they have every joint type, mode family and feature that is compared."""
    robots = [build(name)[0] for name in ROBOTS]
    joints = [joint for robot in robots for joint in robot.joints]
    links = [link for robot in robots for link in robot.links]
    beams = [link.beam for link in links if link.beam]
    kinds = {family.kind for beam in beams for family in beam.families}
    assert {joint.type for joint in joints} == {*ONE_AXIS, 'floating', 'planar', 'multi_axis'}
    general = [axis for joint in joints for axis in joint.general_axes]
    assert {axis.slides for axis in general} == {True, False} == {not a.pitch for a in general}
    screws = [joint for joint in joints if joint.pitch]
    assert {bool(joint.mimic) for joint in screws} == {True, False}
    assert {bool(joint.elastic_name) for joint in screws} == {True, False}
    gimbals = [j for j in joints if j.type == 'multi_axis' and not j.general_axes]
    axes = [joint.axes for joint in gimbals]
    assert {axis for each in axes for axis in each} == {'rx', 'ry', 'rz', 'tx', 'ty', 'tz'}
    assert any(joint.quaternion for joint in joints)
    drives = [drive for joint in joints for _, drive in joint.drives]
    assert any(drive.reflected_inertia for drive in drives)
    assert any(drive.friction.coulomb for drive in drives)
    assert kinds == {'bending_y', 'bending_z', 'torsion'}
    assert any(joint.mimic for joint in joints)
    assert any(joint.elastic_name for joint in joints)
    assert any(joint.dynamics.reflected_inertia for joint in joints)
    assert any(joint.dynamics.friction.stribeck for joint in joints)
    assert any(beam.point_masses for beam in beams)
    assert {beam.rotary_inertia for beam in beams} == {True, False}
    assert any(link.beam and link.inertia for link in links)
    assert any(not beam.families for beam in beams)
    assert {link.stiffens for link in links if link.mode_names} == {True, False}
    assert any(robot.links[0].beam for robot in robots)
    assert any(robot.link(p.link).mode_names for robot in robots for p in robot.payloads)
    assert any(f.damping_ratio for beam in beams for f in beam.families)


def test_mass_matrix(case):
    """M, entry by entry against sqrt(M_ii M_jj)."""
    _, dyn, particles, (q, _, _) = case
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(q), TOLERANCE)


def test_inverse_dynamics(case):
    """Torques and modal forces of a random motion."""
    robot, dyn, particles, (q, qd, qdd) = case
    ours, theirs = (model.inverse_dynamics(q, qd, qdd) for model in (dyn, particles))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE)


def test_inverse_dynamics_with_wrenches(case):
    """Wrenches on several frames lower the torque by J^T w."""
    robot, dyn, particles, (q, qd, qdd) = case
    wrenches = random_wrenches(robot)
    ours, theirs = (m.inverse_dynamics(q, qd, qdd, wrenches=wrenches) for m in (dyn, particles))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE)
    ours, theirs = (m.external_force_vector(q, wrenches) for m in (dyn, particles))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE)


def test_terms(case):
    """Gravity, Coriolis, friction, elastic, inertia and their sum, the bias."""
    robot, dyn, particles, (q, qd, qdd) = case
    arguments = {
        'gravity_vector': (q,), 'coriolis_vector': (q, qd), 'friction_vector': (qd,),
        'elastic_vector': (q, qd), 'inertia_vector': (q, qdd), 'bias_vector': (q, qd),
    }
    for name, given in arguments.items():
        ours, theirs = (getattr(model, name)(*given) for model in (dyn, particles))
        assert_generalised_agree(robot, ours, theirs, TOLERANCE, name)


def test_forward_dynamics(case):
    """Accelerations for random torques, by the particles' own dense solve."""
    robot, dyn, particles, (q, qd, qdd) = case
    tau = particles.inverse_dynamics(q, qd, qdd)
    wrenches = random_wrenches(robot)
    mass = particles.mass_matrix(q)
    softest = np.linalg.norm(np.linalg.inv(mass), 2)
    for given in (None, wrenches):
        ours, theirs = (m.forward_dynamics(q, qd, tau, wrenches=given) for m in (dyn, particles))
        # Round-off of the matrix, and of stiff forces that cancel, seen through its inverse.
        forces = np.abs(particles.bias_vector(q, qd)).max() + np.abs(tau).max()
        lost = np.linalg.norm(mass, 2) + forces / np.abs(theirs).max()
        tolerance = max(TOLERANCE, 100 * np.finfo(float).eps * softest * lost)
        assert_agree(ours, theirs, tolerance)


def test_hybrid_dynamics(case):
    """Joint accelerations given, modes free."""
    robot, dyn, particles, (q, qd, qdd) = case
    joint_qdd = qdd[:robot.n_joints]
    for given in (None, random_wrenches(robot)):
        ours = dyn.hybrid_dynamics(q, qd, joint_qdd, wrenches=given)
        theirs = particles.hybrid_dynamics(q, qd, joint_qdd, wrenches=given)
        condition = np.linalg.cond(particles.mass_matrix(q))
        tolerance = max(TOLERANCE, 100 * np.finfo(float).eps * condition)
        assert_agree(ours[0], theirs[0], tolerance, 'torques')
        assert_agree(ours[1], theirs[1], tolerance, 'modal accelerations')


def test_frames(case):
    """Pose, Jacobian and its rate of every frame."""
    robot, dyn, particles, (q, qd, _) = case
    for frame in robot.frame_names:
        ours, theirs = (model.frame_pose(q, frame) for model in (dyn, particles))
        assert_agree(ours, theirs, TOLERANCE, f'pose of {frame}')
        ours, theirs = (model.jacobian(q, frame) for model in (dyn, particles))
        assert_agree(ours, theirs, TOLERANCE, f'Jacobian of {frame}')
        ours, theirs = (model.jacobian_rate_qd(q, qd, frame) for model in (dyn, particles))
        assert_agree(ours, theirs, TOLERANCE, f'Jacobian rate of {frame}')


def test_energies(case):
    """Kinetic and potential energy."""
    _, dyn, particles, (q, qd, _) = case
    ours, theirs = (model.kinetic_energy(q, qd) for model in (dyn, particles))
    assert_agree(ours, theirs, TOLERANCE, 'kinetic')
    ours, theirs = (model.potential_energy(q) for model in (dyn, particles))
    assert_agree(ours, theirs, TOLERANCE, 'potential', floor=1.0)


@pytest.mark.parametrize('name', ['flexible_chain', 'flexible_tree', 'three_modes'])
def test_at_rest_nothing_divides_by_zero(name):
    """Undeformed and at rest, where rotation formulas are 0/0."""
    robot, dyn, particles, (_, qd, qdd) = build(name)
    q = robot.neutral_configuration()
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(q), TOLERANCE)
    for rate in (qd, 0 * qd):
        ours, theirs = (model.inverse_dynamics(q, rate, qdd) for model in (dyn, particles))
        assert_generalised_agree(robot, ours, theirs, TOLERANCE)


@pytest.mark.parametrize('amplitude', [1e-9, 1e-5, 1e-3, 0.3])
def test_every_size_of_deflection(amplitude):
    """Small deflections use series, large ones formulas: both agree."""
    robot, dyn, particles, _ = build('flexible_chain')
    q, qd, qdd = random_state(robot, np.random.default_rng(3), amplitude)
    ours, theirs = (model.inverse_dynamics(q, qd, qdd) for model in (dyn, particles))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE)
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(q), TOLERANCE)


@pytest.mark.parametrize('name', ['payload_on_beam', 'mimics', 'multi_axis'])
def test_generated_code(name):
    """Code generated for "auto" gives the same numbers as the particles."""
    robot, _, particles, (q, qd, qdd) = build(name)
    dyn = fd.Dynamics(robot, backend='python')
    wrenches = random_wrenches(robot)
    ours, theirs = (m.inverse_dynamics(q, qd, qdd, wrenches=wrenches) for m in (dyn, particles))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE)
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(q), TOLERANCE)
    ours, theirs = (model.forward_dynamics(q, qd, qdd) for model in (dyn, particles))
    assert_agree(ours, theirs, TOLERANCE)


def test_payload_and_gravity_set_at_run_time():
    """A payload on a flexible link and a new gravity, set on our side, given to the particles."""
    robot, _, _, (q, qd, qdd) = build('flexible_chain')
    dyn = reference_dynamics(robot)
    link = next(link.name for link in robot.links if link.mode_names)
    com, gravity = (0.3, -0.2, 0.1), (3.0, -2.0, -5.0)
    inertia = ((0.02, 0.001, 0.0), (0.001, 0.03, 0.002), (0.0, 0.002, 0.025))
    dyn.set_payload(link, 1.3, com, inertia)
    dyn.set_gravity(gravity)
    particles = ParticleModel(robot, gravity, {link: Inertia(1.3, com, inertia)})
    assert_matrices_agree(dyn.mass_matrix(q), particles.mass_matrix(q), TOLERANCE)
    ours, theirs = (model.inverse_dynamics(q, qd, qdd) for model in (dyn, particles))
    assert_generalised_agree(robot, ours, theirs, TOLERANCE)
    assert dyn.potential_energy(q) == pytest.approx(particles.potential_energy(q), rel=1e-10)

# SPDX-License-Identifier: Apache-2.0
"""The particle oracle proves itself: work and energy, Lagrange's equations, kinematics."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, assert_matrices_agree
from oracles.particle_model import ParticleModel
from oracles.random_robots import random_robot_urdf, random_state
import pytest

STEP = 1e-5


def moved(q, qd, dt):
    """Return q after dt at constant coordinate rates; floating joints are not for this."""
    return q + dt * qd


@pytest.fixture(scope='module', params=[1, 5, 8])
def case(request):
    """Return the particles of a random robot without floating joints, and a state."""
    text = random_robot_urdf(
        request.param, 4, ('revolute', 'prismatic', 'planar', 'continuous'), 0.6, 1, mimic=True
    )
    robot = fd.load_robot(text)
    rng = np.random.default_rng(request.param)
    return ParticleModel(robot), *random_state(robot, rng)


def test_energy_changes_by_the_power_that_enters(case):
    """d(kinetic + potential)/dt equals torque times rate, losses apart."""
    model, q, qd, qdd = case

    def energy(dt):
        at = moved(q, qd, dt)
        return model.kinetic_energy(at, qd + dt * qdd) + model.potential_energy(at)

    _, damping = model.elastic_matrices()
    tau = model.inverse_dynamics(q, qd, qdd) - model.friction_vector(qd) - damping @ qd
    slope = (energy(STEP) - energy(-STEP)) / (2 * STEP)
    assert slope == pytest.approx(qd @ tau, rel=1e-6, abs=1e-5)


def test_mass_matrix_gives_the_kinetic_energy_and_the_torque(case):
    """M is symmetric and positive, 1/2 qd M qd is the energy, M qdd + bias the torque."""
    model, q, qd, qdd = case
    matrix = model.mass_matrix(q)
    assert_matrices_agree(matrix, matrix.T, 1e-13)
    assert np.linalg.eigvalsh(matrix)[0] > 0.0
    assert model.kinetic_energy(q, qd) == pytest.approx(0.5 * qd @ matrix @ qd, rel=1e-12)
    tau = matrix @ qdd + model.bias_vector(q, qd)
    assert_agree(tau, model.inverse_dynamics(q, qd, qdd), 1e-12)


def test_coriolis_forces_are_lagranges(case):
    """C_i = (dM/dt qd)_i - 1/2 qd dM/dq_i qd, by differences of M."""
    model, q, qd, _ = case
    unit = np.eye(model.robot.nv)
    slopes = [
        (model.mass_matrix(q + STEP * e) - model.mass_matrix(q - STEP * e)) / (2 * STEP)
        for e in unit
    ]
    rate = np.einsum('k,kij->ij', qd, slopes)
    expected = rate @ qd - 0.5 * np.einsum('i,kij,j->k', qd, slopes, qd)
    assert_agree(model.coriolis_vector(q, qd), expected, 1e-7)


def test_potential_slope_is_gravity_and_elastic_force(case):
    """DV/dq equals the gravity and elastic vectors."""
    model, q, qd, _ = case
    slope = [
        (model.potential_energy(q + STEP * e) - model.potential_energy(q - STEP * e)) / (2 * STEP)
        for e in np.eye(model.robot.nv)
    ]
    expected = model.gravity_vector(q) + model.elastic_vector(q, 0 * qd)
    assert_agree(slope, expected, 1e-7)


def test_jacobian_is_the_slope_of_the_pose(case):
    """Linear part by differences of the position, and its rate by differences of J."""
    model, q, qd, _ = case
    for frame in (model.robot.links[-1].name, model.robot.links[-3].name):
        columns = [
            model.frame_pose(q + STEP * e, frame) - model.frame_pose(q - STEP * e, frame)
            for e in np.eye(model.robot.nv)
        ]
        jacobian = model.jacobian(q, frame)
        assert_agree(jacobian[:3], np.array(columns)[:, :3, 3].T / (2 * STEP), 1e-8)
        ahead, behind = (model.jacobian(q + s * STEP * qd, frame) for s in (1, -1))
        rate = (ahead - behind) @ qd / (2 * STEP)
        assert_agree(model.jacobian_rate_qd(q, qd, frame), rate, 1e-7)

# SPDX-License-Identifier: Apache-2.0
"""
The flexible three-link Canadarm of Mohan and Saha: motion, energy, both solutions, stiff limit.

Its torques, mass matrix and frequencies are quick cases of the validation.
"""

import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.planar_arm import runge_kutta_4
import pytest
from validation.case_file import expected
from validation.mohan_saha.canadarm import canadarm, path, rigid_torque


def dynamics(modes, rigidity=None):
    """Return Dynamics of the arm."""
    return reference_dynamics(canadarm(modes, rigidity))


def motion(dyn, t_end, steps):
    """Return q, qd after driving the arm from rest with the rigid torques."""
    n = dyn.robot.nv

    def acceleration(t, q, qd):
        tau = np.zeros(n)
        tau[:3] = rigid_torque(t)
        return dyn.forward_dynamics(q, qd, tau)

    return runge_kutta_4(acceleration, np.zeros(n), np.zeros(n), t_end, steps)


@pytest.mark.parametrize('second, steps', [
    (1, 500), pytest.param(2, 1000, marks=pytest.mark.slow),
])
def test_flexible_motion_under_the_rigid_torques(second, steps):
    """Angles, rates and modal amplitudes, two modes a link."""
    def reference(key):
        return expected('ms_canadarm_motion', key)[second - 1]

    q, qd = motion(dynamics(2), float(second), steps)
    assert q[:3] == pytest.approx(reference('angles'), abs=2e-6)
    assert qd[:3] == pytest.approx(reference('rates'), abs=2e-4)
    assert q[3::2] + q[4::2] == pytest.approx(reference('tips'), abs=2e-5)
    source = reference('amplitudes') * [2, -2, 2, -2, 2, -2]
    assert q[3:] == pytest.approx(source, rel=1e-3, abs=2e-5)


def test_energy_that_enters_stays():
    """Work of the torques equals the energy over 0.2 s, undamped."""
    dyn = dynamics(2)
    n = dyn.robot.nv
    steps, t_end = 400, 0.2
    tau = np.zeros(n)
    tau[:3] = [500.0, 250.0, 30.0]
    q, qd = runge_kutta_4(
        lambda t, q, qd: dyn.forward_dynamics(q, qd, tau), np.zeros(n), np.zeros(n), t_end, steps
    )
    energy = dyn.kinetic_energy(q, qd) + dyn.potential_energy(q)
    assert energy == pytest.approx(tau @ q, rel=1e-5)


def test_recursive_and_dense_accelerations_agree_along_the_motion():
    """Within a small multiple of the bound by the condition of M."""
    dyn = dynamics(2)
    rng = np.random.default_rng(0)
    for t in (1.0, 4.0, 8.0):
        theta, rate, _ = path(t)
        q = np.concatenate((theta, 0.05 * rng.normal(size=6)))
        qd = np.concatenate((rate, 0.1 * rng.normal(size=6)))
        tau = np.concatenate((rigid_torque(t), np.zeros(6)))
        recursive = dyn.forward_dynamics(q, qd, tau)
        assert_agree(recursive, dyn.forward_dynamics(q, qd, tau, method='cholesky'), 1e-10)


def test_stiffer_arms_approach_the_rigid_one():
    """Quasi-static tip deflections and hybrid torques converge as one over EI."""
    theta, rate, acceleration = path(3.0)
    rigid = rigid_torque(3.0)
    errors, deflections = [], []
    for softness in (1.0, 1e-1, 1e-2, 1e-4):
        dyn = dynamics(2, 1e5 / softness)
        q = np.concatenate((theta, np.zeros(6)))
        qd = np.concatenate((rate, np.zeros(6)))
        qdd = np.concatenate((acceleration, np.zeros(6)))
        for _ in range(20):
            force = dyn.inverse_dynamics(q, qd, qdd)[3:]
            if np.max(np.abs(force)) < 1e-8:
                break
            stiffness = np.diag(dyn.elastic_vector(np.append(theta, np.ones(6)), 0 * qd)[3:])
            q[3:] -= np.linalg.solve(stiffness, force)
        errors.append(np.max(np.abs(dyn.inverse_dynamics(q, qd, qdd)[:3] - rigid)))
        deflections.append(np.max(np.abs(q[3:])))
    assert np.all(np.diff(errors) < 0.0) and np.all(np.diff(deflections) < 0.0)
    assert deflections[2] == pytest.approx(1e-2 * deflections[0], rel=5e-2)
    assert errors[-1] < 1e-4 * np.max(np.abs(rigid))

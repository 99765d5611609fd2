# SPDX-License-Identifier: Apache-2.0
"""The flexible three-link Canadarm of Mohan and Saha against independently computed figures."""

import flexdyn_ros as fd
from flexdyn_ros.validation.beam_arms import beam_arm_urdf
import numpy as np
from oracles.compare import assert_agree
from oracles.compare import load_data
from oracles.compare import reference_dynamics
from oracles.planar_arm import frequencies_hz
from oracles.planar_arm import runge_kutta_4
import pytest

DATA = load_data('canadarm')


def canadarm(modes, locked=False, softness=1.0):
    """Return Dynamics of the arm."""
    rigidity = np.array(DATA['rigidity']) / softness
    text = beam_arm_urdf(DATA['lengths'], DATA['masses'], rigidity, modes, locked=locked)
    return reference_dynamics(fd.load_robot(text))


def path(t):
    """Return angles, rates and accelerations of the desired motion (equation 44)."""
    k, period = np.array(DATA['path']['k']), np.array(DATA['path']['T'])
    phase = np.pi * t / period
    return (
        k * (t - period / np.pi * np.sin(phase)), k * (1.0 - np.cos(phase)),
        k * np.pi / period * np.sin(phase),
    )


RIGID = canadarm(0)


def test_straight_mass_matrix():
    """M(0) of the rigid arm."""
    assert_agree(RIGID.mass_matrix(np.zeros(3)), DATA['mass_matrix_straight'], 1e-9)


@pytest.mark.parametrize('row', DATA['rigid_torques'], ids=lambda row: f't={row["t"]}')
def test_rigid_torques_along_the_path(row):
    """Inverse dynamics of the desired motion."""
    torque = RIGID.inverse_dynamics(*path(row['t']))
    assert torque == pytest.approx(row['torque'], abs=1e-6)


@pytest.mark.parametrize('modes', [1, 2, 3])
def test_natural_frequencies(modes):
    """Joints free (after three zeros) and locked."""
    free = frequencies_hz(canadarm(modes))
    assert np.all(free[:3] < 1e-3)
    assert free[3:] == pytest.approx(DATA['frequencies_hz'][f'free_modes_{modes}'], abs=5.1e-5,
                                     rel=2e-5)
    locked = frequencies_hz(canadarm(modes, locked=True))
    expected = DATA['frequencies_hz'][f'locked_modes_{modes}']
    assert locked == pytest.approx(expected, abs=5.1e-5, rel=2e-5)


def motion(dyn, t_end, steps):
    """Return q, qd after driving the arm from rest with the rigid torques."""
    n = dyn.robot.nv

    def acceleration(t, q, qd):
        tau = np.zeros(n)
        tau[:3] = RIGID.inverse_dynamics(*path(t))
        return dyn.forward_dynamics(q, qd, tau)

    return runge_kutta_4(acceleration, np.zeros(n), np.zeros(n), t_end, steps)


@pytest.mark.parametrize('row, steps', [
    (DATA['flexible_forward'][0], 500),
    pytest.param(DATA['flexible_forward'][1], 1000, marks=pytest.mark.slow),
], ids=['1 s', '2 s'])
def test_flexible_motion_under_the_rigid_torques(row, steps):
    """Angles, rates and modal amplitudes, two modes a link."""
    q, qd = motion(canadarm(2), row['t'], steps)
    assert q[:3] == pytest.approx(row['theta'], abs=2e-6)
    assert qd[:3] == pytest.approx(row['rate'], abs=2e-4)
    assert q[3::2] + q[4::2] == pytest.approx(row['tip'], abs=2e-5)
    source = np.array(row['source_amplitudes']) * [2, -2, 2, -2, 2, -2]
    assert q[3:] == pytest.approx(source, rel=1e-3, abs=2e-5)


def test_energy_that_enters_stays():
    """Work of the torques equals the energy over 0.2 s, undamped."""
    dyn = canadarm(2)
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
    """Within a small multiple of what the condition of M allows."""
    dyn = canadarm(2)
    rng = np.random.default_rng(0)
    for t in (1.0, 4.0, 8.0):
        theta, rate, _ = path(t)
        q = np.concatenate((theta, 0.05 * rng.normal(size=6)))
        qd = np.concatenate((rate, 0.1 * rng.normal(size=6)))
        tau = np.concatenate((RIGID.inverse_dynamics(*path(t)), np.zeros(6)))
        recursive = dyn.forward_dynamics(q, qd, tau)
        assert_agree(recursive, dyn.forward_dynamics(q, qd, tau, method='cholesky'), 1e-10)


def test_stiffer_arms_approach_the_rigid_one():
    """Quasi-static tip deflections and hybrid torques converge as one over EI."""
    theta, rate, acceleration = path(3.0)
    rigid = RIGID.inverse_dynamics(theta, rate, acceleration)
    errors, deflections = [], []
    for softness in (1.0, 1e-1, 1e-2, 1e-4):
        dyn = canadarm(2, softness=softness)
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

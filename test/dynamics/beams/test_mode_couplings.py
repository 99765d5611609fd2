# SPDX-License-Identifier: Apache-2.0
"""Energies that modes share: coupled stiffness, and cubic forces, against SciPy."""

import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.simulation.vibrations import analyse
import numpy as np
from oracles.compare import assert_agree, assert_slope_in_q
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

STRIP = (
    '<flexible_link link="strip" geometric_stiffening="false"><beam tip="1.2 0 0" young="7e10" '
    'area="1e-4" iy="3e-10" iz="2e-10" mass="0.4"><bending axis="y" modes="2"/>'
    '<bending axis="z" modes="1"/></beam></flexible_link>'
)


def robot(*couplings, joint='fixed', gravity='0 0 0', link=STRIP):
    """Return a strip with couplings of its modes."""
    lines = ''.join(f'<mode_coupling {each}/>' for each in couplings)
    return fd.load_robot(
        '<robot name="r"><link name="base"/><link name="strip"/><joint name="root" '
        f'type="{joint}"><parent link="base"/><child link="strip"/><axis xyz="0 0 1"/></joint>'
        f'<flexdyn version="1.0"><gravity xyz="{gravity}"/>{link}{lines}</flexdyn></robot>')


LINEAR = 'modes="strip/bending_y1 strip/bending_z1" energy="12"'
CUBIC = 'modes="strip/bending_y1 strip/bending_z1" powers="2 2" energy="900"'
MIXED = 'modes="strip/bending_y1 strip/bending_y2 strip/bending_z1" powers="2 1 1" energy="-70"'


def test_coupled_stiffness_has_scipy_s_eigenvalues():
    """Two entries outside the diagonal, as a measured stiffness matrix has them."""
    arm = robot(LINEAR, 'modes="strip/bending_y2 strip/bending_z1" energy="-35"')
    body = link_body(arm.link('strip'))
    stiffness = body.stiffness.copy()
    stiffness[0, 2] = stiffness[2, 0] = 12.0
    stiffness[1, 2] = stiffness[2, 1] = -35.0
    squares = eigh(stiffness, body.modal_mass, eigvals_only=True)
    found = analyse(arm, np.zeros(3))
    assert [v['frequency'] for v in found['locked']] == pytest.approx(
        np.sqrt(squares) / (2.0 * np.pi), rel=1e-8)
    plain = analyse(robot(), np.zeros(3))
    assert abs(found['locked'][0]['frequency'] / plain['locked'][0]['frequency'] - 1.0) > 0.01


@pytest.mark.parametrize('method', ['rk4', 'auto', 'implicit'])
def test_cubic_couplings_follow_scipy_s_integration(method):
    """M x'' + K x + dV/dx = 0 of the clamped strip, whose mass matrix is constant."""
    arm = robot(CUBIC, MIXED)
    body = link_body(arm.link('strip'))

    def motion(t, state):
        x, v = state[:3], state[3:]
        a, b, c = x
        slope = np.array([
            2 * 900 * a * c**2 - 2 * 70 * a * b * c, -70 * a**2 * c,
            2 * 900 * a**2 * c - 70 * a**2 * b,
        ])
        return np.concatenate((v, np.linalg.solve(body.modal_mass, -body.stiffness @ x - slope)))

    start, end = np.array([0.2, 0.02, -0.15]), 0.4
    exact = solve_ivp(motion, (0.0, end), [*start, 0, 0, 0], rtol=1e-11, atol=1e-13)
    dyn = fd.Dynamics(arm)
    step = 2e-5 if method == 'implicit' else 1e-4
    found = fd.simulate(dyn, start, np.zeros(3), None, end, step, method=method)
    # The implicit midpoint rule is of second order.
    tolerance = 2e-4 if method == 'implicit' else 1e-6
    assert found.q[-1] == pytest.approx(exact.y[:3, -1], abs=tolerance)
    assert np.ptp(found.energy) < 1e-4 * found.energy[0]
    linear = solve_ivp(lambda t, s: np.concatenate((
        s[3:], np.linalg.solve(body.modal_mass, -body.stiffness @ s[:3]))),
        (0.0, end), [*start, 0, 0, 0], rtol=1e-9, atol=1e-12)
    assert np.abs(linear.y[:3, -1] - exact.y[:3, -1]).max() > 0.01


@pytest.mark.parametrize('backend', ['reference', 'python', 'c'])
def test_terms_energy_and_inversion(backend):
    """Forces are the slope of the energy, forward dynamics inverts, derivatives are exact."""
    arm = robot(LINEAR, CUBIC, MIXED, joint='continuous', gravity='1 2 -9')
    dyn = fd.Dynamics(arm, backend=backend)
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.normal(scale=0.2, size=(3, 4))
    slope = [
        (dyn.potential_energy(q + d) - dyn.potential_energy(q - d)) / 2e-6
        for d in 1e-6 * np.eye(4)
    ]
    force = dyn.gravity_vector(q) + dyn.elastic_vector(q, 0 * q)
    assert_agree(force, np.array(slope), 1e-7)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-9)
    tau_j, modes = dyn.hybrid_dynamics(q, qd, qdd[:1])
    assert_agree(dyn.inverse_dynamics(q, qd, np.concatenate((qdd[:1], modes))),
                 np.concatenate((tau_j, np.zeros(3))), 1e-8)
    assert_slope_in_q(dyn, dyn.inverse_dynamics_derivatives(q, qd, qdd)[0], q, qd, qdd)
    assert_agree(dyn.batch.elastic_vector(q[None], qd[None])[0], dyn.elastic_vector(q, qd), 1e-12)


def test_static_deflection_under_gravity():
    """The quasi-static deflection is the root of K x + dV/dx = load, by scipy."""
    from scipy.optimize import fsolve

    arm = robot(LINEAR, CUBIC, joint='continuous', gravity='0 3 -4')
    dyn = fd.Dynamics(arm)
    still = np.zeros(1)
    q = np.concatenate((still, fd.QuasiStatic(dyn).inverse_dynamics(still, still, still)[1]))
    rest = np.zeros(4)
    assert np.abs(dyn.inverse_dynamics(q, rest, rest)[1:]).max() < 1e-9
    found = fsolve(lambda x: dyn.inverse_dynamics(np.concatenate((still, x)), rest, rest)[1:],
                   np.zeros(3), xtol=1e-13)
    assert q[1:] == pytest.approx(found, rel=1e-8)


def test_check_reports_an_indefinite_stiffness(tmp_path, capsys):
    """An energy beyond the root of the product of two stiffnesses; below it there is none."""
    for energy, reported in ((5.0, False), (5e3, True)):
        path = tmp_path / 'arm.urdf'
        path.write_text(robot(LINEAR.replace('12', f'{energy}')).descriptions[0])
        main(['check', str(path)])
        assert ('indefinite' in capsys.readouterr().out) == reported


@pytest.mark.parametrize(('text', 'words'), [
    ('modes="strip/bending_y1" energy="1"', 'one mode alone'),
    ('modes="strip/bending_y1 strip/bending_y7" energy="1"', 'no mode "strip/bending_y7"'),
    ('modes="strip/bending_y1 strip/bending_y2" energy="0"', 'energy is zero'),
    ('modes="strip/bending_y1 strip/bending_y2" powers="1 2 1" energy="3"', '2 modes'),
    ('modes="strip/bending_y1 strip/bending_y2" powers="0 1" energy="3"', 'from 1 to 8'),
])
def test_refusals(text, words):
    with pytest.raises(ModelError, match=words):
        robot(text)


def test_a_measured_stiffness_matrix_gives_the_measured_modes():
    """K = M X w^2 X^T M of measured frequencies and shapes, entry by entry, X^T M X = 1."""
    mass = link_body(robot().link('strip')).modal_mass
    lower = np.linalg.cholesky(mass)
    turn = np.linalg.qr(np.random.default_rng(7).normal(size=(3, 3)))[0]
    shapes = np.linalg.solve(lower.T, turn)
    rates = 2.0 * np.pi * np.array([2.1, 3.4, 17.0])
    stiffness = mass @ (shapes * rates**2) @ shapes.T @ mass
    names = [name.partition('/')[2] for name in robot().mode_names]
    own = ''.join(
        f'<mode_spring mode="{name}" linear="replace" polynomial="{stiffness[k, k]:.17g}"/>'
        for k, name in enumerate(names))
    shared = [
        f'modes="strip/{names[k]} strip/{names[j]}" energy="{stiffness[k, j]:.17g}"'
        for k in range(3) for j in range(k)]
    arm = robot(*shared, link=STRIP.replace('</flexible_link>', f'{own}</flexible_link>'))
    found = analyse(arm, np.zeros(3))
    assert [v['frequency'] for v in found['locked']] == pytest.approx([2.1, 3.4, 17.0], rel=1e-6)

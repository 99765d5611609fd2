# SPDX-License-Identifier: Apache-2.0
"""Loops in compiled code: all backends agree, at flat configurations too, and stay compiled."""

from copy import copy
from functools import lru_cache

from dynamics.loops.test_loops import build
import flexdyn_ros as fd
from flexdyn_ros.closed_chains.chains import ClosedChains
from flexdyn_ros.closed_chains.solve import spaces
from flexdyn_ros.codegen.backends.generated import GeneratedBackend
from flexdyn_ros.errors import ArgumentError
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.linkages import dense_motion, linkage
from oracles.mechanisms import mechanism, URDF
import pytest
from scipy.linalg import expm, null_space
from thinned import thinned
import xacro

LENGTHS = {'parallelogram': (2.0, 1.0, 2.0, 1.0), 'deltoid': (1.0, 1.0, 2.0, 2.0)}
MOTIONS = ('forward_dynamics', 'inverse_dynamics', 'hybrid_dynamics')
DERIVATIVES = ('forward_dynamics_derivatives', 'inverse_dynamics_derivatives')


def flat(name, constrain='tx ty'):
    """Return a linkage at its change point, a velocity of one of its branches, and forces."""
    robot = linkage(*LENGTHS[name], constrain=constrain)
    # Parallel, crank and rocker turn alike; folded, coupler and rocker turn about one point.
    qd = {'parallelogram': [1.5, -1.5, 1.5], 'deltoid': [0.0, 1.5, 1.5]}[name]
    return robot, np.zeros(3), np.array(qd), np.array([0.3, 0.0, 0.0])


@lru_cache(maxsize=None)
def state(name):
    """Return a robot with loops and a closed state of it with forces on its motors."""
    if name in LENGTHS:
        return flat(name)
    if name == 'redundant parallelogram':
        return flat('parallelogram', 'rx ry tx ty tz')
    if name.startswith('particles: '):
        robot, _, _, (q, qd, tau) = build(name[11:])
        return robot, q, qd, tau
    options = {'four_bar': {}, 'bent four_bar': {'modes': '1', 'constrain': 'rx rz tx ty tz'}}
    robot = mechanism(name.split()[-1], **options.get(name, {}))
    rng = np.random.default_rng(2)
    q, qd = reference_dynamics(robot).project(
        robot.neutral_configuration() + 0.02 * rng.normal(size=robot.nq), rng.normal(size=robot.nv)
    )
    motors = [name in robot.actuated_coordinates for name in robot.coordinate_names]
    return robot, q, qd, rng.normal(size=robot.nv) * motors


CASES = [
    'four_bar', 'bent four_bar', 'hslm', 'delta', 'parallelogram', 'redundant parallelogram',
    'particles: said twice', 'particles: floating', 'particles: flexible weld',
    'particles: mimic',
]
IN_PYTHON = ['four_bar', 'bent four_bar', 'redundant parallelogram', 'particles: said twice']


def calls_of(robot, dyn, q, qd, tau):
    """Return the arguments of functions at a state."""
    qdd = dyn.forward_dynamics(q, qd, tau)
    near = dyn.closed_chains.space.moved(q, 1e-8 * np.cos(np.arange(robot.nv)))
    return {
        'forward_dynamics': (q, qd, tau), 'inverse_dynamics': (q, qd, qdd),
        'hybrid_dynamics': (q, qd, qdd[: robot.n_joints]), 'constraint_forces': (q, qd, tau),
        'project': (near, qd), 'forward_dynamics_derivatives': (q, qd, tau),
        'inverse_dynamics_derivatives': (q, qd, qdd),
    }


def joined(found):
    """Return one vector of all results."""
    return np.concatenate([np.ravel(each) for each in (
        found if isinstance(found, tuple) else (found,)
    )])


@pytest.mark.parametrize('backend, name, functions', thinned([
    *(('c', name, (*MOTIONS, 'constraint_forces', 'project')) for name in CASES),
    *(('python', name, (*MOTIONS, 'constraint_forces', 'project')) for name in IN_PYTHON),
    *(('c', name, DERIVATIVES) for name in ('bent four_bar', 'particles: flexible weld')),
    ('python', 'four_bar', DERIVATIVES),
], lambda backend, name, functions: name not in ('hslm', 'delta', 'particles: flexible weld')))
def test_backends_agree(backend, name, functions):
    """With the reference, to 1e-10; at their second call, which is compiled, too."""
    robot, q, qd, tau = state(name)
    exact, dyn = reference_dynamics(robot), fd.Dynamics(robot, backend)
    calls = calls_of(robot, exact, q, qd, tau)
    for function in functions:
        given = calls[function]
        expected = joined(getattr(exact, function)(*given))
        for _ in range(2):
            ours = joined(getattr(dyn, function)(*given))
            assert_agree(ours, expected, 1e-10, function, floor=1.0)


@pytest.mark.parametrize('name', ['parallelogram', 'redundant parallelogram', 'deltoid'])
def test_change_points_by_least_squares_on_the_whole_matrix(name):
    """Accelerations and the smallest forces where the rank drops, on all backends."""
    robot, q, qd, tau = flat(name.split()[-1], 'rx ry tx ty tz' if ' ' in name else 'tx ty')
    exact = reference_dynamics(robot)
    assert exact.loop_report(q).singular
    qdd, f = dense_motion(exact, q, qd, tau)
    for backend in ('reference', 'python', 'c'):
        dyn = fd.Dynamics(robot, backend)
        for _ in range(2):
            assert_agree(dyn.forward_dynamics(q, qd, tau), qdd, 1e-11)
        assert_agree(dyn.constraint_forces(q, qd, tau), f, 1e-11)
        a = dyn.loop_jacobian(q)
        assert_agree(a @ qdd, -dyn.loop_bias(q, qd), 1e-11, floor=np.abs(a * qdd).max())


@pytest.mark.parametrize('name', ['bent four_bar', 'delta', 'particles: said twice'])
def test_accelerations_along_the_null_space_of_scipy(name):
    """N^T (M qdd + bias - tau) = 0 with scipy's null space, and A qdd = -gamma."""
    robot, q, qd, tau = state(name)
    exact, dyn = reference_dynamics(robot), fd.Dynamics(robot, 'c')
    a = exact.loop_jacobian(q)
    free = null_space(a, rcond=1e-9)
    mass, bias = exact.mass_matrix(q), exact.bias_vector(q, qd)
    start = np.linalg.lstsq(a, -exact.loop_bias(q, qd), rcond=1e-9)[0]
    along = np.linalg.solve(free.T @ mass @ free, free.T @ (tau - bias - mass @ start))
    assert_agree(dyn.forward_dynamics(q, qd, tau), start + free @ along, 1e-10)


@pytest.mark.parametrize('name', ['four_bar', 'parallelogram', 'redundant parallelogram'])
def test_plain_calls_are_answered_by_compiled_code(name, monkeypatch):
    """After the first call of each function the method in Python is not called again."""
    robot, q, qd, tau = state(name)
    dyn = fd.Dynamics(robot, 'c')
    calls = calls_of(robot, dyn, q, qd, tau)
    first = {function: joined(getattr(dyn, function)(*calls[function]))
             for function in (*MOTIONS, 'project')}

    def refuse(*_, **__):
        raise AssertionError('a call went to Python')

    monkeypatch.setattr(ClosedChains, 'evaluate', refuse)
    monkeypatch.setattr(ClosedChains, 'project', refuse)
    for function, before in first.items():
        assert np.array_equal(joined(getattr(dyn, function)(*calls[function])), before)


@pytest.mark.parametrize('backend', ['c', 'python'])
def test_a_simulated_loop_never_asks_the_reference(backend, monkeypatch):
    """A torque function makes steps in Python, whose equations are generated code."""
    def refuse(_):
        raise AssertionError('the reference was asked')

    monkeypatch.setattr(GeneratedBackend, 'exact', property(refuse))
    robot, q, qd, _ = state('four_bar')
    run = fd.simulate(
        fd.Dynamics(robot, backend), q, qd, lambda t, q, qd: [0.3 - q[0], 0, 0], 5e-3, 1e-3)
    assert np.abs(reference_dynamics(robot).loop_gaps(run.q[-1])).max() < 1e-12


def test_wrenches_payloads_and_gravity_of_compiled_calls():
    """Loads are arguments of compiled code or change it, as on the reference."""
    robot, q, qd, tau = state('bent four_bar')
    wrench = {'coupler': [1.0, 0.5, -2.0, 0.1, 0.2, -0.3]}
    exact, dyn = reference_dynamics(robot), fd.Dynamics(robot, 'c')
    plain = dyn.forward_dynamics(q, qd, tau)
    for each in (exact, dyn):
        each.set_payload('tip', 1.5, (0.02, 0.0, 0.01), 0.01 * np.eye(3))
        each.set_gravity((1.0, 0.0, -3.0))
    for _ in range(2):
        ours = dyn.forward_dynamics(q, qd, tau, wrench)
        assert_agree(ours, exact.forward_dynamics(q, qd, tau, wrench), 1e-10)
        ours = dyn.inverse_dynamics(q, qd, plain)
        assert_agree(ours, exact.inverse_dynamics(q, qd, plain), 1e-10)
    dyn.clear_payload()
    dyn.set_gravity(robot.gravity)
    assert np.array_equal(dyn.forward_dynamics(q, qd, tau), plain)


@pytest.mark.parametrize('backend', ['reference', 'python', 'c'])
def test_open_loops_draw_a_warning_and_are_refused(backend, caplog):
    """Relative to the loop's length: 2.9 m along the four-bar's joints and frames."""
    robot, q, qd, tau = state('four_bar')
    dyn = fd.Dynamics(robot, backend)
    dyn.forward_dynamics(q, qd, tau)
    away = np.linalg.pinv(dyn.loop_jacobian(q)) @ [1.0, 0.0]
    for gap in (0.9e-6, 0.9e-6):
        dyn.forward_dynamics(q + 2.9 * gap * away, qd, tau)
    assert 'open by' not in caplog.text
    for _ in range(2):
        dyn.forward_dynamics(q + 2.9 * 1.1e-6 * away, qd, tau)
    assert caplog.text.count('"pin/tx" open by 3.19e-06 m. Take dyn.project') == 1
    dyn.forward_dynamics(q + 2.9 * 0.9e-3 * away, qd, tau)
    far = q + 2.9 * 1.1e-3 * away
    for name in (*MOTIONS, *DERIVATIVES, 'constraint_forces'):
        with pytest.raises(ArgumentError, match=r'"q" .*"pin/tx" open by 0.0031.*dyn.project'):
            getattr(dyn, name)(far, qd, tau)
    other = copy(dyn)
    dyn.loop_tolerance = 2e-3
    with pytest.raises(ArgumentError, match='loop_tolerance of 0.001'):
        other.forward_dynamics(far, qd, tau)
    assert np.isfinite(dyn.forward_dynamics(far, qd, tau)).all()
    assert np.isfinite(fd.Dynamics(robot, backend, loop_tolerance=np.inf).forward_dynamics(
        q + 0.1, qd, tau)).all()


@pytest.mark.parametrize('tolerance', [0.0, -1.0, np.nan, 'much'])
def test_tolerances_that_are_none(tolerance):
    with pytest.raises(ArgumentError, match='loop_tolerance'):
        fd.Dynamics(mechanism('four_bar'), 'reference', loop_tolerance=tolerance)


def test_angles_of_loops_count_in_radians():
    """A pin of the spatial four-bar that is turned by more than a thousandth of a radian."""
    robot, q, qd, tau = state('particles: flexible weld')
    exact = reference_dynamics(robot)
    a = exact.loop_jacobian(q)
    rows = [name.rpartition('/')[2][0] == 'r' for name in robot.constraint_names]
    turned = exact.closed_chains.space.moved(q, np.linalg.pinv(a) @ (2e-3 * np.array(rows)))
    with pytest.raises(ArgumentError, match=r'/r[xyz]" open by 0.00\d+ rad'):
        exact.forward_dynamics(turned, qd, tau)


@pytest.mark.parametrize('name', ['four_bar', 'bent four_bar', 'parallelogram', 'delta',
                                  'particles: said twice', 'particles: floating'])
def test_derivatives_along_closed_states(name):
    """Against differences of projected states, forward and inverse."""
    robot, q, qd, tau = state(name)
    if name == 'parallelogram':  # away from the change point, where the rank stays
        q, qd = np.array([0.7, -0.7, 0.7]), np.array([1.0, -1.0, 1.0])
    dyn, rng, h = reference_dynamics(robot), np.random.default_rng(1), 1e-5
    space, qdd = dyn.closed_chains.space, dyn.forward_dynamics(q, qd, tau)
    free = spaces(dyn.loop_jacobian(q)).free
    step = h * free @ rng.normal(size=free.shape[1])
    kick = h * free @ rng.normal(size=free.shape[1])
    ends = []
    for sign in (1.0, -1.0):
        at, rate = dyn.project(space.moved(q, sign * step), qd + sign * kick)
        seen = spaces(dyn.loop_jacobian(at))
        moved = qdd + sign * kick
        moved = moved - seen.particular(dyn.loop_jacobian(at) @ moved + dyn.loop_bias(at, rate))
        force = tau + sign * step
        ends.append((
            space.offset(q, at), rate, moved, force, dyn.forward_dynamics(at, rate, force),
            dyn.inverse_dynamics(at, rate, moved) if robot.actuated else None,
        ))
    dq, dqd, dqdd, dtau, forward = (a - b for a, b in zip(*(end[:5] for end in ends)))
    by_q, by_qd, by_tau = dyn.forward_dynamics_derivatives(q, qd, tau)
    assert_agree((by_q @ dq + by_qd @ dqd + by_tau @ dtau) / h, forward / h, 1e-5)
    by_q, by_qd, by_qdd = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    inverse = ends[0][5] - ends[1][5]
    assert_agree((by_q @ dq + by_qd @ dqd + by_qdd @ dqdd) / h, inverse / h, 1e-5)


def test_parameter_derivatives_against_differences():
    """Accelerations and torques of the four-bar by masses and a friction coefficient."""
    robot, q, qd, tau = state('four_bar')
    dyn = reference_dynamics(robot)
    names, h = ['coupler/mass', 'crank/viscous'], 1e-5
    qdd = dyn.forward_dynamics(q, qd, tau)
    forward = dyn.forward_dynamics_parameter_derivatives(q, qd, tau, names)
    inverse = dyn.inverse_dynamics_parameter_derivatives(q, qd, qdd, names)
    # Friction of the crank is a force -qd on it; a mass at the coupler's frame is a payload.
    unit = np.array([1.0, 0.0, 0.0]) * qd
    assert_agree(forward[:, 1], dyn.forward_dynamics(q, qd, tau - unit) - qdd, 1e-9)
    assert_agree(inverse[:, 1], unit, 1e-9)
    ends = []
    for sign in (1.0, -1.0):
        heavy = fd.load_robot(
            _text('four_bar').replace('mass value="1.8"', f'mass value="{1.8 + sign * h!r}"'))
        other = reference_dynamics(heavy)
        ends.append((other.forward_dynamics(q, qd, tau), other.inverse_dynamics(q, qd, qdd)))
    assert_agree(forward[:, 0], (ends[0][0] - ends[1][0]) / (2 * h), 1e-6)
    assert_agree(inverse[:, 0], (ends[0][1] - ends[1][1]) / (2 * h), 1e-6)


def _text(name):
    text = xacro.process_file(str(URDF / f'{name}.urdf.xacro')).toprettyxml()
    assert text.count('mass value="1.8"') == 1
    return text


def test_linearisation_predicts_a_small_departure():
    """X' = A x + B u along the closed states, against simulated motions."""
    robot, q, qd, tau = state('four_bar')
    dyn, t, h = fd.Dynamics(robot, 'c'), 0.05, 1e-4
    q, qd = dyn.project(q, 0.0 * qd)
    hold = dyn.inverse_dynamics(q, qd, qd)
    a, b = fd.linearise(dyn, q, qd, hold)
    free = spaces(dyn.loop_jacobian(q)).free[:, 0]
    runs = [
        fd.simulate(dyn, *dyn.project(q + sign * h * free, qd), hold, t, 1e-3,
                    energy_tolerance=None)
        for sign in (1.0, -1.0)
    ]
    ends = [np.concatenate((run.q[-1], run.qd[-1])) for run in runs]
    found = expm(a * t) @ np.concatenate((free, np.zeros(3)))
    assert_agree(found, (ends[0] - ends[1]) / (2 * h), 1e-6)
    assert b.shape == (6, 3)

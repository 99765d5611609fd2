# SPDX-License-Identifier: Apache-2.0
"""Adaptive methods: their Jacobian, order, controllers, bases and loops."""

import math
import sys

from adaptive_runs import (
    AMPLITUDE,
    counted,
    CVODE,
    METHODS,
    needs_sundials,
    swing,
    turning_loop,
    URDF,
    WHEEL,
)
import flexdyn_ros as fd
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.simulation import (
    TrackingTorque,
)
from flexdyn_ros.simulation.adaptive import AdaptiveRun, Tolerances
from flexdyn_ros.simulation.computed_torque import ComputedTorque
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.recorder import Recorder
from flexdyn_ros.simulation.stability import step_limit
from flexdyn_ros.simulation.state_jacobian import StateJacobian
from flexdyn_ros.simulation.tableaus import ADAPTIVE
import numpy as np
import pytest
from simulated_robots import FLEXIBLE_PENDULUM, PENDULUM, TUMBLER

STIFF = ('Radau', 'BDF', 'LSODA', CVODE)


def torque_of(dyn, kind):
    """Return a torque of some kind."""
    n = dyn.robot.n_joints
    if kind == 'law':
        return TrackingTorque(
            dyn.robot, [0.0, 1.0], [[0.1] * n, [0.4] * n], kp=3.0, kd=0.4, ki=2.0)
    if kind == 'model':
        reference = [[0.1] * n, [0.4] * n]
        return ComputedTorque(dyn.robot, dyn, [0.0, 1.0], reference, kp=30.0, kd=4.0, ki=20.0)
    if kind == 'constant':
        return np.linspace(0.5, -0.3, dyn.robot.nv)
    return lambda t, q, qd: 0.3 * np.cos(qd) - 0.2 * qd**2


@pytest.mark.parametrize(('text', 'kind'), [
    (TUMBLER, 'constant'), (TUMBLER, 'function'),
    (FLEXIBLE_PENDULUM, 'function'), (FLEXIBLE_PENDULUM, 'law'), (FLEXIBLE_PENDULUM, 'model'),
    (WHEEL.format('<dynamics friction="0.1" damping="0.02"/>'), 'law'),
])
def test_the_jacobian_is_the_derivative_of_the_rate(text, kind):
    """By central differences, quaternions, controllers, work and losses included."""
    dyn = fd.Dynamics(fd.load_robot(text))
    equations = EquationsOfMotion(dyn, torque_of(dyn, kind), None)
    recorder = Recorder(dyn, equations.map, '', 1, 1)
    run = AdaptiveRun(equations, ADAPTIVE['radau'], recorder, (1, 1.0, 1.0), 1,
                      Tolerances.checked(None, None, None, None))
    rng = np.random.default_rng(3)
    q = equations.map.checked(
        dyn.robot.neutral_configuration() + 2e-4 * rng.standard_normal(dyn.robot.nq), 'q0')
    if equations.map.quaternions:
        q[3:7] = np.array([0.5, -0.1, 0.7, 0.5]) / np.sqrt(0.25 + 0.01 + 0.49 + 0.25)
    qd = 0.5 + 0.2 * rng.standard_normal(dyn.robot.nv)
    y = np.concatenate((q, qd, 0.1 + np.zeros(len(equations.quadratures.value))))
    jacobian = run._jacobian(0.3, y)
    size = len(q) + len(qd)
    expected = np.empty_like(jacobian)
    for k in range(len(y)):
        step = np.zeros(len(y))
        step[k] = 1e-6 * max(1e-2, abs(y[k]))
        expected[:, k] = (run._rate(0.3, y + step) - run._rate(0.3, y - step)) / (2.0 * step[k])
    scale = np.abs(expected).max(axis=1, keepdims=True) + 1.0
    assert np.abs((jacobian - expected) / scale).max() < 1e-5
    assert np.abs(jacobian[: size]).max() > 1.0
    assert isinstance(run._derivatives, StateJacobian)


@pytest.mark.parametrize('method', METHODS)
def test_errors_follow_the_tolerance(pendulum, method):
    """Against Jacobi's elliptic function; names are taken in any case."""
    errors = []
    for rtol in (1e-5, 1e-7, 1e-9):
        motion = fd.simulate(pendulum, [AMPLITUDE], [0.0], None, 2.0, 0.01, method.upper(),
                             rtol=rtol, energy_tolerance=None)
        errors.append(np.abs(motion.q[:, 0] - swing(motion.t)).max())
        assert np.abs(motion.residual).max() < 1e3 * rtol * motion.kinetic.max()
    assert motion.method == method
    assert len(motion) == 201 and motion.t[-1] == 2.0
    usual = fd.simulate(pendulum, [AMPLITUDE], [0.0], None, 0.0105, None, method,
                        energy_tolerance=None)
    assert usual.t == pytest.approx([*np.arange(11) * 1e-3, 0.0105])
    assert errors[0] < 1e-2 and errors[1] < 0.1 * errors[0] and errors[2] < 0.1 * errors[1]


@pytest.mark.parametrize(('method', 'rtol', 'steps'), [
    ('RK45', 1.0, (0.04, 0.02)), ('DOP853', 1.0, (0.1, 0.075)), ('Radau', 1e-4, (0.05, 0.025)),
])
def test_orders(pendulum, method, rtol, steps):
    """By steps that max_step holds, as the tolerance accepts them all."""
    errors = []
    for step in steps:
        motion = fd.simulate(pendulum, [AMPLITUDE], [0.0], None, 1.2, 1.2, method, rtol=rtol,
                             atol=rtol, max_step=step, energy_tolerance=None)
        errors.append(abs(motion.q[-1, 0] - swing(1.2)))
    order = math.log(errors[0] / errors[1]) / math.log(steps[0] / steps[1])
    assert order > ADAPTIVE[method.lower()].order - 0.5, errors


@pytest.mark.parametrize('method', METHODS)
def test_a_tumbling_body(method):
    """Quaternions of samples are of unit length, and the motion is that of the tenth order."""
    robot = fd.load_robot(TUMBLER)
    dyn = fd.Dynamics(robot)
    start = robot.neutral_configuration(), [0.3, -0.2, 0.5, 1.0, 4.0, -2.0], None, 1.2
    exact = fd.simulate(dyn, *start, 0.02, 'rk10')
    motion = fd.simulate(dyn, *start, 0.02, method, rtol=1e-9)
    assert np.allclose(np.linalg.norm(motion.q[:, 3:7], axis=1), 1.0, rtol=0, atol=1e-15)
    assert np.abs(motion.q - exact.q).max() < 1e-6
    assert np.abs(motion.qd - exact.qd).max() < 1e-5


@pytest.mark.parametrize('method', ['Radau', 'BDF', CVODE])
def test_fast_modes_that_rest_do_not_bound_the_step(method):
    """Torsion of 7.6 kHz, 1e-9 rad of it, beside 5 Hz: a 20th of the evaluations of rk4."""
    robot = fd.load_robot(
        URDF / 'flexible_beam.urdf.xacro', xacro_arguments={
            'hinged': 'true', 'modes': '0', 'torsion_modes': '4', 'gravity': '0 -9.81 0'},
        extension='<flexdyn version="1.0"><joint_dynamics joint="hinge" stiffness="80" '
                  'rotor_inertia="0.15"/></flexdyn>')
    dyn = fd.Dynamics(robot)
    start = [0.1, 0.005, *[1e-9] * 4], np.zeros(6), None, 1.0
    limit = step_limit(dyn, start[0])
    assert 4.0 / limit > 60000
    exact = fd.simulate(dyn, *start, 0.01 / 200)
    motion, evaluations = counted(dyn, *start, 0.01, method, rtol=1e-5)
    assert np.abs(motion.q - exact.q[::200]).max() < 1e-4
    assert 20 * evaluations < 4.0 / limit


@pytest.mark.parametrize('method', STIFF)
def test_stiff_friction_takes_few_evaluations(method):
    """The generated Jacobian carries the smoothed law: rk4 would need 36000 evaluations."""
    dyn = fd.Dynamics(fd.load_robot(WHEEL.format('<dynamics friction="1"/>')))
    motion, evaluations = counted(
        dyn, [0.0], [1.0], [0.5], 0.1, 1e-3, method, energy_tolerance=None)
    # Below its level a smoothed joint creeps at artanh(0.5) of its smoothing velocity.
    assert motion.qd[-1, 0] == pytest.approx(1e-2 * math.atanh(0.5), rel=1e-4)
    assert 50 < evaluations < 2500


@pytest.mark.parametrize('method', METHODS)
def test_controllers_follow_as_with_a_fixed_step(method):
    """PID about a reference, its integrals part of the state."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM))
    law = TrackingTorque(dyn.robot, [0.0, 0.5, 1.0], [[0.3], [0.6], [0.1]], kp=200.0, kd=20.0,
                         ki=100.0)
    exact = fd.simulate(dyn, [0.3], [0.0], law, 1.0, 5e-4, 'rk4')
    motion = fd.simulate(dyn, [0.3], [0.0], law, 1.0, 5e-3, method, rtol=1e-8)
    assert np.abs(motion.q - exact.q[::10]).max() < 1e-5
    assert np.abs(motion.tau - exact.tau[::10]).max() < 1e-3 * np.abs(exact.tau).max()
    assert np.abs(motion.residual).max() < 1e-4 * motion.kinetic.max()


def test_a_prescribed_base_and_wrenches():
    """The base by scipy's differences, a wrench by the generated Jacobian, as rk4 has them."""
    satellite = fd.load_robot(
        TUMBLER.replace('type="floating"', 'type="revolute"').replace(
            '<origin', '<axis xyz="0 1 0"/><limit effort="1" velocity="9"/><origin').replace(
            '</flexdyn>', '<base motion="prescribed"/></flexdyn>'))
    dyn, rest = fd.Dynamics(satellite), np.zeros(7)
    q = satellite.neutral_configuration()
    options = {'base_acceleration': [0.1, 0.2, 0.0, 0.3, 0.0, 0.5]}
    exact = fd.simulate(dyn, q, rest, None, 0.5, 0.01, 'rk4', **options)
    for method in ('DOP853', 'Radau'):
        motion = fd.simulate(dyn, q, rest, None, 0.5, 0.01, method, rtol=1e-8, **options)
        assert np.abs(motion.q - exact.q).max() < 1e-7
        assert np.abs(motion.tau - exact.tau).max() < 1e-5
        assert np.abs(motion.residual).max() < 1e-6 * motion.kinetic.max()
    dyn = fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM))
    loads = {'tip': [0.0, 0.1, -0.5, 0.0, 0.0, 0.0]}
    runs = [
        fd.simulate(dyn, np.zeros(5), np.zeros(5), None, 0.05, 1e-4, method, wrenches=loads)
        for method in ('rk4', 'Radau')
    ]
    assert np.abs(runs[1].q - runs[0].q).max() < 1e-4 * np.abs(runs[0].q).max()


@pytest.mark.parametrize('backend', ['python', 'reference'])
def test_other_backends_give_the_same_motion(pendulum, backend):
    """At equal steps: of steps that are too short the error estimate is rounding."""
    other = fd.Dynamics(pendulum.robot, backend)
    for method in ('DOP853', 'Radau'):
        runs = [fd.simulate(dyn, [1.0], [0.0], None, 0.3, 0.05, method, max_step=0.01)
                for dyn in (pendulum, other)]
        assert np.abs(runs[1].q - runs[0].q).max() < 1e-12


@needs_sundials
def test_sundials_gives_the_motion_of_scipy():
    """A flexible pendulum with a controller, by CVODE and by DOP853 and Radau."""
    dyn = fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM))
    runs = [
        fd.simulate(dyn, np.zeros(5), np.zeros(5), torque_of(dyn, 'law'), 0.1, 5e-3, method,
                    rtol=1e-8)
        for method in ('DOP853', 'Radau', 'cvode')
    ]
    assert runs[2].method == 'CVODE'
    for theirs in runs[:2]:
        assert np.abs(runs[2].q - theirs.q).max() < 1e-5 * np.abs(theirs.q).max()
        assert np.abs(runs[2].work - theirs.work).max() < 1e-5 * np.abs(theirs.work).max()


def test_without_sundials_the_error_names_what_to_install(pendulum, monkeypatch):
    """It is a library of an extra."""
    monkeypatch.delitem(sys.modules, 'flexdyn_ros.simulation.cvode', raising=False)
    monkeypatch.setitem(sys.modules, 'sksundae.cvode', None)
    with pytest.raises(FlexdynError, match='CVODE.*pip install scikit-sundae'):
        fd.simulate(pendulum, [AMPLITUDE], [0.0], None, 1.0, 0.01, 'CVODE')


@pytest.mark.parametrize('method', METHODS)
def test_loops_move_as_by_a_fixed_step(method):
    """Four-bar: the motion of rk4 at 0.1 ms, closed samples, energy kept, an event at its zero."""
    dyn, q, qd = turning_loop('four_bar', {'crank': 6.0})
    exact = fd.simulate(dyn, q, qd, None, 1.0, 1e-4, 'rk4', sample_every=100)

    def quarter(t, q, qd):
        return q[0] - 0.5 * np.pi

    motion = fd.simulate(
        dyn, q, qd, None, 1.0, 0.01, method, rtol=1e-7, max_step=0.05, events=quarter,
        energy_tolerance=1e-4,
    )
    assert np.abs(motion.q - exact.q).max() < 1e-4 * np.ptp(exact.q)
    assert max(np.abs(dyn.loop_gaps(each)).max() for each in motion.q) < 1e-12
    rates = [dyn.loop_jacobian(at) @ rate for at, rate in zip(motion.q, motion.qd)]
    assert np.abs(rates).max() < 1e-9
    assert len(motion.events) and np.allclose(motion.events[:, 2], 0.5 * np.pi, atol=1e-9)


def test_spatial_loops_move_as_by_a_fixed_step():
    """A delta robot under gravity and a torque function, by DOP853 and by rk4."""
    dyn, q, qd = turning_loop('delta', {})
    actuated = [dyn.robot.coordinate_names.index(name) for name in dyn.robot.actuated]

    def torque(t, q, qd):
        tau = np.zeros(len(qd))
        tau[actuated] = np.array([3.0, -2.0, 1.0])[:len(actuated)] * math.sin(20.0 * t)
        return tau

    exact = fd.simulate(dyn, q, qd, torque, 0.1, 2.5e-4, 'rk4', sample_every=20)
    motion = fd.simulate(dyn, q, qd, torque, 0.1, 5e-3, 'DOP853', rtol=1e-8)
    assert np.abs(motion.q - exact.q).max() < 1e-6 * np.ptp(exact.q)
    assert max(np.abs(dyn.loop_gaps(each)).max() for each in motion.q) < 1e-12

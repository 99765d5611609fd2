# SPDX-License-Identifier: Apache-2.0
"""Simulated motions against closed forms and conservation laws."""

import io
import math
import time

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.configuration import quaternion_matrix
from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.simulation import SimulationDiverged
from flexdyn_ros.simulation.stability import step_limit
import numpy as np
from oracles.segment_arms import boom
import pytest
from scipy.special import ellipj, ellipk
from simulated_robots import (
    FLEXIBLE_PENDULUM,
    PENDULUM,
    TUMBLER,
    TUMBLER_COM,
    TUMBLER_INERTIA,
    TUMBLER_MASS,
)

G, LENGTH = 9.81, 0.8  # of PENDULUM


@pytest.fixture(scope='module')
def pendulum():
    """Return the dynamics of a mathematical pendulum."""
    return fd.Dynamics(fd.load_robot(PENDULUM))


@pytest.fixture(scope='module')
def flexible():
    """Return the dynamics of a beam on a hinge under gravity."""
    return fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM))


def pendulum_angle(t, amplitude):
    """Return the exact angle of a pendulum let go at rest, by Jacobi's sn."""
    k2 = math.sin(amplitude / 2.0) ** 2
    sn = ellipj(ellipk(k2) - math.sqrt(G / LENGTH) * np.asarray(t), k2)[0]
    return 2.0 * np.arcsin(math.sqrt(k2) * sn)


def test_pendulum_has_the_period_of_the_elliptic_integral(pendulum):
    """T = 4 sqrt(l/g) K(sin^2(amplitude/2)): after it the pendulum is back at rest."""
    amplitude = 2.0
    period = 4.0 * math.sqrt(LENGTH / G) * ellipk(math.sin(amplitude / 2.0) ** 2)
    motion = fd.simulate(pendulum, [amplitude], [0.0], None, period, 0.005)
    assert motion.t[-1] == period
    assert motion.q[-1, 0] == pytest.approx(amplitude, abs=1e-7)
    assert motion.qd[-1, 0] == pytest.approx(0.0, abs=1e-6)
    assert np.allclose(motion.q[:, 0], pendulum_angle(motion.t, amplitude), atol=1e-7)


def test_last_step_is_shortened_to_the_end(pendulum):
    """Samples lie dt apart but for the last; a multiple of dt gives no sliver."""
    motion = fd.simulate(pendulum, [0.1], [0.0], None, 0.25, 0.1)
    assert motion.t.tolist() == [0.0, 0.1, 0.2, 0.25]
    assert motion.q[-1, 0] == pytest.approx(pendulum_angle(0.25, 0.1), abs=1e-5)
    assert len(fd.simulate(pendulum, [0.1], [0.0], None, 0.3, 0.1)) == 4
    assert fd.simulate(pendulum, [0.1], [0.0], None, 0.02, 0.1).t.tolist() == [0.0, 0.02]


def test_torque_is_evaluated_at_every_stage(pendulum):
    """Four times a step of rk4, at t, t + h/2 twice and t + h, and once for the last sample."""
    times = []

    def torque(t, q, qd):
        assert q.shape == qd.shape == (1,)
        assert not q.flags.writeable
        times.append(t)
        return [math.sin(30.0 * t)]

    motion = fd.simulate(pendulum, [0.0], [0.0], torque, 0.02, 0.01)
    assert np.allclose(times, [0, .005, .005, .01, .01, .015, .015, .02, .02], atol=1e-15)
    assert np.allclose(motion.tau[:, 0], np.sin(30.0 * motion.t), atol=1e-15)


def test_time_dependent_torque_keeps_the_order(pendulum):
    """A torque that cancels gravity and drives theta = sin(3 t) reproduces it."""
    inertia, weight = 1.3 * LENGTH**2, 1.3 * G * LENGTH

    def torque(t, q, qd):
        return [-9.0 * inertia * math.sin(3.0 * t) + weight * math.sin(q[0])]

    errors = []
    for dt in (0.1, 0.05):
        motion = fd.simulate(pendulum, [0.0], [3.0], torque, 2.0, dt)
        errors.append(np.max(np.abs(motion.q[:, 0] - np.sin(3.0 * motion.t))))
    assert errors[1] < 2e-5
    assert math.log2(errors[0] / errors[1]) > 3.7


def test_constant_torque_does_work(pendulum):
    """The energy gained is the torque times the angle."""
    motion = fd.simulate(pendulum, [0.3], [0.0], [5.0], 0.8, 0.004)
    work = 5.0 * (motion.q[:, 0] - 0.3)
    assert np.ptp(work) > 0.5
    assert np.allclose(motion.energy - motion.energy[0], work, atol=1e-7)
    assert np.allclose(motion.energy, motion.kinetic + motion.potential, rtol=1e-15)


def test_tumbling_body_conserves_energy_and_momentum():
    """Without forces a rigid body keeps its energy, and its momenta in the root frame."""
    robot = fd.load_robot(TUMBLER)
    dyn = fd.Dynamics(robot)
    qd0 = np.array([0.3, -0.2, 0.5, 1.0, 4.0, -2.0])
    motion = fd.simulate(dyn, robot.neutral_configuration(), qd0, None, 2.0, 0.005)
    assert np.allclose(np.linalg.norm(motion.q[:, 3:7], axis=1), 1.0, atol=1e-14)
    assert np.ptp(motion.qd[:, 3:], axis=0).max() > 1.0  # it does tumble
    assert np.ptp(motion.energy) < 1e-7 * motion.energy[0]
    momenta = np.array([_momenta(dyn, q, qd) for q, qd in zip(motion.q[::20], motion.qd[::20])])
    assert np.linalg.norm(momenta[0, :3]) > 1.0
    assert np.linalg.norm(momenta[0, 3:]) > 1.0
    assert np.ptp(momenta, axis=0).max() < 1e-7


def _momenta(dyn, q, qd):
    """Return linear and angular momentum about the joint frame's origin, in its axes, (6,)."""
    rotation, position = quaternion_matrix(q[3:7]), q[:3]
    omega = rotation @ qd[3:]
    linear = TUMBLER_MASS * (rotation @ (qd[:3] + np.cross(qd[3:], TUMBLER_COM)))
    spin = rotation @ TUMBLER_INERTIA @ rotation.T @ omega
    return np.concatenate((linear, spin + np.cross(position + rotation @ TUMBLER_COM, linear)))


def test_undamped_flexible_pendulum_conserves_energy(flexible):
    """Modes, joint and gravity exchange energy; the total stays."""
    q0 = [0.2, 0.01, -0.02, 0.0, 0.05]
    motion = fd.simulate(flexible, q0, np.zeros(5), None, 0.1, 2e-4)
    exchanged = np.ptp(motion.kinetic)
    assert exchanged > 0.1
    assert np.max(np.abs(motion.energy - motion.energy[0])) < 1e-4 * exchanged
    tips = dict(zip(motion.tip_names, motion.tips.T))
    assert motion.tip_units == ('m', 'm', 'rad')
    assert np.allclose(tips['arm/tip_z'],
                       motion.coordinate('arm/bending_z1') + motion.coordinate('arm/bending_z2'))
    assert tips['arm/tip_y'][0] == 0.01
    assert tips['arm/tip_twist'][0] == 0.05


def test_runs_stop_at_divergence_and_keep_the_motion(flexible):
    """Above the stability limit the error names the limit."""
    limit = step_limit(flexible, np.zeros(5))
    mass = flexible.mass_matrix(np.zeros(5))
    elastic = np.array([flexible.elastic_vector(e, np.zeros(5)) for e in np.eye(5)]).T
    highest = math.sqrt(max(np.linalg.eigvals(np.linalg.solve(mass, elastic)).real))
    assert limit == pytest.approx(2.828 / highest, rel=1e-3)
    with pytest.raises(SimulationDiverged) as caught:
        fd.simulate(flexible, [0.0, *[0.001] * 4], np.zeros(5), None, 10.0, 1.3 * limit,
                    force=True)
    error = caught.value
    assert isinstance(error, fd.FlexdynError)
    assert error.step_limit == pytest.approx(limit)
    assert error.coordinate in flexible.robot.coordinate_names
    assert error.coordinate in str(error)
    assert f'{limit:.3g} s' in str(error)
    assert 'Use a dt below' in str(error)
    assert error.time == error.trajectory.t[-1] < 10.0
    assert np.isfinite(error.trajectory.q).all()
    assert np.isfinite(error.trajectory.energy).all()
    steady = fd.simulate(flexible, [0.0, *[0.001] * 4], np.zeros(5), None,
                         200 * 0.9 * limit, 0.9 * limit)
    assert np.max(np.abs(steady.q[:, 1:])) < 0.1


def test_the_tenth_order_has_a_limit_of_its_own(flexible):
    """Its limit is 0.41 of rk4's; below it vibrations stay, well above they grow."""
    start, limit = [0.0, *[0.001] * 4], step_limit(flexible, np.zeros(5), 'rk10')
    assert limit / step_limit(flexible, np.zeros(5)) == pytest.approx(1.161 / 2.828, rel=1e-9)
    steady = fd.simulate(flexible, start, np.zeros(5), None, 100 * limit, 0.95 * limit, 'rk10')
    assert np.max(np.abs(steady.q[:, 1:])) < 0.1
    with pytest.raises(SimulationDiverged, match='which rk10 needs'):
        fd.simulate(flexible, start, np.zeros(5), None, 3.0, 2.4 * limit, 'rk10',
                    force=True)


def test_the_second_order_says_that_it_lets_vibrations_grow(flexible):
    """Within the limit of decaying motions the error names the method, not the torque."""
    dt = 0.5 * step_limit(flexible, np.zeros(5), 'rk2')
    with pytest.raises(SimulationDiverged, match='at any dt: use method="rk4"'):
        fd.simulate(flexible, [0.0, *[0.001] * 4], np.zeros(5), None, 10.0, dt, 'rk2')


def test_a_torque_that_diverges_is_not_blamed_on_the_step(pendulum):
    """A feedback with the wrong sign blows up; the error points at the torque."""
    with pytest.raises(SimulationDiverged, match='check the torque') as caught:
        fd.simulate(pendulum, [0.1], [0.1], lambda t, q, qd: 1e3 * qd, 1000.0, 0.01)
    assert caught.value.step_limit == math.inf
    assert caught.value.coordinate == 'pivot'


def test_a_start_without_finite_numbers(pendulum):
    """No sample can be recorded; the error is the same, with an empty motion."""
    for qd in (1e160, 1e300):
        with pytest.raises(SimulationDiverged, match='after t = 0 s.*initial state') as caught:
            fd.simulate(pendulum, [0.1], [qd], None, 0.1, 0.01)
        assert caught.value.time == 0.0 and len(caught.value.trajectory.t) == 0


def test_an_error_at_the_start_is_the_torques_own():
    """Links in segments have no motion to show then, and hide nothing."""

    def torque(t, q, qd):
        raise RuntimeError('no torque')

    robot = fd.load_robot(boom(3))
    start = np.zeros(robot.nv)
    with pytest.raises(RuntimeError, match='no torque'):
        fd.simulate(fd.Dynamics(robot, 'reference'), start, start, torque, 0.1, 1e-5)


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'dt': 0.0}, '"dt" is 0.0, expected a positive number'),
        ({'dt': float('nan')}, '"dt" has a value that is not finite'),
        ({'dt': '1'}, '"dt" must hold real numbers, expected one number'),
        ({'dt': 1e-12}, '"dt" asks for 1e.12 steps'),
        ({'dt': 5e-324}, '"dt" asks for inf steps'),
        ({'t_end': -1.0}, '"t_end" is -1.0, expected a positive number'),
        ({'t_end': float('inf')}, '"t_end" has a value that is not finite'),
        ({'t_end': None}, '"t_end" must hold real numbers, expected one number'),
        ({'method': 'euler'}, '"method" is \'euler\''),
        ({'q0': [0.0, 1.0]}, r'"q0" has shape \(2,\), expected \(1,\)'),
        ({'qd0': [[0.0]]}, '"qd0" has shape'),
        ({'q0': [float('nan')]}, r'"q0" has a value that is not finite \[0\]'),
        ({'q0': ['1']}, '"q0" must hold real numbers'),
        ({'q0': 'north'}, '"q0" must hold real numbers'),
        ({'torque': [1.0, 2.0]}, '"torque" has shape'),
        ({'torque': [float('inf')]}, '"torque" has a value that is not finite'),
        ({'torque': lambda t: [1.0]}, r'"torque" is a function .* expected \(t, q, qd\)'),
        ({'torque': lambda t, q, qd: [1.0, 2.0]}, '"torque" has shape.*returned at t = 0 s'),
        ({'torque': lambda t, q, qd: [float('nan')]}, '"torque" has a value.*at t = 0 s'),
    ],
)
def test_bad_arguments_are_named(pendulum, changes, message):
    """Each error names the argument and its fault."""
    call = {'q0': [0.1], 'qd0': [0.0], 'torque': None, 't_end': 1.0, 'dt': 0.5, **changes}
    with pytest.raises(ArgumentError, match=message):
        fd.simulate(pendulum, **call)


def test_errors_of_the_torque_itself_pass_through(pendulum):
    """A mistake inside the user's function is not disguised as divergence."""
    with pytest.raises(ZeroDivisionError):
        fd.simulate(pendulum, [0.1], [0.0], lambda t, q, qd: [1.0 / (t - t)], 1.0, 0.1)


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self):
        """Return that it is a terminal."""
        return True


def test_progress_is_reported_to_a_function(pendulum):
    """The function receives fractions, rising to 1."""
    heard = []
    fd.simulate(pendulum, [0.1], [0.0], None, 1.0, 0.01, progress=heard.append)
    assert heard[-1] == 1.0
    assert heard == sorted(heard)


def test_bar_is_drawn_on_long_runs_on_terminals_only(monkeypatch):
    """A second passes before it appears; elsewhere the stream stays empty."""
    now = [0.0]
    monkeypatch.setattr('flexdyn_ros.progress.time.monotonic', lambda: now[0])
    monkeypatch.setenv('TERM', 'xterm')
    terminal, file, forced = Terminal(), io.StringIO(), io.StringIO()
    bars = [ProgressBar(None, terminal), ProgressBar(None, file), ProgressBar(True, forced)]
    for now[0], fraction in ((0.9, 0.25), (3.0, 0.75)):
        for bar in bars:
            bar.update(fraction)
        if now[0] < 1.0:
            assert terminal.getvalue() == forced.getvalue() == ''
    for bar in bars:
        bar.close()
    assert ' 75 %' in terminal.getvalue()
    assert '1 s left' in terminal.getvalue()
    assert terminal.getvalue().endswith('\n')
    assert '\x1b' not in terminal.getvalue()
    assert file.getvalue() == ''
    assert '100 %' in forced.getvalue()
    monkeypatch.setenv('TERM', 'dumb')
    dumb = Terminal()
    bar = ProgressBar(None, dumb)
    now[0] = 10.0
    bar.update(0.5)
    bar.close()
    assert dumb.getvalue() == ''


def test_bar_as_a_context_is_drawn_while_nothing_is_reported(monkeypatch):
    """The innermost one alone draws; an error ends the line."""
    monkeypatch.setattr('flexdyn_ros.progress._QUIET_TIME', 0.01)
    monkeypatch.setenv('TERM', 'xterm')
    terminals = Terminal(), Terminal()

    def wait_for(text, terminal):
        end = time.monotonic() + 20.0
        while text not in terminal.getvalue():
            assert time.monotonic() < end, terminal.getvalue()
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt), ProgressBar(None, terminals[0], 'outer') as outer:
        wait_for('outer [' + '-' * 30 + ']   0 %     ? s left', terminals[0])
        with ProgressBar(None, terminals[1], 'inner') as inner:
            time.sleep(0.03)
            before = len(terminals[0].getvalue())
            assert list(inner.over('ab')) == ['a', 'b']
            wait_for(' 50 % ', terminals[1])
            assert len(terminals[0].getvalue()) == before
        assert terminals[1].getvalue().endswith('100 %     0 s left\n')
        outer.update(0.25)
        wait_for(' 25 % ', terminals[0])
        raise KeyboardInterrupt
    assert terminals[0].getvalue().endswith('\n') and '100 %' not in terminals[0].getvalue()

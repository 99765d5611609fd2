# SPDX-License-Identifier: Apache-2.0
"""Torques of a run: tables, controllers, functions that are held, and ends of a run."""

import signal
import threading

from codegen.compiled import needs_compiler
import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError, UnknownName
from flexdyn_ros.simulation import TorqueTable, TrackingTorque
import numpy as np
import pytest
from simulated_robots import PENDULUM, TUMBLER

pytestmark = needs_compiler


@pytest.mark.parametrize('backend', ['c', 'python'])
def test_a_torque_function_is_held_over_its_period(backend):
    """It is called once a period; between, a constant torque acts on the robot."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM), backend)
    calls = []

    def torque(t, q, qd):
        calls.append(t)
        return [1.0 + t - q[0]]

    motion = fd.simulate(dyn, [0.1], [0.0], torque, 0.02, 1e-3, torque_period=4e-3)
    assert calls == pytest.approx([0.0, 0.004, 0.008, 0.012, 0.016, 0.02])
    assert (motion.tau[:4] == motion.tau[0]).all()
    chosen = fd.simulate(dyn, [0.1], [0.0], torque, 0.02, None, torque_period=7e-4)
    assert chosen.t[1] == pytest.approx(7e-4)
    assert motion.tau[4, 0] == 1.0 + motion.t[4] - motion.q[4, 0]
    with pytest.raises(ArgumentError, match='multiple of dt'):
        fd.simulate(dyn, [0.1], [0.0], torque, 0.02, 1e-3, torque_period=1.5e-3)
    with pytest.raises(ArgumentError, match='no function'):
        fd.simulate(dyn, [0.1], [0.0], [1.0], 0.02, 1e-3, torque_period=1e-3)


@pytest.mark.parametrize('backend', ['c', 'python'])
def test_samples_may_be_fewer_than_steps(backend):
    """Every third state and the last one, the same numbers as of a full record."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM), backend)
    args = ([0.1], [0.0], [0.3], 0.1, 1e-3)
    full, few = fd.simulate(dyn, *args), fd.simulate(dyn, *args, sample_every=3)
    rows = [*range(0, 100, 3), 100]
    assert (few.t == full.t[rows]).all()
    assert (few.q == full.q[rows]).all()
    assert (few.work == full.work[rows]).all()
    with pytest.raises(ArgumentError, match='whole number'):
        fd.simulate(dyn, *args, sample_every=0)


def test_integral_action_removes_the_error_of_gravity():
    """A pendulum held at 0.5 rad: P and D leave m g l sin(q) / kp, the integral nothing."""
    robot = fd.load_robot(PENDULUM)
    dyn = fd.Dynamics(robot)
    gains = {'kp': 100.0, 'kd': 15.0}
    ends = [
        fd.simulate(
            dyn, [0.5], [0.0], TrackingTorque(robot, [0.0], [[0.5]], ki=ki, **gains), 10.0, 2e-3
        ).q[-1, 0]
        for ki in (0.0, 100.0)
    ]
    weight = dyn.gravity_vector([ends[0]])[0]
    assert abs(weight) > 1.0
    assert gains['kp'] * (0.5 - ends[0]) == pytest.approx(weight, rel=1e-6)
    assert ends[1] == pytest.approx(0.5, abs=1e-4)


def test_tables_are_what_they_interpolate():
    """Closed forms of each interpolation, inside, at the knots and beyond the ends."""
    t = np.array([0.0, 1.0, 3.0])
    linear = TorqueTable(t, [[0.0], [2.0], [-2.0]])
    hold = TorqueTable(t, [[0.0], [2.0], [-2.0]], 'hold')
    cubic = TorqueTable(np.linspace(0, 3, 7), np.linspace(0, 3, 7)[:, np.newaxis]**3, 'cubic')
    state = (np.zeros(1), np.zeros(1), np.zeros(0))
    for time, ramp, step in (
        (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.25, 0.5, 0.0), (1.0, 2.0, 2.0), (2.0, 0.0, 2.0),
        (3.0, -2.0, -2.0), (9.0, -2.0, -2.0),
    ):
        assert linear.torque(time, *state) == pytest.approx(ramp)
        assert hold.torque(time, *state) == pytest.approx(step)
    assert cubic.torque(1.3, *state) == pytest.approx(1.3**3)
    value, rate = cubic.table(1.3)
    assert rate == pytest.approx(3 * 1.3**2)
    assert cubic.table(3.5)[1] == 0.0


def test_bad_laws_are_named():
    """Shapes, times, gains and names."""
    robot, tumbler = fd.load_robot(PENDULUM), fd.load_robot(TUMBLER)
    with pytest.raises(ArgumentError, match='ascend'):
        TorqueTable([0.0, 0.0], [[1.0], [2.0]])
    with pytest.raises(ArgumentError, match='"tau" has shape'):
        TorqueTable([0.0, 1.0], [[1.0]])
    with pytest.raises(ArgumentError, match='interpolation'):
        TorqueTable([0.0, 1.0], [[1.0], [2.0]], 'quadratic')
    with pytest.raises(ArgumentError, match='negative gain'):
        TrackingTorque(robot, [0.0], [[0.0]], kp=-1.0)
    with pytest.raises(UnknownName, match='pivot'):
        TrackingTorque(robot, [0.0], [[0.0]], joints=['pivott'])
    with pytest.raises(ArgumentError, match='quaternion'):
        TrackingTorque(tumbler, [0.0], [[0.0]], joints=['free/rx'])
    with pytest.raises(ArgumentError, match='gives 2 generalised forces'):
        fd.simulate(fd.Dynamics(robot), [0.0], [0.0], TorqueTable([0.0], [[1.0, 2.0]]), 1.0, 0.1)


@pytest.mark.parametrize('backend', ['c', 'python'])
def test_an_interrupt_keeps_the_samples_so_far(backend):
    """Ctrl-C during a long run, from outside: the exception carries the motion."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM), backend)
    fd.simulate(dyn, [0.1], [0.0], None, 0.01, 1e-3)
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        fd.simulate(dyn, [0.1], [0.0], None, 1e4, 1e-3)
    motion = caught.value.trajectory
    assert 10 < len(motion) < 10**7
    assert (np.diff(motion.t) > 0.0).all()
    again = fd.simulate(dyn, [0.1], [0.0], None, 0.01, 1e-3)
    assert (motion.q[:10] == again.q[:10]).all()


def test_an_error_of_the_torque_keeps_the_samples_so_far():
    """The error itself is unchanged, and carries the motion."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM))

    def torque(t, q, qd):
        if t > 0.05:
            raise OSError('the motor is gone')
        return [0.0]

    with pytest.raises(OSError, match='the motor is gone') as caught:
        fd.simulate(dyn, [0.1], [0.0], torque, 1.0, 0.01)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.05)

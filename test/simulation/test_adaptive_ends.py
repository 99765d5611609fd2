# SPDX-License-Identifier: Apache-2.0
"""Adaptive methods: knots of torques, events, and the motion after a warning or an error."""

import math
import warnings

from adaptive_runs import (
    AMPLITUDE,
    counted,
    G,
    INERTIA,
    K2,
    LENGTH,
    METHODS,
    swing,
    turning_loop,
    WHEEL,
)
import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.quasi_static.dynamics import QuasiStatic
from flexdyn_ros.quasi_static.simulation import simulate_quasi_static
from flexdyn_ros.simulation import (
    EnergyNotKept,
    SimulationDiverged,
    TorqueTable,
)
from flexdyn_ros.simulation.record import load_npz
import numpy as np
import pytest
from scipy.special import ellipk
from simulated_robots import FLEXIBLE_PENDULUM


@pytest.mark.parametrize('method', METHODS)
def test_no_step_passes_over_a_knot(method):
    """Pulses of 1 ms in seconds of rest, by a table of each kind and by a held function."""
    dyn = fd.Dynamics(fd.load_robot(WHEEL.format('')))
    t = [0.0, 4.0, 4.001, 8.0]
    hold = TorqueTable(t, [[0.0], [0.1], [0.0], [0.0]], 'hold')
    linear = TorqueTable([0.0, 4.0, 4.0005, 4.001, 8.0], [[0.0], [0.0], [0.2], [0.0], [0.0]])

    def held(time, q, qd):
        return [0.1 if time == 0.05 else 0.0]

    for torque, start, period in ((hold, 4.0, None), (linear, 4.0, None), (held, 0.05, 1e-3)):
        motion, evaluations = counted(dyn, [0.0], [0.0], torque, start + 0.05, 1e-3, method,
                                      torque_period=period, rtol=1e-8)
        assert motion.qd[-1, 0] == pytest.approx(0.1 * 1e-3 / INERTIA, rel=1e-6)
        assert motion.work[-1] == pytest.approx(motion.kinetic[-1], rel=1e-5)
        # A stage that took the torque beyond a jump would make steps short before it.
        assert period or evaluations < 600
        if torque is not linear:
            k = round(start / 1e-3)
            assert motion.tau[k - 1 : k + 2, 0].tolist() == [0.0, 0.1, 0.0]


@pytest.mark.parametrize('method', METHODS)
def test_events_are_found_and_kept(pendulum, method, tmp_path):
    """Zeros of the angle a half period apart; the third one ends the run; files keep them."""
    period = 4.0 * math.sqrt(LENGTH / G) * ellipk(K2)

    def bottom(t, q, qd):
        assert not q.flags.writeable
        return q[0]

    def turn(t, q, qd):
        return qd[0]

    bottom.terminal, turn.direction = 3, -1
    motion = fd.simulate(pendulum, [AMPLITUDE], [0.0], None, 10.0, 0.01, method, rtol=1e-9,
                         events=[bottom, turn])
    passes = motion.events[motion.events[:, 0] == 0.0]
    assert passes[:, 1] == pytest.approx(period * np.array([0.25, 0.75, 1.25]), abs=1e-6)
    assert np.abs(passes[:, 2]).max() < 1e-9
    assert motion.t[-1] == passes[-1, 1] and np.abs(motion.q[-1]).max() < 1e-9
    assert motion.events[motion.events[:, 0] == 1.0][:, 1] == pytest.approx([period], abs=1e-5)
    again = load_npz(motion.save_npz(tmp_path / 'motion.npz'))
    assert np.array_equal(again.events, motion.events)


def test_a_loose_tolerance_warns_and_the_proposed_one_mends_it(pendulum):
    """The warning names rtol, and no step."""
    run = (pendulum, [AMPLITUDE], [0.0], None, 5.0, 0.01, 'RK45')
    with pytest.warns(EnergyNotKept, match='"pivot".* rtol=') as caught:
        fd.simulate(*run, rtol=1e-3)
    rtol = float(str(caught[0].message).split('rtol=')[1].split()[0].rstrip('.'))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        fd.simulate(*run, rtol=rtol)


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('error', [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupt_or_error_keeps_the_samples(pendulum, method, error):
    """All samples of the steps before it, and the user's error itself."""
    def torque(t, q, qd):
        if t > 0.5:
            raise error
        return [0.0]

    with pytest.raises(error) as caught:
        fd.simulate(pendulum, [AMPLITUDE], [0.0], torque, 1.0, 0.01, method, max_step=0.05)
    motion = caught.value.trajectory
    assert 0.3 < motion.t[-1] <= 0.5
    assert np.abs(motion.q[:, 0] - swing(motion.t)).max() < 1e-3


@pytest.mark.parametrize('method', METHODS)
def test_a_motion_without_bound_is_an_error_with_the_samples(pendulum, method):
    """With qd' = qd^2 the rate is infinite at t = 1 s for qd(0) = 1 rad/s."""
    dyn = fd.Dynamics(fd.load_robot(WHEEL.format('')))
    with pytest.raises(SimulationDiverged, match=f'"axle".*step of {method}.*torque') as caught:
        fd.simulate(dyn, [0.0], [1.0], lambda t, q, qd: INERTIA * qd**2, 2.0, 0.01, method)
    motion = caught.value.trajectory
    assert 0.9 < motion.t[-1] < 1.01
    exact = 1.0 / (1.0 - motion.t[:90])
    assert motion.qd[:90, 0] == pytest.approx(exact, rel=1e-3)


def test_what_does_not_fit_is_refused(pendulum):
    """Loops, joints with quasi-static modes, and arguments of the other methods."""
    run = (pendulum, [0.1], [0.0], None, 0.1, 0.01)
    for options in ({'rtol': 1e-6}, {'atol': 1e-6}, {'max_step': 0.1}, {'events': lambda *_: 1}):
        with pytest.raises(ArgumentError, match=f'"{[*options][0]}" needs an adaptive method'):
            fd.simulate(*run, 'rk4', **options)
    with pytest.raises(ArgumentError, match='"stops" need'):
        fd.simulate(*run, 'Radau', stops=True)
    for options, words in (
        ({'rtol': 0.0}, '"rtol" is 0.0'), ({'atol': -1.0}, '"atol" is'),
        ({'max_step': '1'}, '"max_step" must hold'), ({'events': [1]}, '"events" must be a func'),
        ({'events': lambda t, q, qd: 'x'}, '"events" must return a number'),
        ({'events': lambda t, q, qd: float('nan')}, '"events" must return a number'),
    ):
        with pytest.raises(ArgumentError, match=words):
            fd.simulate(*run, 'Radau', **options)
    loop, q, qd = turning_loop('four_bar', {'crank': 1.0})
    for options in ({'drift': 'none'}, {'loop_forces': {}, 'drift': 'baumgarte'}):
        with pytest.raises(ArgumentError, match='"Radau".*drift="projection" alone'):
            fd.simulate(loop, q, qd, None, 0.1, 0.01, 'radau', **options)
    joints = QuasiStatic(fd.Dynamics(fd.load_robot(FLEXIBLE_PENDULUM)))
    with pytest.raises(ArgumentError, match='joints alone take rk2, rk4, rk10'):
        simulate_quasi_static(joints, [0.0], [0.0], None, 0.1, 0.01, 'BDF')

# SPDX-License-Identifier: Apache-2.0
"""Each Runge-Kutta method converges with its order: on angles, quaternions and closed loops."""

import math

import flexdyn_ros as fd
from flexdyn_ros.simulation.tableaus import TABLEAUS
import numpy as np
from oracles.mechanisms import mechanism
import pytest
from scipy.special import ellipj, ellipk
from simulated_robots import PENDULUM, TUMBLER
from validation.beams_and_linkages.four_bar import joint_values

METHODS = tuple(TABLEAUS)
# Steps so large that rounding is far, and so small that the leading term of the error rules.
PENDULUM_STEPS = {'rk2': (0.02, 0.01), 'rk4': (0.02, 0.01), 'rk10': (0.1, 0.075, 0.06)}
TUMBLER_STEPS = {'rk2': (0.02, 0.01), 'rk4': (0.02, 0.01), 'rk10': (0.2, 0.15)}
LOOP_STEPS = {'rk2': (0.005, 0.0025), 'rk4': (0.01, 0.005), 'rk10': (0.0375, 0.025)}
# Gains under which the light coupler is not stiff [N/m, N s/m].
GAINS = {'force': (20.0, 0.2)}


def measured_orders(error, steps):
    """Return the slopes of log error against log step between neighbours."""
    errors = [error(step) for step in steps]
    return np.log(np.divide(errors[:-1], errors[1:])) / np.log(np.divide(steps[:-1], steps[1:]))


def end_state(*arguments, **options):
    """Return configuration and velocity at the end of a simulation."""
    motion = fd.simulate(*arguments, **options)
    return np.concatenate((motion.q[-1], motion.qd[-1]))


@pytest.mark.parametrize('method', METHODS)
def test_a_swinging_pendulum(method):
    """Against Jacobi's elliptic function, for a pendulum let go at 1.5 rad."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM))
    k2 = math.sin(0.75) ** 2

    def error(step):
        motion = fd.simulate(dyn, [1.5], [0.0], None, 0.6, step, method)
        sn = ellipj(ellipk(k2) - math.sqrt(9.81 / 0.8) * motion.t, k2)[0]
        return np.abs(motion.q[:, 0] - 2.0 * np.arcsin(math.sqrt(k2) * sn)).max()

    orders = measured_orders(error, PENDULUM_STEPS[method])
    expected = TABLEAUS[method].order
    assert np.all(np.abs(orders - expected) < max(0.2, 0.06 * expected)), orders


def test_the_tenth_order_reaches_rounding():
    """Ten steps of 0.06 s leave an error below 1e-12 rad."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM))
    k2 = math.sin(0.75) ** 2
    angle = end_state(dyn, [1.5], [0.0], None, 0.6, 0.06, 'rk10')[0]
    sn = ellipj(ellipk(k2) - math.sqrt(9.81 / 0.8) * 0.6, k2)[0]
    assert angle == pytest.approx(2.0 * math.asin(math.sqrt(k2) * sn), rel=0, abs=1e-12)


@pytest.mark.parametrize('method', METHODS)
def test_a_tumbling_body(method):
    """A quaternion stays of unit length at every stage without loss of order."""
    robot = fd.load_robot(TUMBLER)
    dyn = fd.Dynamics(robot, backend='python')
    start = robot.neutral_configuration(), [0.3, -0.2, 0.5, 1.0, 4.0, -2.0], None, 1.2
    exact = end_state(dyn, *start, 0.02, 'rk10')
    orders = measured_orders(
        lambda step: np.abs(end_state(dyn, *start, step, method) - exact).max(),
        TUMBLER_STEPS[method],
    )
    assert np.all(orders > 0.95 * TABLEAUS[method].order), orders


@pytest.fixture(scope='module')
def four_bar():
    """Return the dynamics of a four-bar and a closed state that moves."""
    q, qd, _ = joint_values(1.0, 1.0)
    return fd.Dynamics(mechanism('four_bar'), backend='python'), q, qd, None, 0.15


def moved_pin(t):
    """Return accelerations that move the pin of the four-bar about [m/s^2]."""
    return {'pin': [0.5 * math.cos(5.0 * t), 0.3 * math.sin(4.0 * t)]}


@pytest.mark.parametrize('driven', [None, moved_pin], ids=['closed', 'driven'])
@pytest.mark.parametrize('drift', ['projection', 'force', 'baumgarte', 'none'])
def test_closed_loops(four_bar, drift, driven):
    """Stabilisation of the drift keeps the order of every method, also where a loop is driven."""
    options = {'drift': drift, 'drift_gains': GAINS.get(drift), 'loop_accelerations': driven}
    held = {'drift': 'none', 'loop_accelerations': driven}
    exact = end_state(*four_bar, 0.005, 'rk10', **held)

    def error(step):
        return np.abs(end_state(*four_bar, step, method, **options) - exact).max()

    for method in METHODS:
        orders = measured_orders(error, LOOP_STEPS[method])
        assert orders[-1] > 0.9 * TABLEAUS[method].order, (method, orders)


@pytest.mark.parametrize('method', METHODS)
def test_a_torque_that_depends_on_time(method):
    """A disc of inertia I under I cos 3t: its angle is (1 - cos 3t) / 9."""
    dyn = fd.Dynamics(fd.load_robot(PENDULUM))
    dyn.set_gravity([0.0, 0.0, 0.0])
    inertia = dyn.mass_matrix([0.0])[0, 0]

    def error(step):
        motion = fd.simulate(
            dyn, [0.0], [0.0], lambda t, q, qd: [inertia * math.cos(3.0 * t)], 1.2, step, method)
        return np.abs(motion.q[:, 0] - (1.0 - np.cos(3.0 * motion.t)) / 9.0).max()

    steps = {'rk10': (0.6, 0.4)}.get(method, (0.04, 0.02))
    orders = measured_orders(error, steps)
    expected = TABLEAUS[method].order
    assert np.all(orders > expected - max(0.2, 0.06 * expected)), orders

# SPDX-License-Identifier: Apache-2.0
"""
The spin-up of a long beam, of Kane, Ryan and Banerjee 1987, with geometric stiffening.

The second formulation is linear vibration of finite elements under the tension of the rotation,

    (M u)'' + (K + w^2 (K_g - M)) u = -w' int phi rho A x dx.
"""

from example_robots import expand
import flexdyn_ros as fd
import numpy as np
from oracles.rotating_beam import matrices
import pytest
from scipy.integrate import solve_ivp

SPEED, DURATION = 6.0, 15.0  # [rad/s], [s]
LENGTH, LINE_MASS, RIGIDITY = 10.0, 1.2, 1.4e4  # of the example robot


def spin(t):
    """Return the hub's speed and acceleration at time t."""
    if t >= DURATION:
        return SPEED, 0.0
    turn = 2.0 * np.pi / DURATION
    speed = SPEED / DURATION * (t - np.sin(turn * t) / turn)
    return speed, SPEED / DURATION * (1.0 - np.cos(turn * t))


def spun_up(stiffening):
    """Return times and tip deflections in the plane, the hub's motion prescribed."""
    arguments = {'modes': '2', 'modes_z': '0', 'geometric_stiffening': stiffening}
    dyn = fd.Dynamics(fd.load_robot(expand('spinning_beam', arguments)), backend='python')

    def rates(t, state):
        speed, acceleration = spin(t)
        q, qd = [0.0, *state[:2]], [speed, *state[2:]]
        return [*state[2:], *dyn.hybrid_dynamics(q, qd, [acceleration])[1]]

    def broken(t, state):
        return abs(state[0]) - LENGTH

    broken.terminal = True
    found = solve_ivp(rates, (0.0, 20.0), np.zeros(4), rtol=1e-6, atol=1e-8, events=broken)
    return found.t, found.y[0] + found.y[1]


def test_a_beam_that_spins_up_comes_back():
    """The tip lags by half a metre, as in linear finite elements, and ends up nearly straight."""
    t, tip = spun_up('true')
    assert t[-1] == 20.0
    stiffness, unit_tension, mass = matrices(lambda x: 0.5 * (1.0 - x**2))
    x = np.zeros(len(mass))
    x[0::2], x[1::2] = (np.arange(len(mass) // 2) + 1.0) * 2.0 / len(mass), 1.0
    values, shapes = np.linalg.eig(np.linalg.solve(mass, stiffness))
    shapes = shapes[:, np.argsort(values)[:4]]  # modes of the beam at rest, of finite elements
    m, k, g = (shapes.T @ a @ shapes for a in (mass, stiffness, unit_tension))
    load, scale = shapes.T @ mass @ x, RIGIDITY / (LINE_MASS * LENGTH**4)

    def rates(time, state):
        speed, acceleration = spin(time)
        force = -scale * k @ state[:4] - speed**2 * (g - m) @ state[:4] - acceleration * load
        return [*state[4:], *np.linalg.solve(m, force)]

    linear = solve_ivp(rates, (0.0, 20.0), np.zeros(8), rtol=1e-8, atol=1e-10, t_eval=t)
    expected = LENGTH * shapes[-2] @ linear.y[:4]
    assert -0.7 < np.min(expected) < -0.5
    assert np.max(np.abs(tip - expected)) < 0.02 * np.max(np.abs(expected))
    assert np.max(np.abs(tip[t > 16.0])) < 0.05


def test_without_stiffening_it_breaks():
    """The first frequency is 3.798 rad/s: beyond that speed the plain model runs away."""
    t, _ = spun_up('false')
    assert t[-1] < 15.0


def test_energy_is_conserved_far_beyond_the_first_frequency():
    """Turning at 8 rad/s and vibrating freely in both planes, motion and energy stay."""
    dyn = fd.Dynamics(fd.load_robot(expand('spinning_beam', {'modes': '2'})), backend='python')
    start = np.array([0.0, 0.4, -0.05, 0.3])
    speed = np.array([8.0, 0.5, 1.0, -0.8])
    motion = fd.simulate(dyn, start, speed, None, 1.0, 0.001)
    assert np.ptp(motion.energy) == pytest.approx(0.0, abs=1e-7 * motion.energy[0])
    assert np.max(np.abs(motion.q[:, 1:])) < 1.0

# SPDX-License-Identifier: Apache-2.0
"""Modes from decays and from responses to chirps and steps, against systems made by hand."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
import numpy as np
import pytest
from scipy.signal import chirp, cont2discrete, dlsim

DECAYS = ((3.2, 0.01), (3.9, 0.02), (9.0, 0.005))
PHASES, SHAPES = (0.3, 1.0, 2.0), np.array([[1.0, 0.5], [0.6, -0.8], [0.2, 0.1]])
FORCED = ((3.2, 0.01), (9.0, 0.02))


def decay(random, seconds=3.0, step=0.01, noise=0.02):
    """Return times and two signals that decay in three modes."""
    t = np.arange(0.0, seconds, step)
    signals = 0.3 + noise * random.normal(size=(len(t), 2))
    for (frequency, zeta), phase, shape in zip(DECAYS, PHASES, SHAPES):
        omega = 2.0 * np.pi * frequency
        wave = np.cos(omega * np.sqrt(1.0 - zeta**2) * t + phase)
        signals += np.outer(np.exp(-zeta * omega * t) * wave, shape)
    return t, signals


def answer(inputs, step):
    """Return a tip's deflection and acceleration under a force, of two modes."""
    a, c = np.zeros((4, 4)), np.zeros((2, 4))
    for k, (frequency, zeta) in enumerate(FORCED):
        omega = 2.0 * np.pi * frequency
        a[2 * k, 2 * k + 1] = c[0, 2 * k] = 1.0
        a[2 * k + 1, 2 * k : 2 * k + 2] = -(omega**2), -2.0 * zeta * omega
    c[1] = a[1] + a[3]
    b = np.array([[0.0], [1.0], [0.0], [-0.7]])
    return dlsim(cont2discrete((a, b, c, np.array([[0.0], [0.3]])), step), inputs)[1]


def scores(modes, true):
    """Return the misses of frequencies and dampings in standard deviations."""
    assert len(modes) == len(true)
    return [[(mode.frequency - frequency) / mode.frequency_deviation,
             (mode.damping_ratio - zeta) / mode.damping_deviation]
            for mode, (frequency, zeta) in zip(modes, true)]


def test_modes_of_a_free_decay():
    t, signals = decay(np.random.default_rng(0))
    modes = fd.identify_modes(t, signals)
    assert np.abs(scores(modes, DECAYS)).max() < 4.0
    for mode, shape, phase in zip(modes, SHAPES, PHASES):
        assert np.allclose(mode.participation, shape * np.exp(1j * phase), atol=0.02)


@pytest.mark.slow
def test_deviations_of_modes_are_honest_over_a_hundred_decays():
    found = []
    for seed in range(100):
        t, signals = decay(np.random.default_rng(seed))
        found.append(scores(fd.identify_modes(t, signals, count=3), DECAYS))
    spread = np.sqrt(np.mean(np.square(found), axis=0))
    assert np.all((spread > 1.0 / 1.5) & (spread < 1.5))


@pytest.mark.parametrize('kind', ['chirp', 'step'])
def test_modes_from_the_answer_to_a_force(kind):
    t = np.arange(0.0, 6.0, 0.01)
    force = chirp(t, 1.0, 6.0, 15.0) if kind == 'chirp' else 1.0 * (t > 0.5)
    signals = answer(force, t[1])
    signals += 0.01 * np.std(signals, axis=0) * np.random.default_rng(1).normal(
        size=signals.shape)
    modes = fd.identify_modes(t, signals, force, count=2)
    assert np.abs(scores(modes, FORCED)).max() < 4.0
    assert modes[0].participation.shape == (2, 1)
    # The second mode is pushed the other way.
    ratio = modes[1].participation[1, 0] / modes[0].participation[1, 0]
    assert ratio.real < -0.5


def test_a_simulated_flexible_link_has_the_modes_that_it_was_given():
    robot = fd.load_robot("""<robot name="boom"><link name="base"/><link name="boom"/>
      <link name="tip"><inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"
        ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="root" type="fixed"><parent link="base"/><child link="boom"/></joint>
      <joint name="end" type="fixed"><parent link="boom"/><child link="tip"/>
        <origin xyz="1 0 0"/></joint></robot>""", extension="""<flexdyn version="1.0">
      <flexible_link link="boom"><beam tip="end" young="7e10" area="2e-4" iy="1e-9" iz="1e-9"
        mass="0.5"><bending axis="y" modes="2" damping_ratio="0.01"/></beam></flexible_link>
      <gravity xyz="0 0 0"/></flexdyn>""")
    dyn = fd.Dynamics(robot)
    motion = fd.simulate(dyn, [0.005, 0.0], [0.0, 0.0], None, 4.0, 0.0005)
    rest, units = np.zeros(2), np.eye(2)
    stiffness = np.array([dyn.elastic_vector(unit, rest) for unit in units]).T
    damping = np.array([dyn.elastic_vector(rest, unit) for unit in units]).T
    rates = -np.linalg.solve(dyn.mass_matrix(rest), np.hstack([stiffness, damping]))
    values = np.linalg.eigvals(np.vstack([np.eye(2, 4, 2), rates]))
    slowest = values[np.argmin(np.abs(values))]
    lowest = np.abs(slowest) / 2.0 / np.pi
    mode = fd.identify_modes(
        motion.t[::10], motion.q[::10, 0], count=1, band=(0.5, 2.0 * lowest))[0]
    assert mode.frequency == pytest.approx(lowest, rel=0.01)
    assert mode.damping_ratio == pytest.approx(-slowest.real / np.abs(slowest), rel=0.05)


@pytest.mark.parametrize(('changed', 'words'), [
    ({'t': [0.0, 0.1, 0.3] * 40}, 'uneven'), ({'signals': np.zeros((100, 2))}, 'expected 120'),
    ({'inputs': np.full(120, np.nan)}, 'finite'), ({'count': 50}, 'expected 1 to 12'),
    ({'t': 0.5}, r'"t" has shape \(\)'), ({'count': 'two'}, '"count" must be a whole number'),
    ({'band': 3.0}, r'"band" has shape \(\)'), ({'band': ('a', 'b')}, '"band" must hold real'),
    ({'band': (3.0, 1.0)}, 'low < high'), ({'signals': np.zeros((120, 0))}, 'no column'),
    ({}, 'does not change'),
])
def test_wrong_signals_are_errors(changed, words):
    given = {'t': 0.01 * np.arange(120), 'signals': np.zeros((120, 1)), **changed}
    with pytest.raises(ArgumentError, match=words):
        fd.identify_modes(**given)

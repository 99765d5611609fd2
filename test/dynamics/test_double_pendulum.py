# SPDX-License-Identifier: Apache-2.0
"""El-Rayyes's case 3: the swinging double pendulum, rigid and flexible."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.planar_arm import frequencies_hz
import pytest
from scipy.integrate import solve_ivp
from validation.beam_arms import beam_arm_urdf
from validation.case_file import expected, inputs
from validation.el_rayyes.pendulum import NAME

DATA = inputs(NAME)
CASES = {number: {'tip_mass': mass} for number, mass in enumerate(DATA['tip_masses'], 1)}


def pendulum(case, rigidity, modes):
    """Return Dynamics of the two links with the case's tip mass."""
    return reference_dynamics(fd.load_robot(beam_arm_urdf(
        [DATA['length']] * 2, [DATA['mass']] * 2, [rigidity] * 2, modes,
        gravity=DATA['gravity'], tip_mass=case['tip_mass'],
    )))


def swing(dyn, t_end, tolerance, times):
    """Return the joint angles (2, T) of a swing from rest."""
    n = dyn.robot.nv
    start = np.zeros(2 * n)
    start[:2] = DATA['angles']
    tau = np.zeros(n)

    def slope(t, y):
        return np.concatenate((y[n:], dyn.forward_dynamics(y[:n], y[n:], tau)))

    solution = solve_ivp(
        slope, (0.0, t_end), start, 'DOP853', times, rtol=tolerance, atol=1e-3 * tolerance
    )
    assert solution.success
    return solution.y[:2]


@pytest.mark.parametrize('number', list(CASES))
def test_rigid_swing(number):
    """Angles at half seconds, to the five digits known."""
    angles = swing(pendulum(CASES[number], 1.0, 0), 2.0, 1e-8, DATA['times'])
    assert angles.T == pytest.approx(expected(NAME, f'rigid_{number}'), abs=1.1e-5)


@pytest.mark.parametrize('word', ['soft', 'stiff'])
def test_frequencies_of_the_straight_pendulum(word):
    """Joints free, gravity aside, one mode a link."""
    frequencies = frequencies_hz(pendulum(CASES[1], DATA[word], 1))
    assert frequencies[2:] == pytest.approx(expected(NAME, f'frequencies_{word}'), abs=6e-3)


def test_flexible_swing_approaches_the_rigid_one():
    """The deviation falls with EI; over two seconds it is a row of the validation."""
    times = np.linspace(0.0, 0.5, 101)
    rigid = swing(pendulum(CASES[1], 1.0, 0), 0.5, 1e-8, times)
    deviations = []
    for word in ('soft', 'stiff'):
        angles = swing(pendulum(CASES[1], DATA[word], 1), 0.5, 1e-6, times)
        deviations.append(np.max(np.abs(angles - rigid), axis=1))
    assert np.all(deviations[1] < 0.5 * deviations[0])
    assert np.all(deviations[1] > 0.0)

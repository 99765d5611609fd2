# SPDX-License-Identifier: Apache-2.0
"""El-Rayyes's case 3: the swinging double pendulum, rigid and flexible."""

import flexdyn_ros as fd
from flexdyn_ros.validation.beam_arms import beam_arm_urdf
import numpy as np
from oracles.compare import load_data
from oracles.compare import reference_dynamics
from oracles.planar_arm import frequencies_hz
import pytest
from scipy.integrate import solve_ivp

DATA = load_data('double_pendulum')
CASES = {name: DATA[name] for name in ('tip_mass_1', 'tip_mass_0_5')}


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
    start[:2] = DATA['angles_at_start']
    tau = np.zeros(n)

    def slope(t, y):
        return np.concatenate((y[n:], dyn.forward_dynamics(y[:n], y[n:], tau)))

    solution = solve_ivp(
        slope, (0.0, t_end), start, 'DOP853', times, rtol=tolerance, atol=1e-3 * tolerance
    )
    assert solution.success
    return solution.y[:2]


@pytest.mark.parametrize('name', list(CASES))
def test_rigid_swing(name):
    """Angles at half seconds, to the five digits known."""
    case = CASES[name]
    angles = swing(pendulum(case, 1.0, 0), 2.0, 1e-8, case['times'])
    assert angles.T == pytest.approx(np.array(case['rigid']), abs=1.1e-5)


@pytest.mark.parametrize('rigidity', [10.178, 101.78])
def test_frequencies_of_the_straight_pendulum(rigidity):
    """Joints free, gravity aside, one mode a link."""
    case = CASES['tip_mass_1']
    frequencies = frequencies_hz(pendulum(case, rigidity, 1))
    expected = case['straight_frequencies_hz'][rigidity]
    assert frequencies[2:] == pytest.approx(expected, abs=6e-3)


@pytest.mark.parametrize('t_end', [0.5, pytest.param(2.0, marks=pytest.mark.slow)])
def test_flexible_swing_approaches_the_rigid_one(t_end):
    """The deviation falls with EI; over two seconds it has the computed size."""
    case = CASES['tip_mass_1']
    times = np.linspace(0.0, t_end, int(200 * t_end) + 1)
    rigid = swing(pendulum(case, 1.0, 0), t_end, 1e-8, times)
    deviations = []
    for rigidity in (10.178, 101.78):
        angles = swing(pendulum(case, rigidity, 1), t_end, 1e-6, times)
        deviations.append(np.max(np.abs(angles - rigid), axis=1))
        if t_end == 2.0:
            assert deviations[-1] == pytest.approx(case['deviation'][rigidity], rel=2e-2)
    assert np.all(deviations[1] < 0.5 * deviations[0])
    assert np.all(deviations[1] > 0.0)

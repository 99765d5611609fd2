# SPDX-License-Identifier: Apache-2.0
"""
The flexible Canadarm of Mohan and Saha, simulated: energy, and the motion under rigid torques.

The paper prints curves only. The figures here are those of an independent planar model. It has a
floating frame of reference, shapes integrated by 24-point Gauss quadrature, exact plane rotations
and no foreshortening, integrated by DOP853 to 1e-9.
"""

from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.simulation.frequencies import natural_modes, stiffness_matrix
import numpy as np
import pytest
from validation.case_file import expected
from validation.mohan_saha.canadarm import rigid_torque

URDF = Path(__file__).resolve().parents[2] / 'urdf' / 'canadarm.urdf.xacro'
STEP = 0.002  # [s], three quarters of the stability limit of the 165 Hz mode


@pytest.fixture(scope='module')
def canadarm():
    """Return the dynamics of the undamped arm with two modes a link."""
    return fd.Dynamics(fd.load_robot(URDF))


def largest_energy_error(canadarm, t_end, step=STEP):
    """Let the arm swing and vibrate; return the largest energy error over the energy exchanged."""
    rest = np.array([0.0, 0.5, -0.3] + [0.0] * 6)
    _, shapes = natural_modes(canadarm.mass_matrix(rest), stiffness_matrix(canadarm, rest))
    # The first vibration with joints free, with the sign of its first mode.
    shape = np.sign(shapes[3, 3]) * shapes[:, 3] / np.max(np.abs(shapes[3:, 3]))
    motion = fd.simulate(
        canadarm, rest + 0.05 * shape, [0.05, -0.03, 0.02] + [0.0] * 6, None, t_end, step
    )
    exchanged = np.ptp(motion.kinetic)
    assert exchanged > 5.0  # [J]
    assert np.max(np.abs(motion.tips[:, 0])) > 0.05  # [m]
    return np.max(np.abs(motion.energy - motion.energy[0])) / exchanged


def test_energy_is_conserved(canadarm):
    """One second, several periods of the lowest vibrations."""
    assert largest_energy_error(canadarm, 1.0) < 2e-7


@pytest.mark.slow
def test_energy_is_conserved_over_ten_seconds(canadarm):
    """The long run: one part in a million of the energy exchanged."""
    assert largest_energy_error(canadarm, 10.0, STEP / 2.0) < 1e-6


@pytest.mark.slow
def test_flexible_arm_under_the_torques_of_the_rigid_one(canadarm):
    """The example robot follows the path, and bends on the way, as the arm of the case does."""
    def torque(t, q, qd):
        return np.concatenate((rigid_torque(t), np.zeros(6)))

    def reference(key):
        return expected('ms_canadarm_motion', key)

    motion = fd.simulate(canadarm, np.zeros(9), np.zeros(9), torque, 10.0, STEP)
    at = [round(t / STEP) for t in range(1, 11)]
    assert motion.q[at, :3] == pytest.approx(reference('angles'), abs=2e-6)
    assert motion.qd[at, :3] == pytest.approx(reference('rates'), abs=2e-4)
    assert motion.tips[at] == pytest.approx(reference('tips'), abs=2e-5)
    assert np.max(np.abs(motion.tips), axis=0) == pytest.approx(
        reference('tip_peaks'), abs=6e-5)
    power = np.sum(motion.tau * motion.qd, axis=1)
    work = np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(motion.t))
    assert work == pytest.approx(motion.energy[-1], abs=1e-3)
    assert motion.energy[-1] == pytest.approx(reference('energy'), abs=2e-3)

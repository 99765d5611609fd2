# SPDX-License-Identifier: Apache-2.0
"""
The flexible Canadarm of Mohan and Saha, simulated: energy, and the motion under rigid torques.

The paper prints curves only. The figures here are those of an independent planar model (floating
frame of reference, shapes integrated by 24-point Gauss quadrature, exact plane rotations, no
foreshortening) integrated by DOP853 to 1e-9.
"""

from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.simulation.frequencies import natural_modes
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf' / 'canadarm.urdf.xacro'
STEP = 0.002  # [s], three quarters of the stability limit of the 165 Hz mode

# Lengths 6, 7, 2 m; masses 140, 85, 95 kg, uniform; all axes along z.
RIGID = """<robot name="rigid"><link name="link0"/>{}
  <flexdyn version="1.0"><gravity xyz="0 0 0"/></flexdyn></robot>"""
RIGID_LINK = """
<link name="link{k}"><inertial><origin xyz="{half} 0 0"/><mass value="{mass}"/>
  <inertia ixx="1" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="joint{k}" type="continuous"><parent link="link{parent}"/><child link="link{k}"/>
  <origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>
"""


@pytest.fixture(scope='module')
def canadarm():
    """Return the dynamics of the undamped arm with two modes a link."""
    return fd.Dynamics(fd.load_robot(URDF))


def rigid_arm():
    """Return the dynamics of the arm with rigid links."""
    links = ''.join(
        RIGID_LINK.format(k=k + 1, parent=k, x=x, half=length / 2, mass=mass,
                          i=mass * length**2 / 12)
        for k, (x, length, mass) in enumerate(((0, 6, 140), (6, 7, 85), (7, 2, 95)))
    )
    return fd.Dynamics(fd.load_robot(RIGID.format(links)))


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
    """Follows the path theta_i = k_i (t - T_i/pi sin(pi t/T_i)) and bends on the way."""
    rigid = rigid_arm()
    k, period = np.array([0.075, 0.05, 0.1]), np.array([10.0, 5.0, 5.0])

    def torque(t, q, qd):
        phase = np.pi * t / period
        tau = rigid.inverse_dynamics(
            k * (t - period / np.pi * np.sin(phase)), k * (1.0 - np.cos(phase)),
            k * np.pi / period * np.sin(phase),
        )
        return np.concatenate((tau, np.zeros(6)))

    motion = fd.simulate(canadarm, np.zeros(9), np.zeros(9), torque, 10.0, STEP)
    middle = round(5.0 / STEP)
    assert motion.tau[round(2.5 / STEP), :3] == pytest.approx(
        [986.392, 514.099, 55.646], abs=1e-3)
    assert motion.q[middle, :3] == pytest.approx([0.148186, 0.265257, 0.507950], abs=2e-6)
    assert motion.qd[middle, :3] == pytest.approx([0.063483, 0.073962, 0.204208], abs=2e-4)
    assert motion.tips[middle] == pytest.approx([-0.07738, -0.04726, -0.00039], abs=2e-5)
    assert motion.q[-1, :3] == pytest.approx([0.751498, 0.501600, 0.995565], abs=2e-6)
    assert motion.tips[-1] == pytest.approx([-0.00601, -0.01341, -0.00026], abs=2e-5)
    assert np.max(np.abs(motion.tips), axis=0) == pytest.approx(
        [0.1528, 0.0897, 0.00061], abs=6e-5)
    power = np.sum(motion.tau * motion.qd, axis=1)
    work = np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(motion.t))
    assert work == pytest.approx(motion.energy[-1], abs=1e-3)
    assert motion.energy[-1] == pytest.approx(284.140, abs=2e-3)

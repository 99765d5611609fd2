# SPDX-License-Identifier: Apache-2.0
"""A flexible arm on a satellite that floats: momentum and energy over a whole simulation."""

from example_robots import expand
import flexdyn_ros as fd
import numpy as np
from oracles.particle_model import ParticleModel
import pytest


def momenta(robot, motion, every):
    """Return momentum and angular momentum about the origin of all particles, (T, 6)."""
    particles, rows = ParticleModel(robot), []
    for q, qd in zip(motion.q[::every], motion.qd[::every]):
        cloud = particles.motion(q, qd[None], 0.0 * qd[None])
        flow = cloud.masses[:, None] * cloud.points.rate[0]
        rows.append([*flow.sum(axis=0), *np.cross(cloud.points.value[0], flow).sum(axis=0)])
    return np.array(rows)


@pytest.fixture(scope='module')
def free():
    """Return the robot and its free motion from a state in which everything moves."""
    robot = fd.load_robot(expand('satellite_arm'))
    q = robot.neutral_configuration()
    q[7:] = [0.4, -0.7, 1.1, 8e-4, -1e-3, 6e-4, 5e-4]
    qd = np.array([0.1, -0.2, 0.05, 0.1, 0.2, -0.1, 0.5, 0.4, -0.6, 0.0, 0.0, 0.0, 0.0])

    def torque(t, q, qd):  # inside the arm only
        return [0.0] * 6 + [2.0 * np.sin(30.0 * t), 0.5, -10.0 * t] + [0.0] * robot.n_modes

    dyn = fd.Dynamics(robot, backend='python')
    return robot, [fd.simulate(dyn, q, qd, given, 0.08, 1e-4) for given in (torque, None)]


def test_momentum_is_conserved_under_torques_inside(free):
    """Linear and angular momentum to 1e-10, for any motion of the joints."""
    robot, (driven, _) = free
    rows = momenta(robot, driven, 100)
    for part in (rows[:, :3], rows[:, 3:]):
        assert np.max(np.abs(part - part[0])) < 1e-10 * np.linalg.norm(part[0])
    assert np.ptp(driven.energy) > 1e-3


def test_energy_is_conserved_without_torques(free):
    """To 1e-10 of the energy that moves: kinetic and elastic energy go to and fro."""
    _, (_, motion) = free
    assert np.ptp(motion.energy) < 1e-10 * np.max(motion.energy)
    assert np.ptp(motion.potential) > 1e-3

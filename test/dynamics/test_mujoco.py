# SPDX-License-Identifier: Apache-2.0
"""Rigid dynamics against MuJoCo on several vendors' arms and legged robots, to 1e-10."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, assert_matrices_agree, reference_dynamics
from oracles.mujoco_oracle import MujocoOracle
from oracles.random_robots import random_state
from oracles.vendor_robots import frictionless, robots_folder, without_geometry
import pytest

pytestmark = pytest.mark.oracle
NAMES = (
    'ur_description/urdf/ur5_robot.urdf',
    'ur_description/urdf/ur10_robot.urdf',
    'z1_description/urdf/z1.urdf',
    'xarm_description/urdf/xarm7.urdf',
    'kinova_description/robots/kinova.urdf',
    'talos_data/robots/talos_left_arm.urdf',
    'solo_description/robots/solo12.urdf',
    'double_pendulum_description/urdf/double_pendulum_continuous.urdf',
)


@pytest.mark.parametrize('name', NAMES)
def test_torque_and_mass_matrix(name):
    """mj_inverse and mj_fullM at three random states."""
    text = without_geometry((robots_folder() / name).read_text(encoding='utf-8'))
    robot = frictionless(fd.load_robot(text))
    dyn, oracle = reference_dynamics(robot), MujocoOracle(robot, text)
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, qd, qdd = random_state(robot, rng)
        theirs = oracle.inverse_dynamics(q, qd, qdd)
        assert_agree(dyn.inverse_dynamics(q, qd, qdd), theirs, 1e-10, 'torque')
        assert_matrices_agree(dyn.mass_matrix(q), oracle.mass_matrix(q), 1e-10, 'mass matrix')

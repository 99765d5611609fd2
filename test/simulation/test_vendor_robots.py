# SPDX-License-Identifier: Apache-2.0
"""Vendors' robots at a step of 1 ms, which their friction and damping would not allow rk4."""

import flexdyn_ros as fd
from flexdyn_ros.simulation.configuration import ConfigurationMap
import numpy as np
from oracles.vendor_robots import robots_folder
import pytest
from thinned import thinned

pytestmark = pytest.mark.oracle

STEP, FINE = 1e-3, 16  # [s], and by how much the reference's steps are shorter
ROBOTS = {
    'z1_description/urdf/z1.urdf': 'implicit',
    'xarm_description/urdf/xarm7.urdf': 'implicit',
    'allegro_hand_description/urdf/allegro_left_hand.urdf': 'implicit',
    'talos_data/robots/talos_left_arm.urdf': 'implicit',
    'tiago_description/robots/tiago_no_hand.urdf': 'implicit',
    'baxter_description/urdf/baxter.urdf': 'rk4',
    'ur_description/urdf/ur5_robot.urdf': 'rk4',
}


@pytest.mark.parametrize('name', thinned(
    sorted(ROBOTS), lambda name: name.startswith(('z1', 'ur')),
))
def test_a_second_under_gravity_is_that_of_shorter_steps(name, recwarn):
    """0.1 rad from neutral: below 0.5 % of the largest motion over 0.2 s, 1 % over 1 s."""
    robot = fd.load_robot(robots_folder() / name)
    dyn, at = fd.Dynamics(robot), ConfigurationMap(robot).plain_q
    q, rest = np.array(robot.neutral_configuration()), np.zeros(robot.nv)
    q[at] += 0.1
    motion = fd.simulate(dyn, q, rest, None, 1.0, STEP)
    assert motion.method == ROBOTS[name]
    assert not [each for each in recwarn.list if 'energy' in str(each.message)]
    exact = fd.simulate(
        dyn, q, rest, None, 1.0, STEP / FINE, motion.method, sample_every=FINE,
        energy_tolerance=None)
    for end, share in ((0.2, 0.005), (1.0, 0.01)):
        rows = motion.t <= end + 1e-9
        moved = np.abs(exact.q[rows] - q).max()
        assert np.abs(motion.q[rows] - exact.q[rows]).max() <= share * moved

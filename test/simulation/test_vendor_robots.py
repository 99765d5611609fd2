# SPDX-License-Identifier: Apache-2.0
"""Vendors' robots at a step of 1 ms, which their friction and damping would not allow rk4."""

import flexdyn_ros as fd
from flexdyn_ros.simulation import SimulationDiverged
from flexdyn_ros.simulation.configuration import ConfigurationMap
import numpy as np
from oracles.vendor_robots import robots_folder, short_name, vendor_urdfs
import pytest
from thinned import thinned

pytestmark = pytest.mark.oracle

STEP, FINE = 1e-3, 16  # [s], and the ratio to the reference's steps
ROBOTS = {
    'z1_description/urdf/z1.urdf': 'implicit',
    'xarm_description/urdf/xarm7.urdf': 'implicit',
    'allegro_hand_description/urdf/allegro_left_hand.urdf': 'implicit',
    'talos_data/robots/talos_left_arm.urdf': 'implicit',
    'tiago_description/robots/tiago_no_hand.urdf': 'implicit',
    'baxter_description/urdf/baxter.urdf': 'rk4',
    'ur_description/urdf/ur5_robot.urdf': 'rk4',
}


CHAOTIC = 20.0  # growth of a small change of the start over a second, from which steps may differ


def departures(path):
    """Return the motion by 1 ms, errors over 0.2 s and 1 s of the largest motion, and growth."""
    robot = fd.load_robot(path)
    dyn, at = fd.Dynamics(robot), ConfigurationMap(robot).plain_q
    q = np.array(robot.neutral_configuration())
    q[at] += 0.1
    motion = run(dyn, q, 'auto', STEP)
    exact = run(dyn, q, motion.method, STEP / FINE, energy_tolerance=None, sample_every=FINE)
    shares = []
    for end in (0.2, 1.0):
        rows = slice(min(len(motion), len(exact), round(end / STEP) + 1))
        moved = max(np.abs(exact.q[rows] - q).max(), 1e-12)
        shares.append(np.abs(motion.q[rows] - exact.q[rows]).max() / moved)
    near = q.copy()
    near[at] += 1e-7
    other = run(dyn, near, motion.method, STEP, energy_tolerance=None)
    rows = slice(min(len(motion), len(other)))
    return motion, *shares, np.abs(other.q[rows] - motion.q[rows]).max() / 1e-7


def run(dyn, q, method, step, **options):
    """Return a second under gravity from rest, or the part of it before it diverges."""
    try:
        return fd.simulate(dyn, q, np.zeros(dyn.robot.nv), None, 1.0, step, method, **options)
    except SimulationDiverged as error:
        return error.trajectory


@pytest.mark.parametrize('name', thinned(
    sorted(ROBOTS), lambda name: name.startswith(('z1', 'ur')),
))
def test_a_second_under_gravity_is_that_of_shorter_steps(name, recwarn):
    """0.1 rad from neutral: below 0.5 % of the largest motion over 0.2 s, 1 % over 1 s."""
    motion, early, late, _ = departures(robots_folder() / name)
    assert motion.method == ROBOTS[name]
    assert not [each for each in recwarn.list if 'energy' in str(each.message)]
    assert len(motion) == 1001 and early < 0.005 and late < 0.01


@pytest.mark.slow
@pytest.mark.parametrize('path', vendor_urdfs(), ids=short_name)
def test_every_robot_with_a_regular_mass_matrix(path):
    """The same of all that load, over 1 s where a small change of the start stays small."""
    try:
        robot = fd.load_robot(path)
    except fd.FlexdynError as error:
        pytest.skip(f'does not load: {error}')
    mass = fd.Dynamics(robot, 'reference').mass_matrix(robot.neutral_configuration())
    if not robot.nv or np.linalg.eigvalsh(mass)[0] <= 1e-12 * np.abs(mass).max():
        pytest.skip('nothing moves, or a motion meets no inertia')
    motion, early, late, growth = departures(path)
    assert motion.t[-1] > 0.2
    print(f'{motion.method}, {early:.1e} over 0.2 s, {late:.1e} over 1 s, growth {growth:.3g}')
    assert early < 0.005
    assert late < 0.01 or growth > CHAOTIC

# SPDX-License-Identifier: Apache-2.0
"""Motion of links in segments: frequencies, damping, energy, and the printed example."""

from functools import lru_cache

import flexdyn_ros as fd
from flexdyn_ros.simulation.frequencies import damping_matrix, stiffness_matrix
import numpy as np
from oracles.compare import assert_agree, reference_dynamics
from oracles.segment_arms import boom, LENGTH, POLAR, STIFFNESS
from oracles.segment_robots import frequencies, RATE, ROOTS, URDF
import pytest
from scipy.linalg import eigh
from validation.case_file import expected


def test_first_frequencies_of_eight_centred_segments():
    """Within 0.5 percent of the beam's, in bending about y and z, and in torsion."""
    robot = fd.load_robot(boom(8, 'x y z'))
    found = frequencies(robot)
    bending = ROOTS[0] * RATE
    assert found[0] == pytest.approx(bending, rel=5e-3)
    assert found[1] == pytest.approx(bending, rel=5e-3)
    torsion = 0.5 * np.pi / LENGTH * np.sqrt(STIFFNESS['x'] / (2700.0 * POLAR))
    twist = found[np.argmin(np.abs(found / torsion - 1.0))]
    assert twist == pytest.approx(torsion, rel=5e-3)


def test_centred_segments_converge_with_second_order_and_the_references_with_first():
    """Halving the length divides the error of the first frequency by four, or by two."""
    for placement, order in (('centred', 4.0), ('reference', 2.0)):
        errors = []
        for count in (9, 17, 33):
            robot = fd.load_robot(boom(count, 'z', placement))
            errors.append(frequencies(robot)[0] / (ROOTS[0] * RATE) - 1.0)
        assert errors[0] > 0.0
        assert errors[0] / errors[1] == pytest.approx(order, rel=0.1)
        assert errors[1] / errors[2] == pytest.approx(order, rel=0.05)


def test_the_references_frequencies_of_five_segments():
    """Frequencies of an independent model of the paper's link; the third mode of nine is close."""
    found = frequencies(fd.load_robot(boom(5, 'z', 'reference'))) / (2.0 * np.pi)
    assert_agree(found, expected('mm_lumped_convergence', 'frequencies'), 1e-6)
    found = frequencies(fd.load_robot(boom(17)))
    assert_agree(found[:3], ROOTS * RATE, 6e-3)


@lru_cache(maxsize=None)
def paper_arm():
    """Return Martins and Machado's example and its start at -80 and -10 degrees."""
    dyn = fd.Dynamics(fd.load_robot(URDF / 'segmented_arm.urdf.xacro'))
    return dyn, np.array([*np.radians([-80.0, -10.0]), *np.zeros(8)])


def test_the_papers_example():
    """Half a second of an independent model; the validation has all five."""
    dyn, start = paper_arm()
    assert dyn.robot.nv == 10
    energy = expected('mm_segments', 'energy')
    assert dyn.potential_energy(start) == pytest.approx(energy, abs=1e-6)
    run = fd.simulate(dyn, start, np.zeros(10), None, 0.5, 4e-4)
    angles = expected('mm_segments', 'angles')[0]
    assert np.degrees(run.q[-1, :2]) == pytest.approx(angles, abs=1e-3)
    hand = dyn.frame_pose(run.q[-1], 'tip')[:2, 3] - [1.25, 0.0]
    assert hand == pytest.approx(expected('mm_segments', 'hand')[0], abs=2e-5)
    assert np.ptp(run.energy) < 1e-4
    assert np.abs(run.q[:, 2:]).max() < np.radians(0.0025)
    assert run.tip_names == ('link2/tip_y', 'link3/tip_y') and run.tip_units == ('m', 'm')
    hanging = np.array([-0.5 * np.pi, *np.zeros(9)])
    pull = [
        (dyn.gravity_vector(hanging + 1e-6 * e) - dyn.gravity_vector(hanging - 1e-6 * e)) / 2e-6
        for e in np.eye(10)
    ]
    stiffness = stiffness_matrix(dyn, hanging) + 0.5 * (np.array(pull) + np.array(pull).T)
    squares = eigh(stiffness, dyn.mass_matrix(hanging), eigvals_only=True)
    found = np.sqrt(squares) / (2.0 * np.pi)
    assert found == pytest.approx(expected('mm_segments', 'frequencies'), rel=2e-4)


@pytest.mark.parametrize('directions, size', [('z', 11), ('y z', 19), ('x y z', 27)])
def test_the_papers_numbers_of_coordinates(directions, size):
    """Three links give n [tip (nseg - 1) + 1] - tip (nseg - 1) , the first rigid (eq. 1)."""
    arguments = {'directions': directions, 'first_joint': 'continuous'}
    robot = fd.load_robot(URDF / 'segmented_arm.urdf.xacro', xacro_arguments=arguments)
    assert robot.nv == size


@pytest.mark.parametrize('axis', ['x', 'y', 'z'])
def test_the_first_vibration_has_the_damping_ratio(axis):
    """Complex eigenvalues: -zeta w of the first vibration, more of the faster ones."""
    robot = fd.load_robot(boom(5, axis, attributes='damping_ratio="0.03"'))
    dyn, rest = reference_dynamics(robot), np.zeros(robot.nv)
    mass, stiffness = dyn.mass_matrix(rest), stiffness_matrix(dyn, rest)
    damping = damping_matrix(dyn, rest)
    assert not np.any(dyn.friction_vector(np.ones(robot.nv)))
    n = robot.nv
    system = np.block([[np.zeros((n, n)), np.eye(n)],
                       [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, damping)]])
    values = np.linalg.eigvals(system)
    values = values[values.imag > 0]
    ratios = -values.real / np.abs(values)
    order = np.argsort(np.abs(values))
    assert ratios[order][0] == pytest.approx(0.03, rel=1e-6)
    assert np.all(np.diff(ratios[order]) > 0.0)

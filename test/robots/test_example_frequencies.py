# SPDX-License-Identifier: Apache-2.0
"""
Natural frequencies of the example robots, which their arguments must reach.

Figures: theory of the clamped-free beam (printed in El-Rayyes 1990, cases 1 and 2). Those of
his cases 3 and 4 and of Mohan and Saha's Canadarm are beam models made apart from this package.
They have clamped-free shapes, about the undeformed, stretched position.
"""

from example_robots import CASE_4, expand
import flexdyn_ros as fd
import numpy as np
import pytest


def frequencies(robot, arguments, keep=lambda name: True):
    """Return the frequencies above 1 mHz [Hz] of the coordinates kept, the others locked."""
    dyn = fd.Dynamics(fd.load_robot(expand(robot, arguments)), backend='reference')
    names = dyn.robot.coordinate_names
    kept = [k for k, name in enumerate(names) if keep(name)]
    mass = dyn.mass_matrix(np.zeros(len(names)))[np.ix_(kept, kept)]
    stiffness = np.array([dyn.elastic_vector(row, 0 * row) for row in np.eye(len(names))])
    squares = np.linalg.eigvals(np.linalg.solve(mass, stiffness[np.ix_(kept, kept)])).real
    values = np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)
    return sorted(value for value in values if value > 1e-3)


def in_plane(name):
    """Return whether a coordinate of the two-link arm moves it in its plane."""
    return 'bending_z' not in name and 'torsion' not in name


def out_of_plane(name):
    """Return whether a coordinate of the two-link arm moves it out of its plane."""
    return 'bending_z' in name


def test_clamped_beam():
    expected = [11.291414, 70.762082, 198.135877, 388.26724]
    expected += [1083.228924, 3249.686773, 5416.144622, 7582.60247]
    assert frequencies('flexible_beam', {}) == pytest.approx(expected, rel=1e-6)


def test_spinning_beam():
    """Clamped, with 3.798 rad/s first, as in the papers; the second of clamped-free theory."""
    found = frequencies('spinning_beam', {}, lambda name: 'bending_y' in name)
    assert found[:2] == pytest.approx([3.798 / (2 * np.pi), 3.788], rel=3e-4)


def test_modes_in_both_directions_are_alike():
    twice = frequencies('flexible_beam', {'modes': '2', 'modes_z': '2', 'torsion_modes': '0'})
    expected = [11.291414, 11.291414, 70.762082, 70.762082]
    assert twice == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize('factor, expected', [('0.05', [10.63, 17.12]), ('0.5', [33.63, 54.15])])
def test_double_pendulum_of_case_3(factor, expected):
    found = frequencies('two_link_arm', {'ei_factor': factor, 'gravity': '0 0 0'})
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    'arguments, expected_in, expected_out',
    [
        ({'joint_mass': '0'}, [36.85, 64.07], [2.15, 16.52]),
        ({}, [34.17, 48.46], [1.7193, 11.05]),
        ({'joint_inertia': '0.010'}, [33.25, 34.53], [1.72, 11.04]),
        ({'joint_inertia': '0.0125'}, [31.55, 34.32], [1.72, 11.03]),
    ],
    ids=['no_joint_mass', 'point_mass', 'hub_0.010', 'hub_0.0125'],
)
def test_free_vibration_of_case_4(arguments, expected_in, expected_out):
    chosen = {**CASE_4, **arguments}
    found = frequencies('two_link_arm', chosen, in_plane)
    assert found == pytest.approx(expected_in, rel=1e-3)
    found = frequencies('two_link_arm', chosen, out_of_plane)
    assert found == pytest.approx(expected_out, rel=3e-3)


@pytest.mark.parametrize(
    'modes, expected',
    [
        ('1', [0.1653, 1.3354, 10.8547]),
        ('2', [0.1555, 1.179, 3.468, 7.9601, 14.0216, 55.2465]),
    ],
)
def test_canadarm_with_locked_joints(modes, expected):
    in_the_plane = frequencies('canadarm', {'modes': modes}, lambda name: '/' in name)
    assert in_the_plane == pytest.approx(expected, rel=5e-4)
    arguments = {'modes': '0', 'out_of_plane_modes': modes}
    assert frequencies('canadarm', arguments, lambda name: '/' in name) == pytest.approx(
        expected, rel=5e-4)


@pytest.mark.parametrize('changes', [
    {}, {'static_modes': '2', 'boundary': 'clamped-clamped'},
    {'static_modes': '0', 'modes': '8', 'loaded': 'false'},
    {'static_modes': '0', 'modes': '6', 'basis': 'polynomial', 'shear': 'false'},
])
def test_every_basis_of_the_boom_has_its_first_frequency(changes):
    """Many plain modes approach from above the frequency of one loaded mode."""
    one = {'modes': '1', 'static_modes': '0', 'torsion_modes': '0'}
    exact = frequencies('telescopic_boom', one, lambda name: 'bending_y' in name)[0]
    found = frequencies(
        'telescopic_boom', {**one, 'static_modes': '1', **changes},
        lambda name: 'bending_y' in name)[0]
    assert exact * (1 - 1e-9) <= found < exact * 1.008

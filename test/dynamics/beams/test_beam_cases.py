# SPDX-License-Identifier: Apache-2.0
"""One clamped beam against closed forms; El-Rayyes's cases 1 and 2 are validation cases."""

import flexdyn_ros as fd
import numpy as np
from oracles.compare import load_data, reference_dynamics
from oracles.planar_arm import frequencies_hz, stiffness_matrix
from oracles.random_robots import numbers
import pytest
from scipy.optimize import brentq
from validation.beam_arms import beam_arm_urdf

DATA = load_data('beam_cases')


def clamped_beam(families: str, axis=(1.0, 0.0, 0.0), joint: str = 'fixed', mass: float = 0.0):
    """Return Dynamics of the beam of table 4.8, gravity off, with a frame `tip` at its end."""
    link = DATA['link']
    second = numbers(link['second_moment'])
    tip = numbers(link['length'] * np.asarray(axis))
    text = (
        '<robot name="beam"><link name="base"/><link name="rod"/><link name="tip"/>'
        f'<joint name="root" type="{joint}"><parent link="base"/><child link="rod"/>'
        '<axis xyz="0 0 1"/></joint>'
        f'<joint name="end" type="fixed"><origin xyz="{tip}"/><parent link="rod"/>'
        '<child link="tip"/></joint><flexdyn version="1.0"><gravity xyz="0 0 0"/>'
        '<flexible_link link="rod" geometric_stiffening="false"><beam tip="end" '
        f'young="{link["young"]}" shear="{link["shear"]}" area="{link["area"]}" iy="{second}" '
        f'iz="{second}" j="{link["polar"]}" mass="{mass or link["mass"]}">{families}</beam>'
        '</flexible_link></flexdyn></robot>'
    )
    return reference_dynamics(fd.load_robot(text))


def static_coordinates(dyn, wrench):
    """Return the coordinates (nv,) at which the wrench on the tip is held by stiffness."""
    zero = np.zeros(dyn.robot.nv)
    load = -dyn.external_force_vector(zero, {'tip': wrench})
    return np.linalg.solve(stiffness_matrix(dyn), load)


def test_a_mode_coordinate_is_the_tip_deflection():
    """Unit on a mode moves the tip by one metre, to the axis's positive side."""
    dyn = clamped_beam('<bending axis="y" modes="3"/><bending axis="z" modes="2"/>')
    for k in range(5):
        q = np.zeros(5)
        q[k] = 0.01
        moved = dyn.frame_pose(q, 'tip')[:3, 3] - [1.0, 0.0, 0.0]
        expected = [0.0, 0.01, 0.0] if k < 3 else [0.0, 0.0, 0.01]
        assert moved == pytest.approx(expected, abs=1e-14)


def test_static_tip_deflection_and_slope_converge_to_the_closed_forms():
    """F L^3 / 3EI and F L^2 / 2EI, from below, mode by mode."""
    link = DATA['link']
    rigidity = link['young'] * link['second_moment']
    deflection, slope = 10.0 / (3.0 * rigidity), 10.0 / (2.0 * rigidity)
    errors = []
    for modes in (1, 2, 4, 8):
        dyn = clamped_beam(f'<bending axis="y" modes="{modes}"/>')
        delta = static_coordinates(dyn, [0, 10, 0, 0, 0, 0])
        turn = dyn.jacobian(np.zeros(modes), 'tip')[5] @ delta
        errors.append([1.0 - sum(delta) / deflection, abs(1.0 - turn / slope)])
    errors = np.array(errors)
    assert np.all(np.diff(errors, axis=0) < 0.0) and np.all(errors > 0.0)
    assert errors[-1, 0] < 1e-4 and errors[-1, 1] < 2e-2


def test_a_moment_about_y_bends_along_minus_z():
    """M L^2 / 2EI with the sign of a right-handed rotation."""
    link = DATA['link']
    dyn = clamped_beam('<bending axis="z" modes="6"/>')
    delta = static_coordinates(dyn, [0, 0, 0, 0, 5.0, 0])
    expected = -5.0 / (2.0 * link['young'] * link['second_moment'])
    assert sum(delta) == pytest.approx(expected, rel=2e-2)


def test_twist_turns_the_tip_about_the_beam():
    """One radian on the torsion mode is one radian at the tip."""
    dyn = clamped_beam('<torsion modes="1"/>')
    pose = dyn.frame_pose([0.3], 'tip')
    expected = [[1, 0, 0], [0, np.cos(0.3), -np.sin(0.3)], [0, np.sin(0.3), np.cos(0.3)]]
    assert pose[:3, :3] == pytest.approx(np.array(expected), abs=1e-15)


def test_a_pinned_beam_approaches_the_pinned_free_frequency():
    """With the joint free, clamped-free modes converge to 3.92660^2 sqrt(EI/mu)/L^2 from above."""
    case = DATA['two_links']
    locked = clamped_beam('<bending axis="y" modes="1"/>', mass=case['mass'])
    assert frequencies_hz(locked)[0] == pytest.approx(case['clamped_free_hz'], abs=1e-3)
    values = []
    for modes in (1, 2, 4, 8):
        dyn = clamped_beam(
            f'<bending axis="y" modes="{modes}"/>', joint='continuous', mass=case['mass']
        )
        values.append(frequencies_hz(dyn)[1])
    assert np.all(np.diff(values) < 0.0)
    assert values[0] == pytest.approx(46.6, abs=0.1)
    assert values[-1] == pytest.approx(case['pinned_free_hz'], rel=2e-3)


def test_a_tip_mass_lowers_the_frequency_as_the_beam_formula_says():
    """Root of 1 + cos b cosh b + r b (cos b sinh b - sin b cosh b), r the ratio of masses."""
    ratio = 1.0

    def characteristic(b):
        wave = np.cos(b) * np.sinh(b) - np.sin(b) * np.cosh(b)
        return 1.0 + np.cos(b) * np.cosh(b) + ratio * b * wave

    root = brentq(characteristic, 0.5, 1.8)
    expected = root**2 * np.sqrt(100.0 / 2.0) / (2.0 * np.pi)
    text = beam_arm_urdf([1.0], [2.0], [100.0], 6, tip_mass=2.0, locked=True)
    dyn = reference_dynamics(fd.load_robot(text))
    assert frequencies_hz(dyn)[0] == pytest.approx(expected, rel=1e-3)


def test_a_side_arm_bends_and_twists_the_rod():
    """A force off the axis bends along z and twists by F a L / GJ, independently."""
    link = DATA['link']
    dyn = clamped_beam('<bending axis="z" modes="4"/><torsion modes="6"/>')
    delta = static_coordinates(dyn, [0, 0, 10.0, 10.0 * 0.2, 0, 0])
    twist = 2.0 * link['length'] / (link['shear'] * link['polar'])
    assert sum(delta[4:]) == pytest.approx(twist, rel=4e-2)
    assert sum(delta[:4]) == pytest.approx(DATA['bending']['tip_exact_m'], rel=1e-3)

# SPDX-License-Identifier: Apache-2.0
"""Geometry, mass and section of beams as they are read from the extension."""

import math

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.load import load_robot
from model_texts import ARM, arm_with, beam, flexdyn, joint, link, robot, SECTION
import numpy as np
import pytest


def _beam(*arguments, **named):
    return arm_with(beam(*arguments, **named)).link(named.get('link', 'upper')).beam


def test_tip_by_joint_link_and_position():
    by_joint = _beam(tip='elbow')
    assert (by_joint.length, by_joint.tip) == (1.0, 'elbow')
    assert _beam(tip='fore').length == 1.0
    assert _beam(tip='tool', flexible='inertial="hub"').length == 1.8
    assert _beam(tip='tool', link='fore').length == 0.8
    assert _beam(tip='0.9 0 0').length == 0.9
    assert by_joint.axes == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def test_tip_link_is_placed_through_turned_joint_origins():
    text = robot(
        link('a'), link('b'), link('c'),
        joint('j', 'a', 'b', inner='<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>'
              '<axis xyz="0 0 1"/>'),
        joint('k', 'b', 'c', inner='<origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>'),
        flexdyn(beam(link='a', tip='c', inner='')).replace('mass="1"', 'mass="0.1"'),
    )
    read = load_robot(text.replace('<flexible_link', '<flexible_link inertial="hub"')).link('a')
    assert read.beam.length == pytest.approx(math.hypot(1.0, 0.5), rel=1e-15)
    along = np.array(read.beam.axes)[:, 0]
    np.testing.assert_allclose(along * read.beam.length, [1.0, 0.5, 0.0], atol=1e-15)


@pytest.mark.parametrize(('tip', 'y_axis', 'columns'), [
    ('1 0 0', None, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    ('0 0 2', None, [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]),
    ('0 2 0', None, [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    ('0 -2 0', None, [[0, -1, 0], [0, 0, 1], [-1, 0, 0]]),
    ('1 0 0', '1 0 1', [[1, 0, 0], [0, 0, 1], [0, -1, 0]]),
    ('0 0 -1', '3 0 0', [[0, 0, -1], [1, 0, 0], [0, -1, 0]]),
])
def test_axes_of_a_beam(tip, y_axis, columns):
    attributes = SECTION + (f' y_axis="{y_axis}"' if y_axis else '')
    read = _beam(attributes, tip=tip, flexible='inertial="hub" geometric_stiffening="false"')
    assert np.array_equal(np.array(read.axes).T, columns)


def test_axes_are_a_rotation_in_any_direction():
    read = _beam(SECTION + ' y_axis="0.2 -1 3"', tip='0.3 -0.4 0.7',
                 flexible='inertial="hub" geometric_stiffening="false"')
    axes = np.array(read.axes)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-15)
    assert np.linalg.det(axes) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(axes[:, 0], np.array([0.3, -0.4, 0.7]) / read.length, atol=1e-15)
    assert axes[:, 1] @ [0.2, -1.0, 3.0] > 0.0


def test_mass_by_density_and_line_density():
    section = 'young="7e10" iz="2e-7" area="1e-3"'
    assert _beam(section + ' mass="0.7"').mass == 0.7
    assert _beam(section + ' density="500"').mass == 500 * 1e-3 * 1.0
    assert _beam(section + ' linear_density="0.25"', tip='0.8 0 0').mass == 0.25 * 0.8


def test_mass_left_to_inertial_is_all_of_it():
    read = arm_with(beam('young="7e10" iz="2e-7"')).link('upper')
    assert read.beam.mass == 2.0
    assert read.mass == 2.0


def test_polar_defaults_to_j():
    assert _beam().polar == 2.5e-7
    assert _beam(SECTION + ' polar="4e-7"').polar == 4e-7
    assert _beam('j="1e-7" polar="0" mass="1"', inner='').polar == 0.0


def test_section_that_no_mode_uses_is_allowed():
    read = _beam(inner='')
    assert read.families == ()
    assert (read.young, read.iy, read.iz, read.j) == (7e10, 1e-7, 2e-7, 2.5e-7)


def test_no_modes_asked_for_is_no_family():
    read = _beam(inner='<bending axis="y" modes="0" damping_ratio="0"/><torsion modes="0"/>')
    assert read.families == ()
    assert read.mode_names == ()


def test_bending_needs_only_its_own_section():
    assert _beam('young="7e10" iz="2e-7" mass="1"').iy is None
    assert _beam('young="7e10" iy="2e-7" mass="1"', '<bending axis="z" modes="1"/>').iz is None


def test_point_masses():
    first, second = _beam(
        inner='<point_mass at="0.25" mass="1"/>'
        '<point_mass at="1" mass="2" ixx="0.1" iyy="0.2" izz="0.3"/>'
    ).point_masses
    assert (first.at, first.mass, first.inertia) == (0.25, 1.0, (0.0, 0.0, 0.0))
    assert (second.at, second.mass, second.inertia) == (1.0, 2.0, (0.1, 0.2, 0.3))


def test_equal_point_masses_are_two_masses():
    twice = '<point_mass at="1" mass="2"/>' * 2
    assert len(_beam(inner=twice).point_masses) == 2


def test_default_y_axis_does_not_fail_when_parallel_to_y_within_rounding():
    read = _beam(tip='1e-9 1 0', flexible='inertial="hub" geometric_stiffening="false"')
    np.testing.assert_allclose(np.array(read.axes)[:, 1], [0.0, 0.0, 1.0], atol=1e-8)


def test_tip_beyond_another_branch_is_refused():
    with pytest.raises(ModelError, match='is not a descendant of this link'):
        load_robot(ARM, extension=flexdyn(beam(tip='buoy')))

# SPDX-License-Identifier: Apache-2.0
"""Coordinates of one name are refused: states and messages are read by name."""

import flexdyn_ros as fd
from oracles.small_robots import arm
import pytest

BEAM = (
    '<flexible_link link="link1" inertial="hub"><beam tip="0.5 0 0" young="1e9" iz="1e-9" '
    'mass="0.1"><bending axis="y" modes="1"/></beam></flexible_link>'
)
AXES = '<multi_axis_joint joint="joint1" axes="rx tz"/>'
SPRING = '<joint_dynamics joint="joint1" stiffness="5" rotor_inertia="1"/>'


def robot(name, inside='', kind='continuous'):
    """Return an arm whose first joint is of a kind, and whose second one has this name."""
    text = arm(inside).replace('"joint2"', f'"{name}"')
    return fd.load_robot(text.replace('type="continuous"', f'type="{kind}"', 1))


@pytest.mark.parametrize('name, inside, kind, owner', [
    ('link1/bending_y1', BEAM, 'continuous', 'joint "link1/bending_y1"'),
    ('joint1/elastic', SPRING, 'continuous', 'joint "joint1"'),
    ('joint1/theta', '', 'planar', 'joint "joint1"'),
    ('joint1/rz', '', 'floating', 'joint "joint1"'),
    ('joint1/qw', '', 'floating', 'joint "joint1"'),
    ('joint1/tz', AXES, 'floating', 'joint "joint1"'),
])
def test_equal_names_are_refused(name, inside, kind, owner):
    with pytest.raises(fd.FlexdynError, match=f'Both it and {owner}.* have a coordinate "{name}"'):
        robot(name, inside, kind)


@pytest.mark.parametrize('name', ['link1', 'joint1/x', 'joint1/ry'])
def test_other_names_may_look_alike(name):
    """Links are no coordinates, and axes that a joint does not have are none."""
    assert len(set(robot(name, AXES, 'floating').coordinate_names)) == 3

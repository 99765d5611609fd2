# SPDX-License-Identifier: Apache-2.0
"""What the pictures of the demonstration choose to show, and in which words."""

from flexdyn_ros.demo.arm_picture import choose
from flexdyn_ros.demo.arm_picture import millimetres
from flexdyn_ros.demo.arm_picture import Space
from flexdyn_ros.demo.pictures import angle
from flexdyn_ros.demo.pictures import large_ones
import numpy as np
import pytest


def test_modes_are_shown_that_can_be_seen_beside_the_largest_of_their_unit():
    largest = {
        'arm/bending_y1': 0.04, 'arm/bending_y2': 0.0005, 'arm/bending_z1': 0.0003,
        'elbow/elastic': 1e-5, 'wrist/elastic': 2e-7, 'arm/torsion1': 2e-7,
    }
    assert large_ones(largest) == [
        'arm/bending_y1', 'arm/bending_y2', 'elbow/elastic', 'wrist/elastic', 'arm/torsion1']


def test_an_arm_that_does_not_bend_keeps_its_modes():
    assert large_ones({'arm/bending_y1': 0.0, 'elbow/elastic': 0.0}) == [
        'arm/bending_y1', 'elbow/elastic']


@pytest.mark.parametrize(('value', 'text'), [
    (1.5, '1.5 rad'), (0.0612, '61.2 mrad'), (1.87e-7, '0.187 \N{GREEK SMALL LETTER MU}rad'),
    (0.0, '0 \N{GREEK SMALL LETTER MU}rad'),
])
def test_angles_are_told_in_a_unit_of_their_size(value, text):
    assert angle(value) == text


@pytest.mark.parametrize(('value', 'text'), [(0.2286, '229 mm'), (0.00029, '0.29 mm')])
def test_lengths_are_told_with_the_digits_that_count(value, text):
    assert millimetres(value) == text


def test_the_instants_spread_over_the_whole_time():
    frames = [{'time': time} for time in (0.1, 0.2, 2.6, 4.0, 5.1, 7.4, 9.9)]
    assert [frame['time'] for frame in choose(frames, 5)] == [0.1, 2.6, 5.1, 7.4, 9.9]
    assert choose([], 5) == []


def test_the_drawn_space_holds_the_arm_and_the_floor():
    points = np.array([[0.0, -1.0, 0.2], [2.0, 3.0, 0.9]])
    space = Space.around(points)
    assert np.all(space.low <= points.min(axis=0)) and np.all(space.high >= points.max(axis=0))
    assert space.low[2] == 0.0
    assert np.allclose(space.size, space.high - space.low)

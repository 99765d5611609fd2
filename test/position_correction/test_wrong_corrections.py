# SPDX-License-Identifier: Apache-2.0
"""Trajectories, choices and arguments that corrections refuse."""

from corrected_arms import flexible, NAMES, pendulum, rest_to_rest
import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.position_correction import (
    corrected_positions,
    CorrectionChoices,
    TrajectoryPoints,
)
import numpy as np
import pytest


@pytest.mark.parametrize('points, names, choices, match', [
    (TrajectoryPoints(np.array([0.0, 1.0]), np.zeros((2, 1)), np.ones((2, 1))), ['hub'], {},
     'first point has the velocities'),
    (TrajectoryPoints(np.array([0.0]), np.zeros((1, 1))), ['hub'], {}, 'one point at time zero'),
    (TrajectoryPoints(np.array([0.0, 1.0]), np.array([[0.0], [1.0]])), ['hub'],
     {'shaping': 'never'}, 'derivative 1 of the trajectory jumps'),
    (rest_to_rest(0.0, 0.1), ['hub'], {'shaping': 'some'}, 'shaping'),
    (rest_to_rest(0.0, 0.1), ['nub'], {}, 'nub'),
    (TrajectoryPoints(np.array([0.0, 1e9]), np.array([[0.0], [1.0]])), ['hub'], {},
     'max_duration 600'),
    (TrajectoryPoints(np.array([0.0, 1.0]), np.array([[0.0], [1e300]])), ['hub'], {},
     'numbers exceed 10000'),
    (rest_to_rest([0.0, 0.0], [0.1, 0.1]), ['hub', 'hub'], {}, 'twice'),
])
def test_trajectories_that_cannot_be_followed_are_refused(points, names, choices, match):
    with pytest.raises(fd.FlexdynError, match=match):
        corrected_positions(pendulum(), names, points, None, CorrectionChoices(**choices))


@pytest.mark.parametrize('choice', [
    {'max_correction': np.nan}, {'max_acceleration': 0.0}, {'sample_period': 0.0},
    {'start_tolerance': np.nan}, {'blend_time': -1.0}, {'max_duration': np.inf}])
def test_choices_that_bound_nothing_are_refused(choice):
    with pytest.raises(ArgumentError, match=next(iter(choice))):
        corrected_positions(
            pendulum(), ['hub'], rest_to_rest(0.0, 0.1), None, CorrectionChoices(**choice))


@pytest.mark.parametrize('t, positions, velocities, accelerations', [
    ([0.0, np.nan], [[0.0], [1.0]], None, None), ([0.5, 0.5], [[0.0], [1.0]], None, None),
    ([-1.0, 0.5], [[0.0], [1.0]], None, None), ([], np.zeros((0, 1)), None, None),
    ([0.0, 1.0], [0.0, 1.0], None, None), ([0.0, 1.0], [[0.0, 0.0]] * 2, None, None),
    ([0.0, 1.0], [[0.0], [1.0]], [[0.0]], None),
    ([0.0, 1.0], [[0.0], [1.0]], None, [[0.0], [0.0]])])
def test_points_of_a_wrong_shape_are_refused(t, positions, velocities, accelerations):
    rows = [each if each is None else np.array(each)
            for each in (positions, velocities, accelerations)]
    with pytest.raises(ArgumentError, match='has (times|shape|accelerations)'):
        corrected_positions(pendulum(), ['hub'], TrajectoryPoints(np.array(t), *rows))


def test_arguments_of_a_wrong_type_or_shape_are_named():
    points = rest_to_rest(0.0, 0.1)
    for name, call in (
        ('names', lambda: corrected_positions(pendulum(), 3, points)),
        ('points', lambda: corrected_positions(pendulum(), ['hub'], points.positions)),
        ('choices', lambda: corrected_positions(pendulum(), ['hub'], points, None, {})),
        ('positions', lambda: corrected_positions(flexible(), NAMES, points)),
    ):
        with pytest.raises(ArgumentError, match=f'"{name}"'):
            call()

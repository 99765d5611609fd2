# SPDX-License-Identifier: Apache-2.0
"""Corrections of absurd trajectories take bounded work, and end where `progress` raises."""

from corrected_arms import flexible, pendulum, rest_to_rest, WIDE
from flexdyn_ros.position_correction import (
    corrected_positions,
    CorrectionChoices,
    CorrectionRefused,
)
from flexdyn_ros.position_correction.reference_motion import TrajectoryPoints
import numpy as np
import pytest

STEPS = np.arange(20_000.0)


@pytest.mark.parametrize('points, choices, why', [
    (rest_to_rest(0.0, 1e-4, 1e-4, 1e-6), {}, 'damped joints settle in 0.125 s'),
    (TrajectoryPoints(np.array([0.0, 1e-9]), np.array([[0.0], [0.5]])), {}, None),
    (TrajectoryPoints(1e-6 * STEPS, 0.1 * np.sin(STEPS)[:, np.newaxis]), {}, None),
    (rest_to_rest(0.0, 0.5, 100.0), {'max_acceleration': 1e-9}, 'more than max_duration'),
    (rest_to_rest(0.0, 0.5, 100.0), {'sample_period': 1e-5}, 'more than 400000 samples'),
    (TrajectoryPoints(np.linspace(0.0, 1.0, 9), np.array([[0.0, 3.0] * 4 + [0.0]]).T),
     {'max_acceleration': 0.1}, 'more than max_duration'),
])
def test_absurd_trajectories_take_bounded_work(points, choices, why):
    """In blocks of a thousand samples, of which a minute of motion has 24."""
    blocks, bounds = [], CorrectionChoices(max_correction=0.5, **choices)
    if why is None:
        corrected_positions(pendulum(4.0), ['hub'], points, None, bounds, blocks.append)
    else:
        with pytest.raises(CorrectionRefused, match=why):
            corrected_positions(pendulum(4.0), ['hub'], points, None, bounds, blocks.append)
    assert len(blocks) <= 200


@pytest.mark.parametrize('dyn', [pendulum, flexible])
def test_what_progress_raises_ends_the_work(dyn):
    seen = []

    def progress(fraction):
        seen.append(fraction)
        if len(seen) == 2:
            raise KeyError('enough')

    names = dyn().robot.joint_names
    points = rest_to_rest(np.full(len(names), 0.1), np.full(len(names), 0.4), 4.0)
    with pytest.raises(KeyError, match='enough'):
        corrected_positions(dyn(), names, points, None, WIDE, progress)
    assert len(seen) == 2

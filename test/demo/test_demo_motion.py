# SPDX-License-Identifier: Apache-2.0
"""The desired motion of the demonstration."""

from flexdyn_ros.demo.plan import rest_to_rest, ROBOTS
import numpy as np
import pytest

MOTION = rest_to_rest((
    (1.0, (0.0, 2.0)), (3.0, (1.0, -2.0)), (4.0, (1.0, -2.0)), (6.0, (0.0, 0.0)),
))


@pytest.mark.parametrize('time, expected', [
    (0.0, (0.0, 2.0)),
    (1.0, (0.0, 2.0)),
    (2.0, (0.5, 0.0)),
    (3.0, (1.0, -2.0)),
    (3.5, (1.0, -2.0)),
    (6.0, (0.0, 0.0)),
    (9.0, (0.0, 0.0)),
])
def test_positions(time, expected):
    assert MOTION(time)[0] == pytest.approx(expected)


@pytest.mark.parametrize('time', [0.0, 1.0, 3.0, 4.0, 6.0, 7.0])
def test_rest_at_the_points(time):
    _, velocity, acceleration = MOTION(time)
    assert velocity == pytest.approx((0.0, 0.0), abs=1e-12)
    assert acceleration == pytest.approx((0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize('time', np.linspace(1.1, 5.9, 25))
def test_derivatives(time):
    h = 1e-5
    before, now, after = (MOTION(time + step) for step in (-h, 0.0, h))
    assert now[1] == pytest.approx((after[0] - before[0]) / (2 * h), abs=1e-8)
    assert now[2] == pytest.approx((after[1] - before[1]) / (2 * h), abs=1e-7)


@pytest.mark.parametrize('robot', ROBOTS.values(), ids=ROBOTS)
def test_robots_have_a_gain_and_a_position_for_every_joint(robot):
    count = len(robot.joints)
    assert len(robot.kp) == len(robot.kd) == count
    assert all(len(position) == count for _, position in robot.waypoints)
    assert robot.waypoints[0][0] == 0.0

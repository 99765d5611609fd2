# SPDX-License-Identifier: Apache-2.0
"""Motions of joints against closed forms and scipy."""

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation.joint_motions import (
    cycloidal,
    quintic,
    sampled,
    shifted,
    trapezoidal,
)
import numpy as np
import pytest
from scipy.interpolate import BPoly


def test_the_cycloid_is_the_closed_form():
    """Positions, rates and accelerations of equation 44 for joints of different durations."""
    end, spans = np.array([1.5, -0.5]), np.array([20.0, 10.0])
    t = np.linspace(0.0, 9.99, 333)
    q, qd, qdd = sampled(cycloidal([0.0, 0.2], end, spans), t)
    way = end - [0.0, 0.2]
    turn = 2.0 * np.pi * t[:, None] / spans
    assert q == pytest.approx(
        [0.0, 0.2] + way * (t[:, None] / spans - np.sin(turn) / (2.0 * np.pi)), abs=1e-12)
    assert qd == pytest.approx(way / spans * (1.0 - np.cos(turn)), abs=1e-10)
    assert qdd == pytest.approx(way / spans**2 * 2.0 * np.pi * np.sin(turn), abs=1e-8)


def test_the_quintic_meets_its_states():
    """As scipy's polynomials in Bernstein form have them."""
    random = np.random.default_rng(0)
    t, states = np.array([0.0, 0.7, 2.0]), random.normal(size=(3, 3, 2))
    at = np.linspace(0.0, 2.0, 41)
    found = sampled(quintic(t, *states.transpose(1, 0, 2)), at)
    exact = BPoly.from_derivatives(t, states)
    for order, values in enumerate(found):
        assert values == pytest.approx(exact(at, order), abs=1e-10)


def test_a_motion_rests_beyond_its_ends():
    motion = shifted(quintic([0.0, 1.0], [[0.0], [2.0]]), 0.5)
    for t, place in ((0.2, 0.0), (1.7, 2.0)):
        q, qd, qdd = motion.with_curvature(t)
        assert (q[0], qd[0], qdd[0]) == (pytest.approx(place), 0.0, 0.0)


@pytest.mark.parametrize('velocity', [0.5, 50.0])
def test_the_trapezoid_reaches_a_bound_and_never_passes_it(velocity):
    """It needs the least time: 1 / v + v / a of a long way, twice sqrt(way / a) of a short one."""
    motion = trapezoidal([0.0, 1.0], [2.0, 0.5], velocity, [4.0, 9.0])
    t = np.linspace(0.0, motion.at[-1], 2001)
    q, qd, qdd = sampled(motion, t)
    assert q[-1] == pytest.approx([2.0, 0.5])
    assert np.abs(qd).max() <= velocity + 1e-12
    assert np.abs(qdd[:, 0]).max() == pytest.approx(4.0)
    assert np.abs(qdd[:, 1]).max() <= 9.0
    assert np.gradient(q[:, 0], t)[1:-1] == pytest.approx(qd[1:-1, 0], abs=1e-2)
    least = 2.0 / 0.5 + 0.5 / 4.0 if velocity < 1.0 else 2.0 * np.sqrt(2.0 / 4.0)
    assert motion.at[-1] == pytest.approx(least)


def test_a_trapezoid_without_a_way_is_refused():
    with pytest.raises(ArgumentError, match='no joint moves'):
        trapezoidal([1.0], [1.0], 1.0, 1.0)

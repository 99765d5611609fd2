# SPDX-License-Identifier: Apache-2.0
"""Tip of a UR5e with elastic joints, on a plant of Pinocchio and scipy with ideal motors."""

from functools import cache

import numpy as np
import pytest

pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
pytest.importorskip('airo_models', reason='airo-models is not installed')

from benchmarks.corrected_positions.elastic_ur5e import (  # noqa: E402, I100
    model,
    motor_points,
    Plant,
    rigid_points,
    smooth_path,
    static_sag_alone,
)
from flexdyn_ros.position_correction import (  # noqa: E402
    corrected_positions,
    CorrectionChoices,
)
from flexdyn_ros.position_correction.reference_motion import TrajectoryPoints  # noqa: E402

pytestmark = pytest.mark.oracle
JOINTS = model().robot.joint_names


@cache
def plant():
    return Plant()


@cache
def uncorrected():
    points = smooth_path()
    return plant().follow(points, points)


def corrected(points, dyn, **choices):
    found = corrected_positions(dyn, JOINTS, points, None, CorrectionChoices(**choices))
    return found, plant().follow(motor_points(found), rigid_points(found))


@pytest.mark.parametrize('stiffness, of_static, of_vibration', [
    (1.0, 50.0, 100.0), (1.1, 8.0, 8.0), (0.9, 8.0, 8.0)])
def test_the_tip_follows_at_rest_and_moving(stiffness, of_static, of_vibration):
    found, tip = corrected(smooth_path(), model(stiffness))
    before = uncorrected()
    assert before.static > 5e-3 and before.vibration > 1e-5
    assert tip.static < before.static / of_static
    assert tip.vibration < before.vibration / of_vibration
    assert tip.moving < before.moving / of_static
    assert found.widths == () and found.scale == 1.0


def test_a_static_sag_correction_alone_leaves_the_vibration_unchanged():
    points = smooth_path()
    tip = plant().follow(static_sag_alone(model(), points), points)
    assert tip.static < uncorrected().static / 1e6
    assert tip.vibration == pytest.approx(uncorrected().vibration, rel=0.05)


def test_accelerations_that_jump_are_averaged_and_leave_no_vibration():
    """As MoveIt's time parametrisation: a trapezoid of velocity, sampled at 10 Hz."""
    end, ramp = 1.0, 0.3
    t = np.linspace(0.0, end, 11)
    a = 1.0 / (ramp * (end - ramp))
    up, down = t < ramp - 1e-9, t > end - ramp - 1e-9
    s = np.where(up, 0.5 * a * t**2, np.where(
        down, 1.0 - 0.5 * a * (end - t)**2, a * ramp * (t - 0.5 * ramp)))
    v = np.where(up, a * t, np.where(down, a * (end - t), a * ramp))
    rows = (s, v, np.where(up, a, np.where(down, -a, 0.0)))
    smooth = smooth_path()
    step = smooth.positions[-1] - smooth.positions[0]
    points = TrajectoryPoints(t, *(np.outer(row, step) for row in rows))
    points.positions[:] += smooth.positions[0]
    before = plant().follow(points, points)
    assert before.vibration > 1e-3
    found, tip = corrected(points, model(1.1))
    assert len(found.widths) == 3
    assert 'averaged over' in found.report
    assert tip.vibration < before.vibration / 100.0
    assert tip.moving < before.moving / 8.0


def test_limits_stretch_the_time():
    found = corrected_positions(
        model(), JOINTS, smooth_path(), None, CorrectionChoices(max_acceleration=2.0))
    assert 1.5 < found.scale < 1.8
    assert np.abs(found.accelerations).max() <= 2.0
    assert 'time stretched by 1.6' in found.report
    assert found.t[-1] == pytest.approx(
        found.scale + 25.0 * 10.0 / 1.2e4, abs=1e-3)
    # Times of the trajectory as it was given, for feedback.
    assert np.interp(0.5 * found.scale, found.t, found.given) == pytest.approx(0.5, abs=1e-3)
    assert found.given[-1] == 1.0

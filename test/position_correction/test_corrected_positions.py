# SPDX-License-Identifier: Apache-2.0
"""Corrected positions against closed forms, their bounds, and arms with flexible links."""

from corrected_arms import (
    ARM,
    FLEXIBLE,
    flexible,
    MASS,
    NAMES,
    pendulum,
    rest_to_rest,
    STEP,
    STIFFNESS,
    TURN,
    WIDE,
)
import flexdyn_ros as fd
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.position_correction import (
    corrected_positions,
    CorrectionChoices,
    CorrectionRefused,
)
from flexdyn_ros.position_correction.motor_motion import _movable, _only_tip, _unwrapped
from flexdyn_ros.position_correction.reference_motion import (
    missing_smoothness,
    ReferenceMotion,
    TrajectoryPoints,
)
from flexdyn_ros.position_correction.stop import stopped
from flexdyn_ros.tip_tracking.tip_zeros import NotInvertible
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import BPoly
from scipy.optimize import root
from scipy.signal import fftconvolve


def test_the_motor_leads_by_the_closed_form():
    """Spong 1987: theta = q + (I q'' + m g l cos q) / k, without damping."""
    start, end = -1.2, 0.4
    found = corrected_positions(
        pendulum(), ['hub'], rest_to_rest(start, end), None, CorrectionChoices(max_correction=0.2))
    q, v, a, j, s = ((end - start) * STEP.deriv(k)(found.t) for k in range(5))
    q = start + q
    inertia, gravity = TURN + MASS * ARM**2, MASS * 9.81 * ARM
    load = inertia * a + gravity * np.cos(q)
    change = inertia * j - gravity * np.sin(q) * v
    curvature = inertia * s - gravity * (np.cos(q) * v**2 + np.sin(q) * a)
    assert found.positions[:, 0] == pytest.approx(q + load / STIFFNESS, abs=1e-7)
    assert found.velocities[:, 0] == pytest.approx(v + change / STIFFNESS, abs=2e-5)
    assert found.accelerations[:, 0] == pytest.approx(a + curvature / STIFFNESS, abs=0.02)
    assert found.correction[:, 0] == pytest.approx(load / STIFFNESS, abs=1e-7)
    assert found.lead == 0.0


@pytest.mark.parametrize('raw', [False, True])
def test_the_first_point_is_the_present_command(raw):
    """A planner starts where the arm stands, or where its motors do; the sag fades out."""
    dyn, command = pendulum(4.0), np.array([-0.3])
    sag = corrected_positions(
        dyn, ['hub'], rest_to_rest(-0.3, 0.2), None, CorrectionChoices(max_correction=0.2))
    standing = command - sag.correction[0]
    start = command if raw else standing - 1e-3
    choices = CorrectionChoices(max_correction=0.2)
    found = corrected_positions(dyn, ['hub'], rest_to_rest(start, 0.2), command, choices)
    assert found.positions[0] == command
    assert found.reference[0] == pytest.approx(standing, abs=2e-4)
    assert found.reference[-1] == pytest.approx([0.2], abs=1e-9)
    assert not found.velocities[[0, -1]].any() and not found.accelerations[[0, -1]].any()
    with pytest.raises(CorrectionRefused, match='hub starts 0.02 from the present command'):
        corrected_positions(dyn, ['hub'], rest_to_rest(command + 0.02, 0.2), command, choices)


def test_corrections_and_positions_beyond_their_bounds_are_refused_by_joint_and_time():
    points = rest_to_rest(-1.5, 0.0)
    with pytest.raises(CorrectionRefused, match=r'hub is 0\.0[0-9]+ corrected, more than '
                                                r'max_correction 0.005, from 0\.[0-9]+ s on'):
        corrected_positions(pendulum(), ['hub'], points, None, CorrectionChoices(
            max_correction=0.005))
    with pytest.raises(CorrectionRefused, match='hub is 0.0.* beyond its position limits'):
        corrected_positions(pendulum(), ['hub'], rest_to_rest(0.0, -3.0), None, CorrectionChoices(
            max_correction=0.2))


def test_velocity_limits_stretch_the_time():
    points = rest_to_rest(-1.5, 1.5, 0.5)
    choices = CorrectionChoices(max_correction=0.5)
    found = corrected_positions(pendulum(), ['hub'], points, None, choices)
    assert np.abs(found.velocities).max() == pytest.approx(10.0, rel=0.01)
    assert np.abs(found.velocities).max() <= 10.0
    assert found.scale > 1.3


@pytest.mark.parametrize('limit', [2.0, 0.5, 0.02])
def test_acceleration_limits_stretch_short_averaged_motions_too(limit):
    """Averages keep their width, and the sag fades out within the stretched time."""
    points = TrajectoryPoints(np.array([0.0, 0.3]), np.array([[-0.3], [0.4]]))
    choices = CorrectionChoices(max_correction=0.2, max_acceleration=limit, start_tolerance=0.1)
    found = corrected_positions(pendulum(4.0), ['hub'], points, np.array([-0.3]), choices)
    assert 0.9 * limit < np.abs(found.accelerations).max() <= limit
    assert found.scale > 2.0


def test_a_motion_that_jumps_is_averaged_over_the_periods():
    """One moving average for each derivative that is missing; it is the mean of samples."""
    t, q = np.array([0.0, 0.4, 1.0]), np.array([[0.0], [0.4], [0.0]])
    polynomial = TrajectoryPoints(t, q).polynomial()
    assert missing_smoothness(polynomial) == 4
    smooth = rest_to_rest(0.0, 1.0)
    assert missing_smoothness(smooth.polynomial()) == 0
    quintic = BPoly.from_derivatives([0.0, 1.0], [[[0.0], [0.0], [0.0]], [[1.0], [0.0], [0.0]]])
    assert missing_smoothness(quintic) == 2
    motion = ReferenceMotion(polynomial, 1.0, (0.1, 0.05), np.zeros(1), 0.5, 0.0)
    assert motion.duration == pytest.approx(1.15) and motion.delay == pytest.approx(0.075)
    fine = np.linspace(-0.2, 1.4, 160001)
    kernel = fftconvolve(np.full(10000, 1e-4), np.full(5000, 2e-4))
    wanted = fftconvolve(np.interp(fine, t, q[:, 0]), kernel)[:len(fine)]
    at = np.linspace(0.0, 1.15, 200)
    assert motion(at)[:, 0] == pytest.approx(np.interp(at, fine, wanted), abs=2e-5)
    assert motion.given_times(np.array([0.475])) == pytest.approx([0.4])
    found = corrected_positions(
        pendulum(), ['hub'], TrajectoryPoints(t, q), None, CorrectionChoices(max_correction=0.2))
    period = 2.0 * np.pi * np.sqrt((TURN + MASS * ARM**2) / STIFFNESS)
    assert found.widths == pytest.approx([period] * 4)


def tip_of(dyn, t, rows, window=0.5):
    """Return rest and vibration of the tip while joints follow points, by scipy."""
    n, m = dyn.robot.n_joints, dyn.robot.n_modes
    joints = BPoly.from_derivatives(t, np.stack(rows, 1))
    rates = [joints.derivative(k) for k in (1, 2)]
    zero = np.zeros(n)

    def state(time, x):
        moving = [each(time) if time < t[-1] else zero for each in rates]
        return (np.append(joints(min(time, t[-1])), x[:m]), np.append(moving[0], x[m:]), moving[1])

    def rate(time, x):
        return np.append(x[m:], dyn.hybrid_dynamics(*state(time, x))[1])

    def rests(q):
        """Return the modes at rest."""
        return root(lambda x: dyn.inverse_dynamics(
            np.append(q, x), np.zeros(n + m), np.zeros(n + m))[n:], np.zeros(m), tol=1e-13).x

    times = np.linspace(0.0, t[-1] + window, 400)
    run = solve_ivp(rate, (0.0, times[-1]), np.append(rests(rows[0][0]), np.zeros(m)), 'LSODA',
                    times, rtol=1e-8, atol=1e-10)
    tips = np.array([dyn.frame_pose(state(time, x)[0], 'tool')[:3, 3]
                     for time, x in zip(times, run.y.T)])
    rest = dyn.frame_pose(np.append(rows[0][-1], rests(rows[0][-1])), 'tool')[:3, 3]
    return rest, np.linalg.norm(tips[times >= t[-1]] - rest, axis=1).max()


PATH = rest_to_rest([0.3, 0.6], [-0.4, 1.0], 0.6)


@pytest.mark.slow
def test_the_tip_of_flexible_links_follows_too():
    """With the exact model, and with 10 % wrong stiffness of link and joint."""
    plant = flexible()
    wanted = plant.frame_pose([*PATH.positions[-1], 0.0, 0.0, 0.0], 'tool')[:3, 3]
    rest, vibration = tip_of(plant, PATH.t, (PATH.positions, PATH.velocities, PATH.accelerations))
    sag = np.linalg.norm(rest - wanted)
    assert sag > 1e-3 and vibration > 1e-5
    for factor, of_static, of_vibration in ((1.0, 50.0, 100.0), (1.1, 8.0, 8.0), (0.9, 8.0, 8.0)):
        found = corrected_positions(flexible(factor), NAMES, PATH, None, WIDE)
        rest, left = tip_of(
            plant, found.t, (found.positions, found.velocities, found.accelerations))
        assert np.linalg.norm(rest - wanted) < sag / of_static
        assert left < vibration / of_vibration


@pytest.mark.slow
def test_a_second_trajectory_starts_where_the_tip_of_flexible_links_stands():
    """And the motors begin where the first trajectory left them."""
    found = corrected_positions(flexible(), NAMES, PATH, None, WIDE)
    assert found.reference[-1] == pytest.approx(PATH.positions[-1], abs=1e-9)
    assert found.t[-1] >= found.lead + 0.6 > 0.6
    command = found.positions[-1]
    assert np.abs(command - PATH.positions[-1]).max() > 1e-3
    again = corrected_positions(
        flexible(), NAMES, rest_to_rest(PATH.positions[-1], [0.1, 0.5]), command, WIDE)
    assert again.reference[0] == pytest.approx(PATH.positions[-1], abs=1e-6)
    assert again.positions[0].tolist() == command.tolist()


PAN = """<link name="base"/><link name="column"/><joint name="pan" type="revolute">
<parent link="base"/><child link="column"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="3" effort="100"/></joint>"""


def test_paths_on_which_joints_cannot_hold_the_tip_are_refused_at_once():
    """The decoupling matrix of an arm that bends sideways too changes its sign on the way."""
    text = FLEXIBLE.format(young=2e11, stiffness=2e4)
    for old, new in (
            ('<link name="base"/>', PAN),
            ('<parent link="base"/><child link="upper"/>',
             '<parent link="column"/><child link="upper"/>'),
            ('</beam>', '<bending axis="y" modes="1" damping_ratio="0.02"/></beam>')):
        text = text.replace(old, new)
    points = rest_to_rest([0.0, -0.3, 0.6], [0.4, -0.7, 1.6], 1.5)
    with pytest.raises(NotInvertible, match=r'decoupling matrix is singular at 0\.\d+ s'):
        corrected_positions(
            fd.Dynamics(fd.load_robot(text)), ('pan', *NAMES), points, None, WIDE)


def test_joints_that_are_left_out_have_no_springs():
    with pytest.raises(ArgumentError, match='leaves out shoulder, whose elasticity'):
        corrected_positions(flexible(), ['elbow'], rest_to_rest(0.0, 0.1))


def test_the_tip_is_the_one_that_moves():
    """Vendors put a frame on the base, which no joint moves; a gripper has several tips."""
    added = """<link name="{0}"/><joint name="{0}_mount" type="fixed"><parent link="{1}"/>
<child link="{0}"/></joint>"""
    text = FLEXIBLE.format(young=2e11, stiffness=2e4)
    base = fd.load_robot(text).root

    def with_frame(name, parent):
        return fd.load_robot(text.replace('</robot>', added.format(name, parent) + '</robot>'))
    assert 'base_frame' in with_frame('base_frame', base).tip_names
    assert _only_tip(with_frame('base_frame', base)) == 'tool'
    with pytest.raises(ArgumentError, match='the tips .*camera.*correction.frame'):
        _only_tip(with_frame('camera', 'fore'))


def test_outputs_are_what_the_joints_move():
    """A planar arm moves two components of its tip; a third joint of it is redundant."""
    assert _movable(flexible(), 'tool', np.array([0.3, 0.6])) in (['x', 'z'], ['x', 'ry'],
                                                                  ['z', 'ry'])
    turns = np.outer(np.linspace(0.0, 5.0, 50), [0.0, 0.6, 0.8])
    angle = np.linalg.norm(turns, axis=1)
    wrapped = turns * np.where(angle > np.pi, 1.0 - 2.0 * np.pi / np.maximum(angle, 1.0), 1.0)[
        :, np.newaxis]
    assert _unwrapped(wrapped) == pytest.approx(turns, abs=1e-12)


@pytest.mark.parametrize('limit, at', [(None, 0.4), (15.0, 0.3)])
def test_a_motion_stops_on_its_path_within_its_limits(limit, at):
    choices = CorrectionChoices(max_correction=0.2, max_acceleration=limit)
    found = corrected_positions(pendulum(), ['hub'], rest_to_rest(-1.0, 0.5), None, choices)
    largest = limit or 1.3 * np.abs(found.accelerations).max()
    halted = stopped(found, at, limit)
    begun = found.t < at
    assert halted.positions[:begun.sum()].tolist() == found.positions[begun].tolist()
    assert not halted.velocities[-1].any() and not halted.accelerations[-1].any()
    # The points are one motion: quintics through them keep the limit too.
    through = BPoly.from_derivatives(
        halted.t, np.stack([halted.positions, halted.velocities, halted.accelerations], 1))
    assert np.abs(through(np.linspace(0.0, halted.t[-1], 5000), 2)).max() <= 1.01 * largest
    # The tip then stands between start and end.
    assert found.reference[0] < halted.reference[-1] < found.reference[-1]
    assert halted.given[-1] < 1.0
    assert stopped(found, found.t[-1] - 1e-3, limit) is None

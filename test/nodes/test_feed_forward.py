# SPDX-License-Identifier: Apache-2.0
"""Torques, deflections and modal integration along a joint motion, without ROS."""

import re
from types import SimpleNamespace

from arms import elastic_joint_arm, flexible_arm
import flexdyn_ros as fd
from flexdyn_ros.dynamics.modal_motion import alpha_step
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.nodes.arm.modal_integrator import ModalSettings
from flexdyn_ros.nodes.torque.driven_joints import EffortLimits
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.torque_terms import TorqueTerms
from flexdyn_ros.nodes.torque.trajectory_filler import (
    quintic_motion,
    TrajectoryFiller,
    TrajectoryRefused,
)
import numpy as np
import pytest
from scipy.optimize import bisect


@pytest.fixture(scope='module')
def flexible():
    """Return the dynamics of the flexible arm."""
    return fd.Dynamics(fd.load_robot(flexible_arm()))


def sample(time=0.0, q=(0.2, 0.3), qd=(0.4, -0.5), qdd=(0.6, 0.7)):
    """Return a joint sample."""
    return JointSample(time, *(np.array(values) for values in (q, qd, qdd)))


def test_rigid_mode_is_the_inverse_dynamics_with_modes_at_zero(flexible):
    torque = FeedForward(flexible, 'rigid').torque(sample())
    full = flexible.inverse_dynamics(
        [0.2, 0.3, 0, 0], [0.4, -0.5, 0, 0], [0.6, 0.7, 0, 0]
    )
    assert np.array_equal(torque, full[:2])


@pytest.mark.parametrize('mode', ['rigid', 'flexible_quasi_static', 'flexible_hybrid'])
def test_the_terms_sum_to_the_whole(flexible, mode):
    whole = FeedForward(flexible, mode).torque(sample())
    parts = [
        FeedForward(flexible, mode, TorqueTerms(**{
            name: name == on for name in ('gravity', 'coriolis', 'inertia', 'friction')
        })).torque(sample())
        for on in ('gravity', 'coriolis', 'inertia', 'friction')
    ]
    assert np.allclose(sum(parts), whole, rtol=1e-11, atol=1e-11)
    assert sum(np.abs(part).max() > 1e-3 for part in parts) >= 3


def test_quasi_static_deflection_meets_the_modal_equations(flexible):
    forward = FeedForward(flexible, 'flexible_quasi_static')
    torque = forward.torque(sample())
    q = [0.2, 0.3, *forward.state.delta]
    full = flexible.inverse_dynamics(q, [0.4, -0.5, 0, 0], [0.6, 0.7, 0, 0])
    scale = np.abs(flexible.elastic_vector(q, np.zeros(4))).max()
    assert np.abs(full[2:]).max() < 1e-8 * scale
    assert np.allclose(torque, full[:2], rtol=1e-12)


def test_a_very_soft_arm_still_finds_its_static_deflection():
    dyn = fd.Dynamics(fd.load_robot(flexible_arm(young=2e8)))
    forward = FeedForward(dyn, 'flexible_quasi_static')
    forward.torque(sample(q=(1.2, 0.3), qd=(0, 0), qdd=(0, 0)))
    q = [1.2, 0.3, *forward.state.delta]
    assert np.abs(forward.state.delta).max() > 0.01
    assert np.abs(dyn.bias_vector(q, np.zeros(4))[2:]).max() < 1e-6


DEAD_ZONE = '<spring points="-0.3 -90, -0.02 0, 0 0, 0.02 0, 0.3 90"/>'


def sprung_arm(points):
    """Return the dynamics of the arm with an elastic shoulder, its spring given by an element."""
    text = re.sub(
        r'(<joint_dynamics joint="shoulder"[^>]*?) stiffness="[^"]*"([^>]*?)/>',
        rf'\1\2>{points}</joint_dynamics>', elastic_joint_arm(),
    )
    assert points in text
    return fd.Dynamics(fd.load_robot(text))


@pytest.mark.parametrize('q', [(0.2, 0.3), (1.4, -1.3), (-2.0, 2.5)])
def test_a_spring_with_play_bears_at_the_end_of_its_play(q):
    """Against the gravity torque that the spring must carry, found by bisection."""
    dyn = sprung_arm(DEAD_ZONE)
    forward = FeedForward(dyn, 'flexible_quasi_static')
    forward.torque(sample(q=q, qd=(0, 0), qdd=(0, 0)))
    bent = float(forward.state.delta[0])
    assert abs(bent) > 0.02

    def unbalanced(deflection):
        return dyn.bias_vector([*q, deflection], np.zeros(3))[2]

    assert bent == pytest.approx(bisect(unbalanced, -1.0, 1.0, xtol=1e-14), abs=1e-9)


def test_a_spring_with_play_rests_in_the_middle_without_a_load():
    dyn = sprung_arm(DEAD_ZONE)
    dyn.set_gravity([0.0, 0.0, 0.0])
    forward = FeedForward(dyn, 'flexible_quasi_static')
    assert np.all(forward.torque(sample(qd=(0, 0), qdd=(0, 0))) == 0.0)
    assert np.all(forward.state.delta == 0.0)


def test_a_spring_that_never_bears_is_refused_by_name():
    with pytest.raises(FlexdynError, match='shoulder/elastic have no stiffness'):
        FeedForward(sprung_arm('<spring points="-1 0, 0 0, 1 0"/>'), 'flexible_quasi_static')


def test_the_hybrid_mode_agrees_with_hybrid_dynamics_at_every_sample(flexible):
    forward = FeedForward(flexible, 'flexible_hybrid')
    for k in range(5):
        point = swing(0.004 * k)
        torque = forward.torque(point)
        state = forward.state
        tau, qdd = flexible.hybrid_dynamics(
            [*point.q, *state.delta], [*point.qd, *state.rate], point.qdd
        )
        assert np.allclose(qdd, state.acceleration, rtol=1e-5, atol=1e-4)
        assert np.allclose(tau, torque, rtol=1e-6, atol=1e-6)


def swing(time):
    """Return a smooth joint motion, at rest at time zero."""
    s, c = np.sin(6 * time), np.cos(6 * time)
    amplitude = np.array([0.3, -0.2])
    return JointSample(time, amplitude * (1 - c), amplitude * 6 * s, amplitude * 36 * c)


def exact_modes(dyn, start, end, steps):
    """Return modal positions by fine steps of hybrid dynamics (explicit midpoint)."""
    delta, rate = np.array(start), np.zeros(2)
    h = end / steps

    def acceleration(time, delta, rate):
        point = swing(time)
        _, modal = dyn.hybrid_dynamics([*point.q, *delta], [*point.qd, *rate], point.qdd)
        return modal

    for k in range(steps):
        middle_rate = rate + h / 2 * acceleration(k * h, delta, rate)
        middle = delta + h / 2 * rate
        rate = rate + h * acceleration((k + 0.5) * h, middle, middle_rate)
        delta = delta + h * middle_rate
    return delta


def test_integrated_modes_converge_to_the_motion_of_the_modes_with_second_order(flexible):
    end, errors = 0.1, []
    first = FeedForward(flexible, 'flexible_hybrid')
    first.torque(swing(0.0))
    exact = exact_modes(flexible, first.state.delta, end, 500)
    for count in (25, 50):
        forward = FeedForward(flexible, 'flexible_hybrid', settings=ModalSettings(step=1.0))
        for k in range(count + 1):
            forward.torque(swing(end * k / count))
        errors.append(np.abs(forward.state.delta - exact)[0])
    assert errors[1] < 0.35 * errors[0]
    assert errors[1] < 0.01 * np.abs(exact).max()


def test_steps_longer_than_the_period_of_a_mode_stay_bounded():
    stiff = fd.Dynamics(fd.load_robot(flexible_arm(young=2e11, damping_ratio=0.0)))
    forward = FeedForward(stiff, 'flexible_hybrid', settings=ModalSettings(step=1.0))
    static = FeedForward(stiff, 'flexible_quasi_static')
    for k in range(40):
        forward.torque(swing(0.01 * k))
        static.torque(swing(0.01 * k))
    largest = np.abs(static.state.delta).max()
    assert np.abs(forward.state.delta - static.state.delta).max() < 0.5 * largest


def test_gaps_and_steps_back_in_time_restart_the_modes(flexible):
    for late in (10.0, -1.0):
        forward = FeedForward(flexible, 'flexible_hybrid')
        for k in range(4):
            forward.torque(swing(0.01 * k))
        assert np.abs(forward.state.rate).max() > 1e-3
        forward.torque(sample(late))
        static = FeedForward(flexible, 'flexible_quasi_static')
        static.torque(sample(late))
        assert np.array_equal(forward.state.rate, np.zeros(2))
        assert np.allclose(forward.state.delta, static.state.delta, atol=1e-9)


def test_the_method_damps_fast_vibrations_as_its_spectral_radius_says():
    for radius in (0.0, 0.5, 1.0):
        # Limit of infinite frequency: (1 - alpha_m) a1 + alpha_m a0 = 0 with alpha_f and the
        # displacement equation; its eigenvalues have the magnitude of the radius.
        h, stiffness = 1.0, 1e12
        matrix = amplification(radius, h, stiffness)
        assert np.abs(np.linalg.eigvals(matrix)).max() == pytest.approx(radius, abs=2e-3)


def amplification(radius, h, stiffness):
    """Return the matrix of one step for x'' = -stiffness x in (x, x', x'', averaged)."""
    columns = [
        np.concatenate(alpha_step(
            lambda x, v, a: [a[0] + stiffness * x[0]], ([[1.0]], [[0.0]], [[stiffness]]),
            unit.reshape(4, 1).tolist(), (h, radius), 1,
        )) for unit in np.eye(4)
    ]
    # Scaled so that deflection and acceleration are of one size at this stiffness.
    scaling = np.diag([stiffness, stiffness, 1.0, 1.0])
    return scaling @ np.array(columns).T @ np.linalg.inv(scaling)


def test_link_side_values_of_elastic_joints_are_motor_plus_spring():
    robot = fd.load_robot(elastic_joint_arm())
    coordinates = ArmCoordinates(robot, 'link')
    values, modes = np.array([0.5, 0.3]), np.array([0.1])
    q, qd = coordinates.configuration(values, modes), coordinates.join(values, modes)
    assert q.tolist() == qd.tolist() == [0.4, 0.3, 0.1]
    assert coordinates.link_side_positions(q).tolist() == [0.5, 0.3]
    assert coordinates.link_side_velocities(qd).tolist() == [0.5, 0.3]
    motor = ArmCoordinates(robot, 'motor')
    assert motor.configuration(values, modes).tolist() == [0.5, 0.3, 0.1]


def test_the_sentence_names_what_is_in_and_what_is_not():
    sentence = TorqueTerms(friction=False).sentence('rigid', 'zero')
    assert 'contains: gravity, coriolis, inertia; omitted: friction' in sentence
    assert 'gravity of the undeformed arm alone' in TorqueTerms().sentence('gravity', 'zero')


def test_a_quintic_motion_meets_both_ends():
    start, end = sample(1.0), sample(1.5, (0.5, 0.1), (-0.2, 0.3), (1.0, -2.0))
    motion = quintic_motion(start, end)
    for point in (start, end):
        found = motion(point.time)
        for name in ('q', 'qd', 'qdd'):
            assert np.allclose(getattr(found, name), getattr(point, name), atol=1e-12)
    h = 1e-5
    middle = motion(1.2)
    slope = (motion(1.2 + h).q - motion(1.2 - h).q) / (2 * h)
    assert np.allclose(slope, middle.qd, atol=1e-8)


def trajectory(times, names=('shoulder', 'elbow')):
    """Return an object with the fields of a JointTrajectory along the swing."""
    points = []
    for time in times:
        point = swing(time)
        points.append(SimpleNamespace(
            positions=point.q, velocities=point.qd, accelerations=point.qdd, effort=[],
            time_from_start=SimpleNamespace(sec=int(time), nanosec=round(time % 1 * 1e9)),
        ))
    return SimpleNamespace(joint_names=list(names), points=points)


def test_a_flexible_trajectory_has_the_torque_of_the_motion_between_its_points(flexible):
    efforts = []
    for times in (np.arange(0.0, 0.21, 0.02), np.arange(0.0, 0.21, 0.1)):
        forward = FeedForward(flexible, 'flexible_hybrid', settings=ModalSettings(step=0.002))
        filler = TrajectoryFiller(trajectory(times), forward, EffortLimits.none, None)
        assert sorted(set(filler.steps()) - {0}) == list(range(1, len(times) + 1))
        efforts.append(filler.filled.points[-1].effort)
    # Interpolation of fifth degree over 0.1 s is nearly the swing itself.
    assert np.allclose(efforts[0], efforts[1], rtol=0.02)


def test_times_that_do_not_increase_are_refused(flexible):
    forward = FeedForward(flexible, 'rigid')
    with pytest.raises(TrajectoryRefused, match='point 1 is not later than the previous one'):
        list(TrajectoryFiller(
            trajectory([0.1, 0.1]), forward, EffortLimits.none, None).steps())
    with pytest.raises(TrajectoryRefused, match='joint_names'):
        TrajectoryFiller(trajectory([0.1], ('shoulder', 'hip')), forward, EffortLimits.none, None)


def test_modes_without_stiffness_are_refused_by_name(flexible):
    class Soft:
        robot = flexible.robot
        elastic_vector = staticmethod(lambda q, qd: np.zeros(4))
        friction_vector = staticmethod(lambda qd: np.zeros(4))

    with pytest.raises(FlexdynError, match='upper/bending_z1'):
        FeedForward(Soft(), 'flexible_quasi_static')


def wave(joints, time, rate=6.0):
    """Return a sample of a smooth motion of all joints."""
    size = 0.3 * np.cos(np.arange(joints))
    phase = rate * time + 0.7 * np.arange(joints)
    return JointSample(time, size * np.sin(phase), size * rate * np.cos(phase),
                       -size * rate**2 * np.sin(phase))


@pytest.mark.parametrize(('text', 'mode', 'torque', 'deflection'), [
    (flexible_arm(), 'flexible_quasi_static', [-43.9179425, -5.603789878],
     [-0.1302667, -0.0044777401]),
    (flexible_arm(), 'flexible_hybrid', [-34.11834344, -3.456019945],
     [-0.087842357, -0.0027645284]),
    (elastic_joint_arm(), 'flexible_quasi_static', [-42.80474466, -5.81791024], [0.074504152]),
    (elastic_joint_arm(), 'flexible_hybrid', [-34.38118771, -4.209995367], [0.05553081]),
])
def test_results_are_those_of_an_iteration_to_convergence(text, mode, torque, deflection):
    """Computed by the integrator in Python that iterated each step to 1e-9 of the deflection."""
    forward = FeedForward(fd.Dynamics(fd.load_robot(text)), mode)
    for k in range(31):
        found = forward.torque(wave(2, 0.003 * k))
    assert found == pytest.approx(torque, rel=2e-6)
    assert forward.state.delta == pytest.approx(deflection, rel=2e-6)

# SPDX-License-Identifier: Apache-2.0
"""Torques and deflections of mechanisms whose actuated joints alone are known, without ROS."""

from types import SimpleNamespace

import flexdyn_ros as fd
from flexdyn_ros.errors import LoopsCannotClose, NotYetSupported
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.closed_motion import ClosedMotion
from flexdyn_ros.nodes.arm.joint_motion import JointSample, ModalState
from flexdyn_ros.nodes.arm.measured_state import MeasuredState
from flexdyn_ros.nodes.torque.driven_joints import EffortLimits
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.trajectory_filler import TrajectoryFiller
from mechanisms import described, dynamics, four_bar_motion
import numpy as np
import pytest

NAN = np.nan
MOTORS = ('motor1', 'motor2', 'motor3')


@pytest.fixture(scope='module')
def four_bar():
    """Return the dynamics of the rigid four-bar."""
    return dynamics(described('four_bar'))


@pytest.fixture(scope='module')
def bent_four_bar():
    """Return the dynamics of the four-bar with a coupler that bends."""
    return dynamics(described('four_bar', modes='2', young='2e9'))


def crank(angle, rate=0.0, acceleration=0.0, time=0.0):
    """Return a sample of which the crank alone is known."""
    values = ([value, NAN, NAN] for value in (angle, rate, acceleration))
    return JointSample(time, *map(np.array, values))


def test_the_crank_alone_tells_the_torque(four_bar):
    torque = FeedForward(four_bar, 'rigid').torque(crank(0.5, 2.0, 3.0))
    q, qd, qdd = four_bar_motion(four_bar, 0.5, 2.0, 3.0)
    np.testing.assert_allclose(torque, four_bar.inverse_dynamics(q, qd, qdd), atol=1e-9)
    assert np.array_equal(torque[1:], [0.0, 0.0])
    driven = four_bar.forward_dynamics(q, qd, torque)
    np.testing.assert_allclose(driven, qdd, rtol=1e-8, atol=1e-8)


def test_gravity_is_held_where_the_loops_put_the_passive_joints(four_bar):
    torque = FeedForward(four_bar, 'gravity').torque(crank(0.5, NAN, NAN))
    q, _, _ = four_bar_motion(four_bar, 0.5, 0.0, 0.0)
    still = four_bar.forward_dynamics(q, np.zeros(3), torque)
    np.testing.assert_allclose(still, np.zeros(3), atol=1e-9)
    assert abs(torque[0]) > 1e-2


def test_a_whole_turn_in_one_jump_stays_on_its_branch(four_bar):
    """The passive joints return to their former positions, turned with the crank or not."""
    follower = ClosedMotion(four_bar, ArmCoordinates(four_bar.robot))
    start = follower.completed(crank(0.3), ModalState.zero(0)).q
    turned = follower.completed(crank(0.3 + 2 * np.pi), ModalState.zero(0)).q
    np.testing.assert_allclose(turned - start, [2 * np.pi, -2 * np.pi, 0.0], atol=1e-9)


def test_measured_passive_joints_tell_the_branch(four_bar):
    """The other way to assemble the four-bar: the mirror image of coupler and rocker."""
    q, _, _ = four_bar_motion(four_bar, 0.5, 0.0, 0.0)
    other, _, _ = four_bar_motion(four_bar, 0.5, 0.0, 0.0, (-2.0, -2.5))
    assert np.abs(other - q).max() > 0.5
    measured = JointSample(0.0, other, np.zeros(3), np.zeros(3))
    follower = ClosedMotion(four_bar, ArmCoordinates(four_bar.robot))
    moved = follower.completed(measured, ModalState.zero(0))
    np.testing.assert_allclose(moved.q, other, atol=1e-9)


def test_where_the_loops_cannot_close_the_loop_is_named():
    """The rocker of a crank-rocker does not turn round."""
    text = described('four_bar').replace('<actuated joints="crank"/>',
                                         '<actuated joints="rocker"/>')
    forward = FeedForward(dynamics(text), 'rigid')
    sample = JointSample(0.0, *np.array([[NAN, NAN, 2.5], [0, 0, 0], [0, 0, 0]]))
    with pytest.raises(LoopsCannotClose, match='"pin" does not close'):
        forward.torque(sample)


def test_more_motors_than_degrees_of_freedom_share_the_torque():
    """Motors whose measured angles contradict each other a little are no error."""
    text = described('four_bar').replace('<actuated joints="crank"/>',
                                         '<actuated joints="crank rocker"/>')
    dyn = dynamics(text)
    q, qd, qdd = four_bar_motion(dyn, 0.5, 2.0, 3.0)
    noise = np.array([1e-7, NAN, -1e-7])
    forward = FeedForward(dyn, 'rigid')
    torque = forward.torque(JointSample(0.0, q + noise, qd + noise, qdd + noise))
    np.testing.assert_allclose(torque, dyn.inverse_dynamics(q, qd, qdd), atol=1e-4)
    assert min(abs(torque[0]), abs(torque[2])) > 1e-3
    assert not forward.base.problem
    forward.torque(JointSample(0.0, q + [0.1, NAN, 0.0], qd, qdd))
    assert 'actuated joints differ by 0.0' in forward.base.problem


def test_a_joint_that_the_loops_do_not_tell_must_be_measured():
    """A pendulum hangs from the rocker's end: passive, and in no loop."""
    pendulum = """<link name="bob"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="swing" type="continuous"><parent link="rocker_pin"/><child link="bob"/>
      <axis xyz="0 -1 0"/></joint><flexdyn """
    dyn = dynamics(described('four_bar').replace('<flexdyn ', pendulum))
    forward = FeedForward(dyn, 'rigid')
    assert set(forward.base.follows) == {'coupler', 'rocker'}
    at = dyn.robot.joint_names.index('swing')
    given = np.full((3, 4), NAN)
    given[:, 0], given[:2, at] = (0.5, 1.0, 2.0), (0.7, -1.5)
    sample = JointSample(0.0, *given)
    torque = forward.torque(sample)
    moved = forward.base.completed(sample, ModalState.zero(0))
    assert (moved.q[at], moved.qd[at]) == (0.7, -1.5)
    assert np.count_nonzero(torque) == 1
    driven = dyn.forward_dynamics(moved.q, moved.qd, torque)
    np.testing.assert_allclose(driven, moved.qdd, rtol=1e-7, atol=1e-7)
    assert driven[0] == pytest.approx(2.0, abs=1e-8)


def test_a_free_body_recoils_from_the_mechanism_that_it_carries():
    body = """<link name="space"/><link name="hull"><inertial><mass value="5"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="flight" type="floating"><parent link="space"/><child link="hull"/></joint>
      <joint name="mount" type="fixed"><parent link="hull"/><child link="base"/></joint>
      <link name="base"/>"""
    dyn = dynamics(described('four_bar').replace('<link name="base"/>', body))
    names = dyn.robot.joint_names
    forward = FeedForward(dyn, 'rigid', free=names[:6])
    q = np.concatenate((dyn.robot.neutral_configuration()[:7], [0.5, NAN, NAN]))
    qd, qdd = np.full(9, NAN), np.full(9, NAN)
    qd[:7], qdd[6] = [0.1, 0.0, -0.2, 0.3, 0.2, 0.1, 2.0], 3.0
    sample = JointSample(0.0, q, qd, qdd)
    torque, moved = forward.torque(sample), forward.base.completed(sample, ModalState.zero(0))
    np.testing.assert_allclose(torque[:6], np.zeros(6), atol=1e-8)
    driven = dyn.forward_dynamics(moved.q, moved.qd, torque)
    np.testing.assert_allclose(driven, moved.qdd, rtol=1e-7, atol=1e-7)
    assert driven[6] == pytest.approx(3.0, abs=1e-7)


def test_at_the_quasi_static_deflection_the_mechanism_stays_at_rest(bent_four_bar):
    """Forward dynamics under the torque of the crank finds no acceleration there."""
    dyn = bent_four_bar
    forward = FeedForward(dyn, 'flexible_quasi_static')
    torque = forward.torque(crank(0.5, 0.0, 0.0))
    moved = forward.base.completed(crank(0.5, 0.0, 0.0), forward.state)
    q = np.concatenate((moved.q, forward.state.delta))
    assert np.abs(forward.state.delta).max() > 1e-3
    tau = np.concatenate((torque, np.zeros(2)))
    still = dyn.forward_dynamics(q, np.zeros(5), tau)
    np.testing.assert_allclose(still, np.zeros(5), atol=1e-5)
    assert np.abs(dyn.loop_gaps(q)).max() < 1e-9


def test_the_deflection_has_the_least_energy_of_all_closed_ones(bent_four_bar):
    """Gravity and springs alone: the potential energy is smallest along the loops."""
    dyn = bent_four_bar
    forward = FeedForward(dyn, 'flexible_quasi_static')
    forward.torque(crank(0.5, 0.0, 0.0))
    best = forward.state.delta

    def energy(delta):
        state = ModalState(delta, np.zeros(2), np.zeros(2))
        closed = forward.base.completed(crank(0.5, 0.0, 0.0), state).q
        return dyn.potential_energy(np.concatenate((closed, delta)))

    lowest = energy(best)
    for way in ([2e-4, 0], [-2e-4, 0], [0, 1e-4], [0, -1e-4], [2e-4, 1e-4], [-2e-4, -1e-4]):
        assert energy(best + way) > lowest


def test_vibrating_modes_agree_with_hybrid_dynamics(bent_four_bar):
    dyn = bent_four_bar
    forward = FeedForward(dyn, 'flexible_hybrid')
    for k in range(4):
        time = 0.004 * k
        s, c = np.sin(6 * time), np.cos(6 * time)
        sample = crank(0.3 * (1 - c), 1.8 * s, 10.8 * c, time)
        torque = forward.torque(sample)
        moved, state = forward.base.completed(sample, forward.state), forward.state
        tau, modal = dyn.hybrid_dynamics(
            np.concatenate((moved.q, state.delta)), np.concatenate((moved.qd, state.rate)),
            [sample.qdd[0], 0.0, 0.0],
        )
        np.testing.assert_allclose(torque, tau, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(modal, state.acceleration, rtol=1e-5, atol=1e-4)


def test_motors_of_a_delta_with_a_bending_arm_hold_it_at_rest():
    dyn = dynamics(described('delta'))
    robot = dyn.robot
    forward = FeedForward(dyn, 'flexible_quasi_static')
    q = np.full(15, NAN)
    q[[robot.joint_names.index(name) for name in MOTORS]] = 0.1, -0.05, 0.2
    sample = JointSample(0.0, q, np.zeros(15), np.zeros(15))
    torque = forward.torque(sample)
    assert np.count_nonzero(torque) == 3
    at = np.concatenate((forward.base.completed(sample, forward.state).q, forward.state.delta))
    assert np.abs(forward.state.delta).max() > 1e-4
    still = dyn.forward_dynamics(at, np.zeros(17), [*torque, 0.0, 0.0])
    np.testing.assert_allclose(still, np.zeros(17), atol=1e-5)


def test_bending_that_the_loops_hold_is_refused_by_name():
    text = described('four_bar', modes='1', constrain='rx rz tx ty tz')
    dyn = dynamics(text.replace('bending axis="z"', 'bending axis="y"'))
    with pytest.raises(NotYetSupported, match='coupler/bending_y1, which the loops prevent'):
        FeedForward(dyn, 'flexible_quasi_static')
    assert abs(FeedForward(dyn, 'rigid').torque(crank(0.5, 0.0, 0.0))[0]) > 1e-2


def test_a_trajectory_of_the_crank_alone_is_filled(four_bar):
    times = np.arange(0.0, 1.01, 0.25)
    points = [
        SimpleNamespace(
            positions=[8.0 * t], velocities=[8.0], accelerations=[0.0], effort=[],
            time_from_start=SimpleNamespace(sec=int(t), nanosec=round(t % 1 * 1e9)),
        )
        for t in times
    ]
    trajectory = SimpleNamespace(joint_names=['crank'], points=points)
    filler = TrajectoryFiller(trajectory, FeedForward(four_bar, 'rigid'), EffortLimits.none, None)
    assert list(filler.steps())[-1] == len(times)
    passive = (0.0, 0.0)
    for time, point in zip(times, filler.filled.points):
        for part in np.linspace(max(0.0, time - 0.25), time, 30):
            q, qd, qdd = four_bar_motion(four_bar, 8.0 * part, 8.0, 0.0, passive)
            passive = q[1:]
        expected = four_bar.inverse_dynamics(q, qd, qdd)[0]
        assert point.effort[0] == pytest.approx(expected, abs=1e-8)


def test_states_of_joints_that_follow_may_be_missing_and_are_used_while_they_come(four_bar):
    coordinates = ArmCoordinates(four_bar.robot)
    measured = MeasuredState(coordinates, optional=('coupler', 'rocker'))
    header = SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=0))

    def take(names, values, now):
        measured.take_joint_states(
            SimpleNamespace(header=header, name=names, position=values, velocity=values), now)

    assert measured.problems(0.0, 1.0) == {'crank': 'never received'}
    take(['crank'], [0.5], 1.0)
    assert measured.complete
    assert measured.age(1.5) == 0.5
    np.testing.assert_array_equal(measured.without_left_out(1.5, 1.0)[0], [0.5, NAN, NAN])
    take(['crank', 'coupler'], [0.6, 0.7], 2.0)
    np.testing.assert_array_equal(measured.without_left_out(2.5, 1.0)[1], [0.6, 0.7, NAN])
    take(['crank'], [0.8], 4.0)
    np.testing.assert_array_equal(measured.without_left_out(4.0, 1.0)[0], [0.8, NAN, NAN])
    assert measured.problems(4.0, 1.0) == {}


def test_an_open_tree_follows_nothing():
    assert FeedForward(fd.Dynamics(fd.load_robot(described('two_link_arm')))).base.follows == ()

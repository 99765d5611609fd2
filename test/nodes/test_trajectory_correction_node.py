# SPDX-License-Identifier: Apache-2.0
"""The node between a planner and a controller, with both in the test's process."""

import threading
import time

import flexdyn_ros as fd
from flexdyn_ros.nodes.positions import position_correction
from flexdyn_ros.position_correction import CorrectedMotion
from node_in_process import overrides
import numpy as np
import pytest
from rclpy.action import ActionClient
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

FollowJointTrajectory = pytest.importorskip(
    'control_msgs.action',
    reason='control_msgs is not here: `make test` builds it where a C++ compiler is installed',
).FollowJointTrajectory
from action_msgs.msg import GoalStatus  # noqa: E402, I100
from control_msgs.msg import JointTolerance  # noqa: E402
from flexdyn_ros.nodes.positions.controller_goals import rigid_feedback  # noqa: E402
from planner_bench import Bench, NAMES, plan, ROBOT, seconds, START, STEP  # noqa: E402

pytestmark = pytest.mark.ros
ALLOWED_START_TOLERANCE = 0.01  # of MoveIt's trajectory execution [rad]


@pytest.fixture(scope='module')
def bench():
    made = Bench()
    yield made
    made.close()


def lead(q):
    """Return the static distance of the motors from the links: torque over stiffness."""
    torque = fd.Dynamics(fd.load_robot(ROBOT), 'reference').gravity_vector([*q, 0.0])[0]
    return np.array([torque / 2500.0, 0.0])


def test_two_plans_in_a_row(bench):
    """The second one starts at the planner's arm, within MoveIt's start tolerance."""
    start, end = bench.state(), np.array([0.2, 0.1])
    command = bench.controller.position.tolist()
    assert command == pytest.approx(start + lead(start), abs=1e-6)
    assert np.abs(command - start).max() > ALLOWED_START_TOLERANCE / 2
    handle = bench.send(plan(start, end))
    assert handle.accepted
    sent = bench.controller.goals[-1].trajectory
    assert sent.points[0].positions.tolist() == command
    answer = bench.result(handle)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.error_code == FollowJointTrajectory.Result.SUCCESSFUL
    assert 'corrected by up to' in answer.result.error_string
    # Feedback is of the rigid arm, in the time of the plan.
    middle = bench.feedback[len(bench.feedback) // 2].feedback
    t = seconds(middle.actual.time_from_start)
    assert 0.0 < t < 0.5
    assert middle.actual.positions == pytest.approx(
        start + (end - start) * STEP(t / 0.5), abs=1e-3)
    assert seconds(bench.feedback[-1].feedback.actual.time_from_start) == pytest.approx(0.5)
    assert bench.feedback[-1].feedback.actual.positions == pytest.approx(end, abs=1e-6)
    # Positions of the motors and the arm.
    reached = bench.state()
    assert reached == pytest.approx(end, abs=1e-6)
    assert bench.controller.position == pytest.approx(end + lead(end), abs=1e-6)
    last = bench.controller.goals[-1].trajectory.points[-1].positions
    back = plan(reached, START)
    assert np.abs(np.array(back.trajectory.points[0].positions) - reached).max() <= \
        ALLOWED_START_TOLERANCE
    handle = bench.send(back)
    assert handle.accepted
    assert bench.controller.goals[-1].trajectory.points[0].positions == last
    assert bench.result(handle).status == GoalStatus.STATUS_SUCCEEDED
    # A planner that reads the motors' joint states is accepted too.
    handle = bench.send(plan(bench.controller.position, end))
    assert handle.accepted
    bench.wait_for(lambda: bench.node._goals.execution)
    bench.refused(plan(start, end), 'still executed')
    assert bench.result(handle).status == GoalStatus.STATUS_SUCCEEDED
    assert bench.state() == pytest.approx(end, abs=1e-6)


def test_a_cancelled_motion_stops_on_its_path_within_its_limits(bench):
    start = bench.state()
    end = start + np.array([-0.8, 0.5])
    bench.controller.track.clear()
    # Long enough for a late cancellation on a busy machine.
    handle = bench.send(plan(start, end, 5.0))
    assert handle.accepted
    whole = bench.controller.goals[-1].trajectory
    bench.wait_for(lambda: bench.controller.track and bench.controller.track[-1][0] > 1.0)
    future = handle.cancel_goal_async()
    bench.wait_for(lambda: bench.node._goals.execution.stopping)
    bench.node._goals.halt(bench.node._goals.execution)  # as a deactivation meanwhile does
    answer = bench.result(handle)
    assert not bench.node.failures
    assert future.done() and len(future.result().goals_canceling) == 1
    assert answer.status == GoalStatus.STATUS_CANCELED
    halted = bench.controller.goals[-1].trajectory
    assert seconds(halted.header.stamp) == pytest.approx(seconds(whole.header.stamp), abs=1e-3)
    largest = np.abs([point.accelerations for point in whole.points]).max(axis=0)
    assert (np.abs([point.accelerations for point in halted.points]) <= 1.31 * largest).all()
    t, q = (np.array(each) for each in zip(*bench.controller.track))
    speed = np.abs(np.diff(q, axis=0)).max(axis=1)
    # No jump where the goal was replaced: no faster than the whole motion.
    fastest = np.abs([point.velocities for point in whole.points]).max()
    assert (speed <= 1.1 * fastest * np.diff(t) + 1e-6).all()
    reached = bench.state()
    assert start[0] > reached[0] > end[0] + 0.05
    # On the straight line of the plan, and from there on a further one is accepted.
    share = (reached - start) / (end - start)
    assert share[0] == pytest.approx(share[1], abs=0.02)
    bench.succeeds(bench.send(plan(reached, start)))


def test_a_controller_that_slows_down_is_stopped_where_it_is(bench):
    """As with speed scaling: its time is that of its feedback, not the clock's."""
    start = bench.state()
    end = start + np.array([0.6, -0.4])
    bench.controller.track.clear()
    bench.feedback.clear()
    bench.controller.speed = 0.5
    handle = bench.send(plan(start, end, 4.0))
    assert handle.accepted
    given = bench.wait_for(lambda: next((
        each.feedback.actual for each in bench.feedback
        if seconds(each.feedback.actual.time_from_start) > 1.5), None))
    t = seconds(given.time_from_start)
    # To the distance of two points of the controller's goal.
    assert given.positions == pytest.approx(start + (end - start) * STEP(t / 4.0), abs=5e-3)
    moved = bench.controller.position.copy()
    handle.cancel_goal_async()
    assert bench.result(handle).status == GoalStatus.STATUS_CANCELED
    bench.controller.speed = 1.0
    # Without a jump to the time of the clock.
    q = np.array([each[1] for each in bench.controller.track])
    assert np.abs(np.diff(q, axis=0)).max() < 0.3 * np.abs(end - start).max()
    reached = bench.state()
    assert start[0] < moved[0] < reached[0] < end[0] - 0.05
    bench.succeeds(bench.send(plan(reached, start)))


def test_a_goal_that_has_not_begun_is_cancelled_at_once(bench):
    """It has a stamp in the future; the arm stays where it is."""
    start = bench.state()
    goal = plan(start, start + 0.3)
    goal.trajectory.header.stamp.sec = 2**31 - 1
    handle = bench.send(goal)
    assert handle.accepted
    count = len(bench.controller.goals)
    handle.cancel_goal_async()
    assert bench.result(handle).status == GoalStatus.STATUS_CANCELED
    assert len(bench.controller.goals) == count
    assert bench.state() == pytest.approx(start, abs=1e-9)


def nonsense():
    """Return goals that no arm follows, with the reason."""
    away = START + np.array([0.3, 0.1])
    for field in ('positions', 'velocities'):
        goal = plan(START, away)
        getattr(goal.trajectory.points[3], field)[0] = np.nan
        yield goal, f'point 3 has {field} that are not finite'
    goal = plan(START, away)
    goal.trajectory.points[4].positions = [0.0]
    yield goal, 'point 4 has 1 positions, expected 2'
    goal = plan(START, away)
    goal.trajectory.points[5].time_from_start = goal.trajectory.points[4].time_from_start
    yield goal, 'point 5 is not later'
    goal = plan(START, away)
    goal.trajectory.joint_names = ['shoulder', 'knee']
    yield goal, 'knee'
    yield FollowJointTrajectory.Goal(), 'no joints or no points'
    goal = plan(START, away)
    goal.trajectory.points.pop()
    yield goal, 'last point has the velocities'
    yield plan(START + 0.1, away), 'starts 0.1'
    yield plan(START, away + np.array([0.0, 9.0])), 'beyond its position limits'
    goal = plan(START, away)
    goal.trajectory.points[-1].time_from_start.sec = 10**9
    yield goal, 'max_duration'
    goal = plan(START, away)
    goal.trajectory.header.stamp.sec = 1
    yield goal, 'in the past'
    goal = plan(START, away)
    goal.multi_dof_trajectory.joint_names = ['base']
    yield goal, 'several degrees of freedom'


def test_what_cannot_be_followed_is_refused_with_its_reason(bench):
    bench.controller.position = START.copy()
    bench.state()
    count = len(bench.controller.goals)
    for goal, why in nonsense():
        bench.refused(goal, why)
    fine = plan(START, START + 0.2)
    bench.node.set_parameters(overrides({'correction.max_correction': 1e-4}))
    bench.refused(fine, 'more than max_correction 0.0001')
    bench.node.set_parameters(overrides({'correction.max_correction': 0.05}))
    bench.controller.refuses = True
    bench.refused(fine, 'the controller rejects the corrected trajectory')
    bench.controller.refuses = False
    bench.controller.silent = True
    bench.node.set_parameters(overrides({'timeout': 0.05}))
    end = time.monotonic() + 0.2
    bench.wait_for(lambda: time.monotonic() > end)
    bench.refused(fine, 'the present command is unknown')
    bench.controller.silent = False
    bench.node.set_parameters(overrides({'timeout': 5.0}))
    bench.state()
    assert len(bench.controller.goals) == count
    assert not bench.node.failures
    bench.succeeds(bench.send(fine))


def test_the_node_works_while_a_goal_is_corrected(bench, monkeypatch):
    """It publishes joint states; a correction that takes too long is refused, and ends."""
    begun, gate, ended = (threading.Event() for _ in range(3))

    def slow(*arguments):
        begun.set()
        gate.wait()
        try:
            arguments[-1](0.5)  # the next step of its work
        finally:
            ended.set()

    monkeypatch.setattr(position_correction, 'corrected_positions', slow)
    bench.node.set_parameters(overrides({'correction.timeout': 0.5}))
    start = bench.state()
    answer = bench.action.send_goal_async(plan(start, start + 0.1))
    bench.wait_for(begun.is_set)
    bench.states.clear()
    bench.wait_for(lambda: len(bench.states) > 3)
    assert not answer.done()
    assert not bench.wait_for(lambda: answer.done() and answer.result()).accepted
    assert 'takes more than correction.timeout 0.5 s' in (
        bench.node.diagnostic_values()['last_refusal'])
    monkeypatch.undo()
    bench.node.set_parameters(overrides({'correction.timeout': 30.0}))
    # The next goal waits for the end of a cancelled one.
    answer = bench.action.send_goal_async(plan(start, start + 0.1))
    bench.states.clear()
    bench.wait_for(lambda: len(bench.states) > 3)
    assert not answer.done() and not ended.is_set()
    gate.set()
    bench.succeeds(bench.wait_for(lambda: answer.done() and answer.result()))
    assert ended.is_set()


def test_as_a_process_it_serves_the_planner_and_ends_cleanly(probe, start):
    states = probe.listen(JointState, '/alone/trajectory_correction_node/joint_states')
    node = start(
        'trajectory_correction_node', {'robot_description': ROBOT}, ['-r', '__ns:=/alone'])
    message = JointState(name=NAMES, position=START.tolist(), velocity=[0.0, 0.0])
    probe.wait_for(lambda: states, 'rigid joint states',
                   lambda: probe.publish('/alone/joint_states', message))
    assert START - states[-1].position == pytest.approx(lead(states[-1].position), abs=1e-6)
    client = ActionClient(
        probe.node, FollowJointTrajectory,
        '/alone/trajectory_correction_node/follow_joint_trajectory')
    probe.wait_for(client.server_is_ready, 'the action')
    answer = client.send_goal_async(plan(START, START + 0.1))
    probe.wait_for(lambda: answer.done() and answer.result(), 'an answer')
    assert not answer.result().accepted
    # There is no controller.
    assert 'joint_trajectory_controller/follow_joint_trajectory is not there' in node.log
    client.destroy()


def test_the_time_tolerance_is_stretched_as_the_motion_is(bench):
    bench.node.set_parameters(overrides({'correction.max_acceleration': 4.0}))
    start = bench.state()
    goal = plan(start, start - 0.2)
    goal.goal_time_tolerance.nanosec = 300_000_000
    goal.path_tolerance = [JointTolerance(name='elbow', position=0.1)]
    handle = bench.send(goal)
    assert handle.accepted
    bench.node.set_parameters(overrides({'correction.max_acceleration': 0.0}))
    sent = bench.controller.goals[-1]
    scale = bench.node._goals.execution.motion.scale
    assert scale > 1.1
    assert seconds(sent.goal_time_tolerance) == pytest.approx(0.3 * scale, abs=1e-6)
    assert sent.path_tolerance == goal.path_tolerance
    accelerations = np.array([point.accelerations for point in sent.trajectory.points])
    assert np.abs(accelerations).max() <= 4.0
    assert bench.result(handle).status == GoalStatus.STATUS_SUCCEEDED


def test_feedback_of_joints_that_the_goal_lacks_passes_through():
    """Controllers name all their joints in the feedback on goals of some."""
    t = np.array([0.0, 1.0])
    motion = CorrectedMotion(
        ('elbow', 'shoulder'), t, np.array([[0.2, 0.1], [0.2, 0.1]]), *np.zeros((2, 2, 2)),
        np.zeros((2, 2)), t, 1.0, (), 0.0)
    given = FollowJointTrajectory.Feedback(joint_names=['rail', 'shoulder', 'elbow'])
    given.actual.positions = [3.0, 0.6, 0.7]
    found = rigid_feedback(given, motion, 0.5)
    assert found.joint_names == given.joint_names
    assert found.actual.positions == pytest.approx([3.0, 0.5, 0.5])


def test_stamps_that_do_not_run_forward_are_dropped_and_counted(bench):
    """A driver that repeats its last message does not keep the state fresh."""
    bench.controller.silent = True
    entry = bench.node.measured.entries['shoulder']
    message = JointState(name=NAMES, position=bench.controller.position.tolist())
    message.header.stamp = bench.node.get_clock().now().to_msg()
    send = bench.node.joint_states[1].callback
    send(serialize_message(message))
    received = entry.received
    send(serialize_message(message))
    assert entry.received == received
    message.header.stamp.sec -= 9
    send(serialize_message(message))
    message.header.stamp.sec += 99
    send(serialize_message(message))
    assert entry.received == received
    values = bench.node.diagnostic_values()
    assert values['dropped/stamp_runs_back'] == values['dropped/stamp_in_future'] == 1
    assert 's in the future' in bench.message
    bench.controller.silent = False
    bench.state()


def test_a_node_that_ends_while_the_controller_answers_leaves_no_goal(bench):
    """The controller's goal is cancelled, and the planner's refused."""
    start = bench.state()
    sent, node = bench.node._goals._sent, bench.node
    bench.node._goals._sent = lambda goal: (sent(goal), node.trigger_deactivate())[0]
    bench.refused(plan(start, start + 0.3), 'not active any more')
    bench.node._goals._sent = sent
    bench.wait_for(lambda: not bench.controller._active)
    node.trigger_activate()
    reached = bench.state()
    assert np.abs(reached - start).max() < 0.2
    bench.succeeds(bench.send(plan(reached, start)))

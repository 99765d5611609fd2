# SPDX-License-Identifier: Apache-2.0
"""The node between a planner and a controller, with both in the test's process."""

import time

from arms import elastic_joint_arm
import flexdyn_ros as fd
from node_in_process import overrides
import numpy as np
import pytest
import rclpy
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.executors import SingleThreadedExecutor
from scipy.interpolate import BPoly
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

FollowJointTrajectory = pytest.importorskip(
    'control_msgs.action',
    reason='control_msgs is not here: `make test` builds it where a C++ compiler is installed',
).FollowJointTrajectory
from action_msgs.msg import GoalStatus  # noqa: E402, I100
from control_msgs.msg import JointTolerance  # noqa: E402
from flexdyn_ros.nodes.trajectory_correction_node import TrajectoryCorrectionNode  # noqa: E402

pytestmark = pytest.mark.ros
NAMES = ['shoulder', 'elbow']
START = np.array([-0.3, 0.6])
ROBOT = elastic_joint_arm(stiffness=2500.0)
ALLOWED_START_TOLERANCE = 0.01  # of MoveIt's trajectory execution [rad]
STEP = np.poly1d([70.0, -315.0, 540.0, -420.0, 126.0, 0.0, 0.0, 0.0, 0.0, 0.0])
LIMIT = 60.0


def seconds(each):
    return each.sec + 1e-9 * each.nanosec


class Controller:
    """
    Ideal motors behind the action of a joint_trajectory_controller.

    As that one it checks goals, samples quintics, replaces a goal by a newer one, and holds the
    position when it is cancelled.

    Attributes:
        goals: Those that were accepted.
        track: Times and commanded positions.
    """

    def __init__(self, context):
        """Stand at START."""
        self.node = rclpy.create_node('joint_trajectory_controller', context=context)
        self.goals, self.track, self.refuses, self.silent = [], [], False, False
        self.position, self._active = START.copy(), None
        self._states = self.node.create_publisher(JointState, '/joint_states', 1)
        self._server = ActionServer(
            self.node, FollowJointTrajectory, '~/follow_joint_trajectory', self._finish,
            goal_callback=self._check, handle_accepted_callback=self._start,
            cancel_callback=lambda goal: CancelResponse.ACCEPT)
        self.node.create_timer(0.005, self._step)

    def _check(self, goal):
        points = goal.trajectory.points
        times = [seconds(point.time_from_start) for point in points]
        fine = (
            not self.refuses and goal.trajectory.joint_names == NAMES
            and (np.diff(times) > 0.0).all() and not any(points[-1].velocities))
        return GoalResponse.ACCEPT if fine else GoalResponse.REJECT

    def _start(self, handle):
        if self._active:
            self._end('aborted')
        goal = handle.request
        self.goals.append(goal)
        rows = [np.array([getattr(p, field) for p in goal.trajectory.points])
                for field in ('positions', 'velocities', 'accelerations')]
        times = [seconds(point.time_from_start) for point in goal.trajectory.points]
        path = BPoly.from_derivatives(times, np.stack(rows, 1))
        self._active = handle, seconds(goal.trajectory.header.stamp), times[-1], path

    def _end(self, how):
        handle, self._active = self._active[0], None
        self._how = how
        handle.execute()

    def _finish(self, handle):
        if handle.is_cancel_requested:
            handle.canceled()
        elif self._how == 'succeeded':
            handle.succeed()
        else:
            handle.abort()
        return FollowJointTrajectory.Result()

    def _step(self):
        now = self.node.get_clock().now()
        if self._active:
            handle, start, end, path = self._active
            t = min(max(1e-9 * now.nanoseconds - start, 0.0), end)
            self.position = path(t)
            self.track.append((t, self.position))
            feedback = FollowJointTrajectory.Feedback(joint_names=NAMES)
            feedback.desired.positions = feedback.actual.positions = self.position.tolist()
            feedback.desired.velocities = feedback.actual.velocities = path(t, 1).tolist()
            feedback.error.positions = [0.0, 0.0]
            feedback.header.stamp = now.to_msg()
            handle.publish_feedback(feedback)
            if handle.is_cancel_requested or t >= end:
                self._end('succeeded')
        if not self.silent:
            message = JointState(name=NAMES)
            message.header.stamp = now.to_msg()
            message.position, message.velocity = self.position.tolist(), [0.0, 0.0]
            self._states.publish(message)


class Bench:
    """The node, a controller and a planner in one executor."""

    def __init__(self):
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = TrajectoryCorrectionNode(context=self._context, parameter_overrides=overrides(
            {'robot_description': ROBOT, 'autostart': False, 'stop_delay': 0.02,
             'controller_timeout': 10.0, 'timeout': 5.0}))
        self.node.trigger_configure()
        self.node.trigger_activate()
        assert self.node.active
        self.controller = Controller(self._context)
        self.planner = rclpy.create_node('planner', context=self._context)
        self.states, self.feedback = [], []
        self.planner.create_subscription(
            JointState, '/trajectory_correction_node/joint_states', self.states.append, 10)
        self.action = ActionClient(
            self.planner, FollowJointTrajectory,
            'trajectory_correction_node/follow_joint_trajectory')
        self._executor = SingleThreadedExecutor(context=self._context)
        for each in (self.node, self.controller.node, self.planner):
            self._executor.add_node(each)
        self.wait_for(self.action.server_is_ready)
        self.wait_for(lambda: self.node._goals.controller_is_there)
        self.wait_for(lambda: self.states)

    def wait_for(self, condition):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.01)
            value = condition()
            if value:
                return value
        raise AssertionError(f'not within {LIMIT} s; diagnostics: {self.message}')

    @property
    def message(self):
        return self.node.diagnostics._message

    def state(self):
        """Return where the planner sees the arm, at rest."""
        self.states.clear()
        return np.array(self.wait_for(lambda: len(self.states) > 3 and self.states)[-1].position)

    def send(self, goal):
        """Send a goal and return its handle."""
        future = self.action.send_goal_async(goal, feedback_callback=self.feedback.append)
        return self.wait_for(lambda: future.done() and future.result())

    def result(self, handle):
        future = handle.get_result_async()
        return self.wait_for(lambda: future.done() and future.result())

    def refused(self, goal, why):
        """Assert that a goal is refused, and that diagnostics have the reason."""
        assert not self.send(goal).accepted
        refusal = self.node.diagnostic_values()['last_refusal']
        assert refusal.startswith('goal refused: ') and why in refusal

    def close(self):
        self._executor.shutdown()
        self.node.end()
        for each in (self.planner, self.controller.node, self.node):
            each.destroy_node()
        rclpy.shutdown(context=self._context)


def plan(start, end, duration=0.5):
    """Return a goal from rest to rest."""
    goal = FollowJointTrajectory.Goal()
    goal.trajectory = JointTrajectory(joint_names=NAMES)
    for t in np.linspace(0.0, duration, 26):
        rows = [(end - start) * STEP.deriv(k)(t / duration) / duration**k for k in range(3)]
        rows[0] = rows[0] + start
        point = JointTrajectoryPoint()
        point.positions, point.velocities, point.accelerations = (row.tolist() for row in rows)
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(1e9 * t), 10**9)
        goal.trajectory.points.append(point)
    return goal


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
    """The second one starts where the planner sees the arm, within MoveIt's start tolerance."""
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
    # Where the motors and the arm stand.
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
    # A planner that sees the motors' joint states is accepted too.
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
    answer = bench.result(handle)
    assert future.done() and len(future.result().goals_canceling) == 1
    assert answer.status == GoalStatus.STATUS_CANCELED
    halted = bench.controller.goals[-1].trajectory
    assert halted.header.stamp == whole.header.stamp
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
    handle = bench.send(plan(reached, start))
    assert handle.accepted
    assert bench.result(handle).status == GoalStatus.STATUS_SUCCEEDED


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
    handle = bench.send(fine)
    assert handle.accepted
    assert bench.result(handle).status == GoalStatus.STATUS_SUCCEEDED


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

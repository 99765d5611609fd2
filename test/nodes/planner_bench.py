# SPDX-License-Identifier: Apache-2.0
"""The node that corrects goals, a controller and a planner, in one process and executor."""

import time

from action_msgs.msg import GoalStatus
from arms import elastic_joint_arm
from contexts import end_context, new_context
from control_msgs.action import FollowJointTrajectory
from flexdyn_ros.nodes.trajectory_correction_node import TrajectoryCorrectionNode
from node_in_process import overrides
import numpy as np
import rclpy
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.executors import SingleThreadedExecutor
from scipy.interpolate import BPoly
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

NAMES = ['shoulder', 'elbow']
START = np.array([-0.3, 0.6])
ROBOT = elastic_joint_arm(stiffness=2500.0)
STEP = np.poly1d([70.0, -315.0, 540.0, -420.0, 126.0, 0.0, 0.0, 0.0, 0.0, 0.0])
LIMIT = 60.0


def seconds(each):
    return each.sec + 1e-9 * each.nanosec


class Controller:
    """
    Ideal motors behind the action of a joint_trajectory_controller.

    As that one it checks goals, samples quintics, replaces a goal by a newer one, and holds the
    position when it is cancelled. The time in its feedback is that of the next point.

    Attributes:
        goals: Those that were accepted.
        track: Times and commanded positions.
        speed: Rate at which the time of a goal passes.
    """

    def __init__(self, context):
        """Stand at START."""
        self.node = rclpy.create_node('joint_trajectory_controller', context=context)
        self.goals, self.track, self.refuses, self.silent = [], [], False, False
        self.position, self._active, self.speed = START.copy(), None, 1.0
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
        start = seconds(goal.trajectory.header.stamp)
        # From the first sample on, time passes at the speed.
        begun = max(1e-9 * self.node.get_clock().now().nanoseconds, start)
        self._active = handle, start, times[-1], path, begun

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
            handle, start, end, path, begun = self._active
            passed = begun - start + self.speed * (1e-9 * now.nanoseconds - begun)
            t = min(max(passed, 0.0), end)
            self.position = path(t)
            self.track.append((t, self.position))
            feedback = FollowJointTrajectory.Feedback(joint_names=NAMES)
            feedback.desired.positions = feedback.actual.positions = self.position.tolist()
            feedback.desired.velocities = feedback.actual.velocities = path(t, 1).tolist()
            feedback.error.positions = [0.0, 0.0]
            ahead = path.x[min(np.searchsorted(path.x, t, 'right'), len(path.x) - 1)]
            of_next = feedback.desired.time_from_start
            of_next.sec, of_next.nanosec = divmod(round(1e9 * ahead), 10**9)
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
        self._context = new_context()
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
        """Return the position of the arm at rest in the planner's messages."""
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

    def succeeds(self, handle):
        """Assert that a goal is accepted and reached."""
        assert handle.accepted
        assert self.result(handle).status == GoalStatus.STATUS_SUCCEEDED

    def close(self):
        self._executor.shutdown()
        self.node.end()
        end_context(self._context, self.planner, self.controller.node, self.node)


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

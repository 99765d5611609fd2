# SPDX-License-Identifier: Apache-2.0
"""Goals of a planner that a controller follows corrected."""

from __future__ import annotations

from dataclasses import dataclass
import time
from typing import Any, Optional

from action_msgs.msg import GoalStatus
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.times import NANOSECONDS, nanoseconds
from flexdyn_ros.nodes.common.diagnostics import ERROR
from flexdyn_ros.nodes.positions.controller_goals import controller_goal, rigid_feedback
from flexdyn_ros.position_correction import CorrectedMotion
from flexdyn_ros.position_correction.stop import stopped
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.task import Future
from rclpy.time import Time

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:
    FollowJointTrajectory = None


@dataclass
class Execution:
    """
    A motion that the controller follows.

    Attributes:
        motion: The motion.
        start: Time of its start, on the node's clock [ns].
        given: The goal as the planner sent it.
        controller: The controller's goal.
        planner: The planner's goal; None until it is accepted.
        stopping: Whether it is being brought to rest.
        late: Time by which the controller is behind the clock, as one with speed scaling [ns].
    """

    motion: CorrectedMotion
    start: int
    given: Any
    controller: Any
    planner: Any = None
    stopping: bool = False
    late: int = 0


class GoalProxy:
    """
    Takes goals for a rigid arm, one at a time, and has a controller follow corrected ones.

    Attributes:
        execution: The motion that the controller follows, or None.
        refused: Number of goals that were refused.
        refusal: The reason of the last refusal; empty for none.
    """

    def __init__(self, node: Any):
        """
        Create the action and its client.

        Args:
            node: A TrajectoryCorrectionNode.
        """
        self.execution: Optional[Execution] = None
        self.refused, self.refusal = 0, ''
        self._node = node
        self._outcome = 0, '', GoalStatus.STATUS_UNKNOWN
        self._deadlines: list[tuple[float, Future]] = []
        on_goal = node._guarded('goal', self._on_goal, lambda goal: GoalResponse.REJECT)
        self._client: Any = ActionClient(
            node, FollowJointTrajectory, node.parameters['controller_action'])
        self._server = ActionServer(
            node, FollowJointTrajectory, '~/follow_joint_trajectory', self._finish,
            goal_callback=on_goal, handle_accepted_callback=self._on_accepted,
            cancel_callback=node._guarded(
                'cancel', self._on_cancel, lambda goal: CancelResponse.ACCEPT),
            # Its goal callback awaits the client, which must run meanwhile.
            callback_group=MutuallyExclusiveCallbackGroup())

    def destroy(self) -> None:
        """Take the action away."""
        self._server.destroy()
        self._client.destroy()

    @property
    def controller_is_there(self) -> bool:
        """Whether the controller serves its action."""
        return bool(self._client.server_is_ready())

    def watch(self, now: float) -> None:
        """Cancel requests past their deadline at a steady time [s], and drop a lost controller."""
        for deadline, answer in [each for each in self._deadlines if each[0] < now]:
            self._deadlines.remove((deadline, answer))
            if not answer.done():
                answer.set_result(None)
        if self.execution and not self.controller_is_there:
            self._end(self.execution, FollowJointTrajectory.Result.INVALID_GOAL,
                      'the controller is gone', GoalStatus.STATUS_ABORTED)

    def elapsed(self, execution: Execution) -> float:
        """Return the time that has passed of a motion [s]."""
        now = self._node.get_clock().now().nanoseconds
        return (now - execution.start - execution.late) / NANOSECONDS

    # Goals.

    async def _on_goal(self, given: Any) -> GoalResponse:
        """Correct a goal and offer it to the controller; accept it where the controller does."""
        try:
            execution = await self._offered(given)
        except FlexdynError as error:
            # The planner gets no reason for a refusal: log and diagnostics have it.
            self.refused += 1
            self.refusal = f'goal refused: {error}'
            self._node.get_logger().error(self.refusal)
            self._node.diagnostics.report(ERROR, self.refusal)
            return GoalResponse.REJECT
        self.execution = execution
        self._node.get_logger().info(f'goal accepted: {execution.motion.report}')
        return GoalResponse.ACCEPT

    async def _offered(self, given: Any) -> Execution:
        if not self._node.active:
            raise FlexdynError('the node is not active. Activate it')
        if self.execution is not None:
            raise FlexdynError('the last goal is still executed. Cancel it first')
        if given.multi_dof_trajectory.joint_names:
            raise FlexdynError('it moves joints with several degrees of freedom. Remove them')
        if not self.controller_is_there:
            action = self._node.parameters['controller_action']
            raise FlexdynError(
                f'the action {action} is not there. Start the controller, or set '
                'controller_action')
        motion = await self._node.corrected(given.trajectory)
        stamp = nanoseconds(given.trajectory.header.stamp)
        now = self._node.get_clock().now().nanoseconds
        start = stamp or now + int(self._node.parameters['start_delay'] * NANOSECONDS)
        if start < now - NANOSECONDS // 10:
            raise FlexdynError(
                f'it starts {(now - start) / NANOSECONDS:.3g} s in the past. Send it anew')
        goal = controller_goal(given, motion, Time(nanoseconds=start).to_msg())
        answer = self._sent(goal)
        handle = await answer
        if handle is None:
            raise FlexdynError('the controller does not answer. Read its log')
        if not handle.accepted:
            raise FlexdynError(
                'the controller rejects the corrected trajectory. Read its log')
        if not self._node.active:
            handle.cancel_goal_async()
            raise FlexdynError('the node is not active any more. Activate it')
        execution = Execution(motion, start, given, handle)
        self._await_result(execution, handle)
        return execution

    def _sent(self, goal: Any) -> Future:
        """Send a goal; the future has its handle, None where no answer comes in time."""
        answer: Future = Future()

        def on_answer(sent: Future) -> None:
            handle = sent.result()
            if not answer.done():
                answer.set_result(handle)
            elif handle is not None and handle.accepted:
                handle.cancel_goal_async()  # too late

        self._client.send_goal_async(
            goal, feedback_callback=self._node._guarded('feedback', self._on_feedback)
        ).add_done_callback(self._node._guarded('answer', on_answer))
        self._deadlines.append(
            (time.monotonic() + self._node.parameters['controller_timeout'], answer))
        return answer

    def _on_accepted(self, goal: Any) -> None:
        if self.execution is not None:
            self.execution.planner = goal

    def _on_feedback(self, message: Any) -> None:
        execution = self.execution
        if execution is not None and execution.planner is not None:
            stamp = nanoseconds(message.feedback.header.stamp)
            ahead = nanoseconds(message.feedback.desired.time_from_start)
            # The time of the next point, as joint_trajectory_controller fills it in.
            if stamp and ahead > 0:
                execution.late = max(0, stamp - execution.start - ahead)
            elapsed = self.elapsed(execution)
            if stamp:
                elapsed = (stamp - execution.start - execution.late) / NANOSECONDS
            execution.planner.publish_feedback(
                rigid_feedback(message.feedback, execution.motion, elapsed))

    # The end.

    def _await_result(self, execution: Execution, handle: Any) -> None:
        def on_result(future: Future) -> None:
            # Of a goal that the stop has replaced, nothing counts.
            if execution.controller is handle and self.execution is execution:
                answer = future.result()
                self._end(execution, answer.result.error_code, answer.result.error_string,
                          answer.status)

        handle.get_result_async().add_done_callback(self._node._guarded('result', on_result))

    def _end(self, execution: Execution, code: int, text: str, status: int) -> None:
        """Report the end of a motion to the planner, and note where the motors stand."""
        self.execution = None
        self._node.ended(execution.motion, status == GoalStatus.STATUS_SUCCEEDED)
        if execution.planner is not None:
            self._outcome = code, '; '.join(
                filter(None, (text, execution.motion.report))), status
            execution.planner.execute()

    def _finish(self, goal: Any) -> Any:
        """Set the state of the planner's goal, and return its result."""
        code, text, status = self._outcome
        if goal.is_cancel_requested:
            goal.canceled()
        elif status == GoalStatus.STATUS_SUCCEEDED:
            goal.succeed()
        else:
            goal.abort()
        return FollowJointTrajectory.Result(error_code=code, error_string=text)

    def _on_cancel(self, goal: Any) -> CancelResponse:
        if self.execution is not None:
            self.halt(self.execution)
        return CancelResponse.ACCEPT

    def halt(self, execution: Execution) -> None:
        """Replace the controller's goal by one that stops on the path, else cancel it."""
        if execution.stopping:
            return
        p = self._node.parameters
        execution.stopping = True
        at = self.elapsed(execution) + p['stop_delay']
        if at <= 0.0:
            execution.controller.cancel_goal_async()  # it has not begun
            return
        halted = stopped(execution.motion, at, p['correction.max_acceleration'] or None)
        if halted is None:
            self._node.get_logger().info('the motion ends before the limits allow a stop')
            return
        start = execution.start + execution.late
        goal = controller_goal(execution.given, halted, Time(nanoseconds=start).to_msg())
        replaced, execution.controller = execution.controller, None

        def on_answer(answer: Future) -> None:
            handle = answer.result()
            if handle is not None and handle.accepted:
                execution.motion, execution.controller = halted, handle
                execution.start, execution.late = start, 0
                self._await_result(execution, handle)
            else:
                self._node.get_logger().error(
                    'the controller refuses the stop; its goal is cancelled. Read its log')
                execution.controller = replaced
                self._await_result(execution, replaced)
                replaced.cancel_goal_async()

        self._sent(goal).add_done_callback(self._node._guarded('answer', on_answer))

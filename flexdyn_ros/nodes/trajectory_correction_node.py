# SPDX-License-Identifier: Apache-2.0
"""The node between a planner and a trajectory controller that corrects positions."""

from __future__ import annotations

from dataclasses import dataclass
import sys
import time
from typing import Any, Optional

from action_msgs.msg import GoalStatus
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.measured_state import MeasuredState
from flexdyn_ros.nodes.arm.plausibility import bounds, Plausible
from flexdyn_ros.nodes.arm.times import NANOSECONDS, nanoseconds
from flexdyn_ros.nodes.common.diagnostics import ERROR, listed, OK, WARN
from flexdyn_ros.nodes.common.gravity import GravityFrame
from flexdyn_ros.nodes.common.robot_node import RobotNode, run_node
from flexdyn_ros.nodes.common.run_time_model import payload_problem, RunTimeModel
from flexdyn_ros.nodes.common.topics import subscribe_measured_states
from flexdyn_ros.nodes.positions.controller_goals import controller_goal, rigid_feedback
from flexdyn_ros.nodes.positions.position_correction import PositionCorrection, set_up_problem
from flexdyn_ros.position_correction import CorrectedMotion
from flexdyn_ros.position_correction.stop import stopped
import numpy as np
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.task import Future
from rclpy.time import Time
from sensor_msgs.msg import JointState

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:
    FollowJointTrajectory = None

MOVED = 1e-4  # of a motor, from which the static correction is computed anew [rad | m]


@dataclass
class Execution:
    """
    A motion that the controller follows.

    Attributes:
        motion: The motion.
        start: When it starts, on the node's clock [ns].
        given: The goal as the planner sent it.
        controller: The controller's goal.
        planner: The planner's goal; None until it is accepted.
        stopping: Whether it is being brought to rest.
    """

    motion: CorrectedMotion
    start: int
    given: Any
    controller: Any
    planner: Any = None
    stopping: bool = False


class TrajectoryCorrectionNode(RobotNode):
    """
    Takes goals for a rigid arm, and has a controller follow corrected ones.

    Beside it the node publishes the joint states that the rigid arm would have where the elastic
    arm stands, for the planner.
    """

    def __init__(self, **node_arguments: Any):
        """Create the action, its client, the publisher and the subscriptions."""
        self.measured: Any = None  # a MeasuredState once configured
        self._execution: Optional[Execution] = None
        self._offering, self._refused, self._refusal = False, 0, ''
        self._command: Optional[np.ndarray] = None
        self._static: Optional[tuple[np.ndarray, np.ndarray]] = None
        self._outcome = 0, '', GoalStatus.STATUS_UNKNOWN
        self._deadlines: list[tuple[float, Future]] = []
        super().__init__('trajectory_correction_node', **node_arguments)
        p = self.parameters
        self._timer: Any = None
        self._gravity = GravityFrame(self, p['gravity_frame'], p['gravity_frame_timeout'])
        self._rigid_states = self.create_lifecycle_publisher(JointState, '~/joint_states', 10)
        self.joint_states = subscribe_measured_states(self, self._on_measured)
        self._server: Any = None
        self._client: Any = None
        if FollowJointTrajectory is not None:
            on_goal: Any = self._on_goal  # rclpy awaits it
            self._client = ActionClient(self, FollowJointTrajectory, p['controller_action'])
            self._server = ActionServer(
                self, FollowJointTrajectory, '~/follow_joint_trajectory', self._finish,
                goal_callback=on_goal, handle_accepted_callback=self._on_accepted,
                cancel_callback=self._guarded(
                    'cancel', self._on_cancel, lambda goal: CancelResponse.ACCEPT),
                # Its goal callback awaits the client, which must run meanwhile.
                callback_group=MutuallyExclusiveCallbackGroup())

    def check_parameters(self, values, changed) -> Optional[str]:
        """Refuse payloads that no link carries, and link-side measurements."""
        return payload_problem(values, self.robot) or set_up_problem(values['measured_side'])

    # Life cycle.

    def set_up(self) -> None:
        """Prepare for the loaded robot."""
        if FollowJointTrajectory is None:
            raise FlexdynError('The action FollowJointTrajectory needs control_msgs, which is not '
                               'installed. Install ros-$ROS_DISTRO-control-msgs.')
        p = self.parameters
        self._coordinates = ArmCoordinates(self.robot)
        plausible = Plausible()
        self.measured = MeasuredState(
            self._coordinates, False, (), bounds(self.robot, plausible), plausible)
        self._correction = PositionCorrection(self.dyn, p)
        self._model = RunTimeModel(self.dyn, self._gravity, p['frame_prefix'])
        self._model.apply(p)
        self._model.set_gravity()
        self._command = self._static = None

    def start(self) -> None:
        """Publish joint states."""
        self._timer = self.create_steady_timer(1.0 / self.parameters['rate'], self._work)
        self.diagnostics.report(WARN, 'waiting for joint_states')

    def stop(self) -> None:
        """Bring a motion to rest."""
        self.destroy_timer(self._timer)
        if self._execution is not None and self.context.ok():
            self._halt(self._execution)

    def destroy_node(self) -> None:
        """Take the action away before the node."""
        for each in (self._server, self._client):
            if each is not None:
                each.destroy()
        super().destroy_node()

    # States.

    def _on_measured(self, message: Any, take: Any) -> None:
        dropped = take(message, time.monotonic())
        if dropped:
            self.diagnostics.report(ERROR, dropped)

    def _work(self) -> None:
        now = time.monotonic()
        for deadline, answer in [each for each in self._deadlines if each[0] < now]:
            self._deadlines.remove((deadline, answer))
            if not answer.done():
                answer.set_result(None)
        execution = self._execution
        if execution and not self._client.server_is_ready():
            self._end(execution, -1, 'the controller is gone', GoalStatus.STATUS_ABORTED)
        problems = self.measured.problems(now, self.parameters['timeout'])
        if problems:
            self.diagnostics.report(WARN, f'no rigid joint states: {listed(problems)}')
            return
        self._take_parameters()
        self._publish(self.measured.positions)
        self.diagnostics.report(OK, 'following' if execution else 'ready')

    def _take_parameters(self) -> None:
        """Make the present payload and gravity take effect."""
        if self.parameters.changed:
            self.parameters.take_changes()
            self._model.apply(self.parameters)
            self._static = None
        self._model.update_gravity()

    def _publish(self, motors: np.ndarray) -> None:
        """Publish where the joints of the rigid arm would be."""
        correction, execution = np.zeros(len(motors)), self._execution
        if execution is not None:
            motion = execution.motion
            columns = self._coordinates.columns(motion.names)
            correction[columns] = motion.at(motion.correction, self._elapsed(execution))
        else:
            correction = self._static_correction(motors)
        message = JointState(name=list(self.robot.joint_names))
        message.header.stamp = self.get_clock().now().to_msg()
        message.position = (motors - correction).tolist()
        message.velocity = np.nan_to_num(self.measured.velocities).tolist()
        self._rigid_states.publish(message)

    def _static_correction(self, motors: np.ndarray) -> np.ndarray:
        """Return the correction at rest, of a command that the motors stand at."""
        if self._static is None or np.abs(self._static[0] - motors).max() > MOVED:
            self._static = motors, motors - self._correction.standing(motors)
        return self._static[1]

    def _elapsed(self, execution: Execution) -> float:
        """Return the time since a motion has started [s]."""
        return (self.get_clock().now().nanoseconds - execution.start) / NANOSECONDS

    def _present_command(self) -> np.ndarray:
        """Return the last command while the motors stand there, else what is measured."""
        problems = self.measured.problems(time.monotonic(), self.parameters['timeout'])
        if problems:
            raise FlexdynError(f'the present command is unknown: {listed(problems)}')
        motors = self.measured.positions
        tolerance = self.parameters['command_tolerance']
        if self._command is not None and np.abs(self._command - motors).max() <= tolerance:
            return self._command
        return motors

    # Goals.

    async def _on_goal(self, given: Any) -> GoalResponse:
        """Correct a goal and offer it to the controller; accept it where the controller does."""
        try:
            execution = await self._offered(given)
        except Exception as error:
            # The planner sees no reason for a refusal: log and diagnostics have it.
            if isinstance(error, FlexdynError):
                self._refused += 1
                self._refusal = f'goal refused: {error}'
                self.get_logger().error(self._refusal)
                self.diagnostics.report(ERROR, self._refusal)
            else:
                self.callback_failed('goal', error)
            return GoalResponse.REJECT
        finally:
            self._offering = False
        self._execution = execution
        self.get_logger().info(f'goal accepted: {execution.motion.report}')
        return GoalResponse.ACCEPT

    async def _offered(self, given: Any) -> Execution:
        if not self.active:
            raise FlexdynError('the node is not active')
        if self._execution is not None or self._offering:
            raise FlexdynError('the last goal is still executed; cancel it first')
        if given.multi_dof_trajectory.joint_names:
            raise FlexdynError('it moves joints with several degrees of freedom')
        if not self._client.server_is_ready():
            raise FlexdynError(f'the controller\'s action {self.parameters["controller_action"]} '
                               'is not there')
        self._offering = True
        self._take_parameters()
        motion = self._correction.corrected(
            given.trajectory, self._present_command(), self.parameters)
        stamp = nanoseconds(given.trajectory.header.stamp)
        now = self.get_clock().now().nanoseconds
        start = stamp or now + int(self.parameters['start_delay'] * NANOSECONDS)
        if start < now - NANOSECONDS // 10:
            raise FlexdynError(f'it starts {(now - start) / NANOSECONDS:.3g} s in the past')
        goal = controller_goal(given, motion, Time(nanoseconds=start).to_msg())
        answer = self._sent(goal)
        handle = await answer
        if handle is None:
            raise FlexdynError('the controller does not answer')
        if not handle.accepted:
            raise FlexdynError('the controller rejects the corrected trajectory')
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
            goal, feedback_callback=self._guarded('feedback', self._on_feedback)
        ).add_done_callback(self._guarded('answer', on_answer))
        self._deadlines.append(
            (time.monotonic() + self.parameters['controller_timeout'], answer))
        return answer

    def _on_accepted(self, goal: Any) -> None:
        if self._execution is not None:
            self._execution.planner = goal

    def _on_feedback(self, message: Any) -> None:
        execution = self._execution
        if execution is not None and execution.planner is not None:
            execution.planner.publish_feedback(rigid_feedback(
                message.feedback, execution.motion, self._elapsed(execution)))

    # The end.

    def _await_result(self, execution: Execution, handle: Any) -> None:
        def on_result(future: Future) -> None:
            # Of a goal that the stop has replaced, nothing counts.
            if execution.controller is handle and self._execution is execution:
                answer = future.result()
                self._end(execution, answer.result.error_code, answer.result.error_string,
                          answer.status)

        handle.get_result_async().add_done_callback(self._guarded('result', on_result))

    def _end(self, execution: Execution, code: int, text: str, status: int) -> None:
        """Report the end of a motion to the planner, and note where the motors stand."""
        self._execution, self._static = None, None
        if status == GoalStatus.STATUS_SUCCEEDED:
            command = self.measured.positions
            columns = self._coordinates.columns(execution.motion.names)
            command[columns] = execution.motion.positions[-1]
            self._command = command
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
        if self._execution is not None and not self._execution.stopping:
            self._halt(self._execution)
        return CancelResponse.ACCEPT

    def _halt(self, execution: Execution) -> None:
        """Replace the controller's goal by one that stops on the path, else cancel it."""
        p = self.parameters
        execution.stopping = True
        at = max(self._elapsed(execution) + p['stop_delay'], 0.0)
        halted = stopped(execution.motion, at, p['correction.max_acceleration'] or None)
        if halted is None:
            self.get_logger().info('the motion ends before it can be stopped within the limits')
            return
        goal = controller_goal(execution.given, halted, Time(nanoseconds=execution.start).to_msg())
        replaced, execution.controller = execution.controller, None

        def on_answer(answer: Future) -> None:
            handle = answer.result()
            if handle is not None and handle.accepted:
                execution.motion, execution.controller = halted, handle
                self._await_result(execution, handle)
            else:
                self.get_logger().error('the controller refuses the stop; its goal is cancelled')
                execution.controller = replaced
                self._await_result(execution, replaced)
                replaced.cancel_goal_async()

        self._sent(goal).add_done_callback(self._guarded('answer', on_answer))

    def diagnostic_values(self) -> dict[str, Any]:
        """Return what is executed."""
        execution = self._execution
        return {
            'executing': execution is not None,
            'stopping': execution is not None and execution.stopping,
            'goals_refused': self._refused,
            'last_refusal': self._refusal,
            **({'motion': execution.motion.report} if execution else {}),
        }


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    return run_node(TrajectoryCorrectionNode, args)


if __name__ == '__main__':
    sys.exit(main())

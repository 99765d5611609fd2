# SPDX-License-Identifier: Apache-2.0
"""The node between a planner and a trajectory controller that corrects positions."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.measured_state import MeasuredState
from flexdyn_ros.nodes.arm.plausibility import bounds, Plausible
from flexdyn_ros.nodes.arm.times import NodeClock
from flexdyn_ros.nodes.common.diagnostics import ERROR, listed, OK, WARN
from flexdyn_ros.nodes.common.gravity import GravityFrame
from flexdyn_ros.nodes.common.robot_node import RobotNode, run_node
from flexdyn_ros.nodes.common.run_time_model import payload_problem, RunTimeModel
from flexdyn_ros.nodes.common.topics import subscribe_measured_states
from flexdyn_ros.nodes.positions.goal_proxy import FollowJointTrajectory, GoalProxy
from flexdyn_ros.nodes.positions.position_correction import PositionCorrection, set_up_problem
from flexdyn_ros.position_correction import CorrectedMotion
import numpy as np
from rclpy.task import Future
from sensor_msgs.msg import JointState

MOVED = 1e-4  # of a motor, from which the static correction is computed anew [rad | m]


class TrajectoryCorrectionNode(RobotNode):
    """
    Takes goals for a rigid arm, and has a controller follow corrected ones.

    Beside it the node publishes the joint states that the rigid arm would have where the elastic
    arm stands, for the planner.
    """

    def __init__(self, **node_arguments: Any):
        """Create the action, its client, the publisher and the subscriptions."""
        self.measured: Any = None  # a MeasuredState once configured
        self._goals: Optional[GoalProxy] = None
        self._command: Optional[np.ndarray] = None
        self._static: Optional[tuple[np.ndarray, np.ndarray]] = None
        super().__init__('trajectory_correction_node', **node_arguments)
        p = self.parameters
        self._timer: Any = None
        self._gravity = GravityFrame(self, p['gravity_frame'], p['gravity_frame_timeout'])
        self._rigid_states = self.create_lifecycle_publisher(JointState, '~/joint_states', 10)
        self.joint_states = subscribe_measured_states(self, self._on_measured)
        if FollowJointTrajectory is not None:
            self._goals = GoalProxy(self)

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
        self._correction = PositionCorrection(self)
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
        self._correction.cancel('the node is not active any more')
        if self._goals and self._goals.execution and self.context.ok():
            self._goals.halt(self._goals.execution)

    def destroy_node(self) -> None:
        """Take the action away before the node."""
        if self._goals:
            self._goals.destroy()
        super().destroy_node()

    # States.

    def _on_measured(self, message: Any, take: Any) -> None:
        dropped = take(message, time.monotonic(), NodeClock.of(self.get_clock(), 0.0))
        if dropped:
            self.get_logger().warning(
                f'{dropped}. Check its publisher.', throttle_duration_sec=1.0)
            self.diagnostics.report(ERROR, dropped)

    def _work(self) -> None:
        now = time.monotonic()
        assert self._goals is not None
        self._goals.watch(now)
        problems = self.measured.problems(now, self.parameters['timeout'])
        if problems:
            self.diagnostics.report(WARN, f'no rigid joint states: {listed(problems)}')
            return
        self._take_parameters()
        self._publish(self.measured.positions)
        self.diagnostics.report(OK, 'following' if self._goals.execution else 'ready')

    def _take_parameters(self) -> None:
        """Make the present payload and gravity take effect."""
        if self.parameters.changed:
            self.parameters.take_changes()
            self._model.apply(self.parameters)
            self._static = None
        self._model.update_gravity()

    def _publish(self, motors: np.ndarray) -> None:
        """Publish where the joints of the rigid arm would be."""
        correction = np.zeros(len(motors))
        if self._goals and self._goals.execution:
            motion = self._goals.execution.motion
            elapsed = self._goals.elapsed(self._goals.execution)
            correction[self._coordinates.columns(motion.names)] = motion.at(
                motion.correction, elapsed)
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

    # Methods that the goals need.

    def corrected(self, trajectory: Any) -> Future:
        """Return a future of the corrected motion of a trajectory from the present command on."""
        self._take_parameters()
        return self._correction.corrected(trajectory, self._present_command)

    def ended(self, motion: CorrectedMotion, succeeded: bool) -> None:
        """Note where a motion has led the motors."""
        self._static = None
        if succeeded:
            command = self.measured.positions
            command[self._coordinates.columns(motion.names)] = motion.positions[-1]
            self._command = command

    def _present_command(self) -> np.ndarray:
        """Return the last command while the motors stand there, else measured positions."""
        problems = self.measured.problems(time.monotonic(), self.parameters['timeout'])
        if problems:
            raise FlexdynError(
                f'the present command is unknown: {listed(problems)}. Check joint_states')
        motors = self.measured.positions
        tolerance = self.parameters['command_tolerance']
        if self._command is not None and np.abs(self._command - motors).max() <= tolerance:
            return self._command
        return motors

    def diagnostic_values(self) -> dict[str, Any]:
        """Return the state of execution."""
        if self._goals is None:
            return {}
        execution = self._goals.execution
        return {
            'executing': execution is not None,
            'stopping': execution is not None and execution.stopping,
            'goals_refused': self._goals.refused,
            'last_refusal': self._goals.refusal,
            **({'motion': execution.motion.report} if execution else {}),
            **{f'dropped/{kind}': count for kind, count in (
                self.measured.faults.items() if self.measured else ())},
        }


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    return run_node(TrajectoryCorrectionNode, args)


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The node that turns joint states and a reference into joint torques."""

from __future__ import annotations

import sys
import time
from typing import Any
from typing import Optional

from builtin_interfaces.msg import Time
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.errors import LoopsCannotClose
from flexdyn_ros.nodes.arm_coordinates import actuated_joints
from flexdyn_ros.nodes.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.compute_times import ComputeTimes
from flexdyn_ros.nodes.diagnostics import ERROR
from flexdyn_ros.nodes.diagnostics import OK
from flexdyn_ros.nodes.diagnostics import WARN
from flexdyn_ros.nodes.differentiator import FilteredDifferentiator
from flexdyn_ros.nodes.effort_limits import EffortLimits
from flexdyn_ros.nodes.feed_forward import FeedForward
from flexdyn_ros.nodes.feed_forward import ModalSettings
from flexdyn_ros.nodes.gravity_frame import GravityFrame
from flexdyn_ros.nodes.joint_motion import JointSample
from flexdyn_ros.nodes.joint_state_topic import subscribe_measured_states
from flexdyn_ros.nodes.measured_state import MeasuredState
from flexdyn_ros.nodes.reference import Reference
from flexdyn_ros.nodes.robot_node import RobotNode
from flexdyn_ros.nodes.robot_node import run_node
from flexdyn_ros.nodes.ros_time import seconds
from flexdyn_ros.nodes.run_time_model import payload_problem
from flexdyn_ros.nodes.run_time_model import RunTimeModel
from flexdyn_ros.nodes.torque_output import TorqueOutput
from flexdyn_ros.nodes.torque_terms import TorqueTerms
from flexdyn_ros.nodes.trajectory_service import TrajectoryService
from flexdyn_ros.nodes.watchdog import Watchdog
import numpy as np
from trajectory_msgs.msg import JointTrajectory


class InverseDynamicsNode(RobotNode):
    """Publishes the torque of the configured mode for every joint state or reference."""

    def __init__(self, **node_arguments: Any):
        """Create publishers and subscriptions."""
        self.times = ComputeTimes(budget=np.inf)
        self.measured: Any = None  # a MeasuredState once configured
        self.saturated: tuple[str, ...] = ()
        self.joints: tuple[str, ...] = ()
        super().__init__('inverse_dynamics_node', **node_arguments)
        self.reference: Optional[Reference] = None
        self.reference_watchdog = Watchdog(0.0)
        self.stamp = Time()
        self.previous_input = -np.inf
        self.output = TorqueOutput(self, self.parameters['command_type'])
        self.trajectories = TrajectoryService(self)
        self.joint_states = subscribe_measured_states(
            self, self._on_joint_states, self._on_multi_dof)
        self.references = self.create_subscription(
            JointTrajectory, '~/reference', self._on_reference, 1
        )
        p = self.parameters
        self.gravity_frame = GravityFrame(self, p['gravity_frame'], p['gravity_frame_timeout'])
        self.stale_timer: Any = None

    def check_parameters(self, values) -> Optional[str]:
        """Refuse payloads that no body has or no link carries."""
        return payload_problem(values, self.robot)

    # Life cycle.

    def set_up(self) -> None:
        """Prepare for the loaded robot."""
        p = self.parameters
        self.joints = tuple(p['joints']) or actuated_joints(self.robot)
        self.feed_forward = self.make_feed_forward()
        self.columns = self.feed_forward.coordinates.columns(self.joints)
        self.limits = self.make_limits(self.joints)
        coordinates, follows = self.feed_forward.coordinates, self.feed_forward.base.follows
        self.measured = MeasuredState(coordinates, p['mode'] != 'gravity', follows)
        if follows:
            self.get_logger().info(
                f'joint_states may leave out {", ".join(follows)}: the loops tell their motion.')
        self.differentiator = None
        if p['differentiator.enabled']:
            self.differentiator = FilteredDifferentiator(p['differentiator.cutoff_frequency'])
        self.run_time_model = RunTimeModel(self.dyn, self.gravity_frame, p['frame_prefix'])
        self.reference = None
        self.apply_parameters()
        self.output.set_joints(self.robot, self.joints)
        self.run_time_model.prepare_gravity()
        self.feed_forward.prepare()

    def make_feed_forward(self) -> FeedForward:
        """Return a torque computation of its own modal state, as the parameters say."""
        p = self.parameters
        settings = ModalSettings(
            p['modes.step'], p['modes.maximum_gap'], p['modes.spectral_radius']
        )
        free: tuple[str, ...] = ()
        if p['base_acceleration'] == 'free' and p['mode'] != 'gravity':
            free = ArmCoordinates(self.robot).undriven(self.joints)
        return FeedForward(self.dyn, p['mode'], self.terms, p['measured_side'], settings, free)

    def make_limits(self, joints) -> EffortLimits:
        """Return the saturation that the parameters ask for."""
        if not self.parameters['limit_torques']:
            return EffortLimits.none(joints)
        return EffortLimits(self.robot, joints, self.parameters['zero_effort_limit'])

    @property
    def terms(self) -> TorqueTerms:
        """The terms that the parameters switch on."""
        names = ('gravity', 'coriolis', 'inertia', 'friction')
        return TorqueTerms(*(self.parameters[f'compensate.{name}'] for name in names))

    def apply_parameters(self) -> None:
        """Make changed parameters take effect, and say what the torque contains."""
        p = self.parameters
        p.changed.clear()
        self.feed_forward.terms = self.terms
        self.reference_watchdog.timeout = p['reference_timeout']
        self.times.budget = p['compute_budget']
        self.get_logger().info(self.run_time_model.apply(p))
        source = 'of ~/reference, else '
        source += 'differentiated velocities' if self.differentiator else 'zero'
        self.get_logger().info(self.feed_forward.terms.sentence(p['mode'], source))
        if self.feed_forward.base.names:
            self.get_logger().info(
                f'No force acts on {", ".join(self.feed_forward.base.names)}: they accelerate as '
                'the motion of the arm makes them.'
            )

    def start(self) -> None:
        """Watch for stale inputs."""
        p = self.parameters
        timeouts = [t for t in (p['timeout'], p['reference_timeout']) if t > 0.0]
        self.stale_timer = self.create_steady_timer(min(0.05, min(timeouts) / 2), self._watch)
        self.diagnostics.report(WARN, 'waiting for joint_states')

    def stop(self) -> None:
        """Forget the modal state and the reference."""
        self.destroy_timer(self.stale_timer)
        self.feed_forward.reset()
        self.reference = None
        self.reference_watchdog.clear()

    # Inputs.

    def _on_joint_states(self, message) -> None:
        if self.measured is not None:
            self._on_measured(message, self.measured.take_joint_states)

    def _on_multi_dof(self, message) -> None:
        if self.measured is not None:
            self._on_measured(message, self.measured.take_multi_dof)

    def _on_measured(self, message, take) -> None:
        now = time.monotonic()
        known = len(self.measured.unknown)
        dropped = take(message, now)
        if dropped:
            self.diagnostics.report(ERROR, dropped)
            return
        if len(self.measured.unknown) > known:
            unknown = ', '.join(sorted(self.measured.unknown))
            self.get_logger().info(f'ignoring joints that are not needed: {unknown}')
        if self.parameters['compute_on'] != 'reference' and self.measured.whole:
            self.stamp = self._stamp_of(message)
            if self.active:
                self._compute(now)

    def _on_reference(self, message: JointTrajectory) -> None:
        if not self.active:
            return
        now = time.monotonic()
        if not message.points:
            self.reference = None
            self.reference_watchdog.clear()
            return
        try:
            feed_forward = self.feed_forward
            self.reference = Reference(
                message, feed_forward.coordinates.places, feed_forward.base.follows)
        except FlexdynError as error:
            self.get_logger().warning(str(error), throttle_duration_sec=1.0)
            self.diagnostics.report(ERROR, str(error))
            return
        self.reference_watchdog.feed(now)
        compute_on = self.parameters['compute_on']
        if compute_on == 'reference':
            self.stamp = self._stamp_of(message)
        if compute_on != 'joint_states':
            self._compute(now)

    def _stamp_of(self, message) -> Time:
        """Return the stamp of a message, the present time where it has none."""
        stamp = message.header.stamp
        return self.get_clock().now().to_msg() if stamp == Time() else stamp

    # Output.

    def _compute(self, now: float) -> None:
        problems = self.measured.problems(now, self.parameters['timeout'])
        if problems:
            text = '; '.join(f'{name}: {why}' for name, why in problems.items())
            self.diagnostics.report(ERROR, f'no torque: {text}')
            return
        if self.reference_watchdog.stale(now):
            self._stale('~/reference', now)
            return
        try:
            self.catch_up()
            torque = self.feed_forward.torque(self._desired(now))
        except FlexdynError as error:
            if isinstance(error, LoopsCannotClose):
                self.get_logger().warning(f'no torque: {error}', throttle_duration_sec=1.0)
            self.diagnostics.report(ERROR, f'no torque: {error}')
            return
        self._publish(torque)
        self.times.add(time.monotonic() - now, now - self.previous_input)
        self.previous_input = now

    def catch_up(self) -> None:
        """Make changed parameters and the present direction of gravity take effect."""
        if self.parameters.changed:
            self.apply_parameters()
        self.run_time_model.turn_gravity()

    def _desired(self, now: float) -> JointSample:
        when = seconds(self.stamp)
        positions, velocities = self.measured.without_left_out(now, self.parameters['timeout'])
        accelerations = np.zeros_like(velocities)
        if self.differentiator:
            accelerations = self.differentiator.acceleration(when, velocities)
        measured = JointSample(when, positions, velocities, accelerations)
        return self.reference.over(measured) if self.reference else measured

    def _publish(self, torque: np.ndarray, level: bytes = OK, message: str = 'working') -> None:
        """Publish the torques of all joints of the robot, reduced to the published ones."""
        if not np.all(np.isfinite(torque)):
            self.diagnostics.report(ERROR, 'no torque: the computed torque is not finite')
            return
        limited, self.saturated = self.limits.saturate(torque[self.columns])
        self.output.publish(limited, self.stamp)
        warnings = [f'saturated: {", ".join(self.saturated)}'] if self.saturated else []
        warnings += filter(None, [self.feed_forward.base.problem, self.gravity_frame.problem])
        if warnings and level == OK:
            level, message = WARN, '; '.join(warnings)
        self.diagnostics.report(level, message)

    # Stale inputs.

    def _watch(self) -> None:
        now = time.monotonic()
        if not self.measured.complete:
            problems = self.measured.problems(now, np.inf)
            level = ERROR if set(problems.values()) != {'never received'} else WARN
            text = '; '.join(f'{name}: {why}' for name, why in problems.items())
            self.diagnostics.report(level, f'waiting for joint_states ({text})')
        elif self.measured.age(now) > self.parameters['timeout']:
            self._stale('joint_states', now)
        elif self.reference_watchdog.stale(now):
            self._stale('~/reference', now)

    def _stale(self, what: str, now: float) -> None:
        """Follow the policy for a stale input."""
        policy = self.parameters['stale_policy']
        problems = self.measured.problems(now, self.parameters['timeout'])
        faults = [f'; {name}: {why}' for name, why in problems.items() if 'stale' not in why]
        message = f'{what} stale, policy {policy}{"".join(faults)}'
        self.feed_forward.reset()
        if policy == 'zero':
            self._publish(np.zeros(self.robot.n_joints), ERROR, message)
        elif policy == 'gravity':
            try:
                self.catch_up()
                torque = self.feed_forward.gravity_torque(self.measured.positions)
            except FlexdynError as error:
                self.diagnostics.report(ERROR, f'no torque: {error}')
                return
            self._publish(torque, ERROR, message)
        else:
            self.diagnostics.report(ERROR, message)

    def diagnostic_values(self) -> dict[str, Any]:
        """Return timing and the state of the inputs."""
        now = time.monotonic()
        values: dict[str, Any] = {
            'input_age': self.measured.age(now) if self.measured else None,
            'reference_age': self.reference_watchdog.age(now) if self.robot else None,
            'over_budget': self.times.over_budget,
            'missed_cycles': self.times.missed,
            'compute_budget': self.times.budget,
        }
        values.update(self.times.summary())
        for name in self.joints if self.robot else ():
            values[f'saturated/{name}'] = name in self.saturated
        return values


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    return run_node(InverseDynamicsNode, args)


if __name__ == '__main__':
    sys.exit(main())

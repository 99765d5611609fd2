# SPDX-License-Identifier: Apache-2.0
"""The node that turns joint states and a reference into joint torques."""

from __future__ import annotations

from collections import Counter
from functools import wraps
import gc
import sys
import threading
import time
from typing import Any, Optional

from builtin_interfaces.msg import Time
from flexdyn_ros.nodes.arm.measured_state import JOINT_STATES, MeasuredState, MULTI_DOF
from flexdyn_ros.nodes.arm.plausibility import bounds, Plausible
from flexdyn_ros.nodes.arm.times import ComputeTimes, nanoseconds, NodeClock, seconds
from flexdyn_ros.nodes.common.diagnostics import ERROR, listed, WARN
from flexdyn_ros.nodes.common.robot_node import RobotNode, run_node
from flexdyn_ros.nodes.common.run_time_model import RunTimeModel
from flexdyn_ros.nodes.common.subscription_thread import (
    OutsideExecutor,
    SubscriptionThread,
    TAKING,
)
from flexdyn_ros.nodes.common.topics import subscribe_measured_states
from flexdyn_ros.nodes.torque.driven_joints import driven_joints, EffortLimits, parameter_problem
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.model_changes import CHANGEABLE, ModelChanges
from flexdyn_ros.nodes.torque.plot_topics import PlotTopics
from flexdyn_ros.nodes.torque.reference_input import REFERENCE_TOPIC
from flexdyn_ros.nodes.torque.torque_cycle import TorqueCycle, TorqueOutput
from flexdyn_ros.nodes.torque.torque_inputs import TorqueInputs
from flexdyn_ros.nodes.torque.torque_reports import TorqueReports
from flexdyn_ros.nodes.torque.torque_terms import QuietFriction
from flexdyn_ros.nodes.torque.trajectory_service import TrajectoryService
import numpy as np

WATCH = 'InverseDynamicsNode._watch'
CYCLES = (JOINT_STATES, MULTI_DOF, REFERENCE_TOPIC, TAKING, WATCH)
"""Callbacks whose failure means that there is no torque."""
UNLOCKED = ('robot_description', '~/trajectory_in', '/tf', '/tf_static')
"""Topics whose callbacks may take long, and need no lock or lock by themselves."""
# Of Python's threads [s]. A long trajectory in the executor leaves 0.3 % of states at 1 kHz
# unanswered; with the default of 5 ms these are 16 %. One service call in ten costs a state, with
# 0.5 ms one in three.
SWITCH_INTERVAL = 2e-4
PLOT_PERIOD = 0.05  # between two messages of ~/torque_terms [s]


class InverseDynamicsNode(RobotNode):
    """
    Publishes the torque of the configured torque model for every joint state or reference.

    A thread of its own serves joint states and references, the executor everything else. The lock
    guards the data that both use.
    """

    def __init__(self, **node_arguments: Any):
        """Create publishers and subscriptions."""
        self.lock = threading.RLock()
        self.cycles: Any = None  # a SubscriptionThread once there are subscriptions
        self.times = ComputeTimes(budget=np.inf)
        self.measured: Any = None  # a MeasuredState once configured
        self.joints: tuple[str, ...] = ()
        super().__init__('inverse_dynamics_node', **node_arguments)
        p = self.parameters
        self.stamp = Time()
        self.previous_input = -np.inf
        self.changes: Any = None  # ModelChanges once configured
        self.reports = TorqueReports(self)
        self.cycle = TorqueCycle(TorqueOutput(self, p['command_type']))
        self.trajectories = TrajectoryService(self)
        self.lost: Counter[str] = Counter()  # messages by topic
        self.outside_executor = OutsideExecutor()
        self.joint_states = subscribe_measured_states(
            self, self._on_measured, self.lost, self.outside_executor)
        self.inputs = TorqueInputs(self, self._on_reference)
        self.plots = PlotTopics(self, ['torque_terms']) if p['plot_topics'] else None
        if self.plots:
            self.create_steady_timer(PLOT_PERIOD, self._plot)
        self.log_changes = self.create_guard_condition(self._guarded('log', self._log_changes))
        reference = self.inputs.reference.subscription
        self.cycles = SubscriptionThread(
            self, [each for each in (reference, *self.joint_states) if each is not None],
            self._guarded(WATCH, self._watch))

    def check_parameters(self, values, changed) -> Optional[str]:
        """Refuse values that the robot or the torque model does not support."""
        return parameter_problem(values, changed, self.robot, self.active)

    # Life cycle.

    def set_up(self) -> None:
        """Prepare for the loaded robot."""
        p = self.parameters
        self.joints = driven_joints(self.robot, p['joints'], self.get_logger().info)
        self.inputs.set_robot()
        self.feed_forward, of_trajectories = (
            FeedForward.of(self.dyn, p, self.joints, p['wrench_links']) for _ in range(2))
        self.trajectories.set_arm(of_trajectories)
        if self.plots:
            self.plots.set_robot(self.dyn, self.feed_forward.motion)
        coordinates, follows = self.feed_forward.coordinates, self.feed_forward.base.follows
        self.cycle.set_arm(
            self.feed_forward, coordinates.columns(self.joints), self.make_limits(self.joints))
        plausible = Plausible(
            p['plausible.velocity_factor'], p['plausible.velocity'],
            p['plausible.acceleration'], p['plausible.patience'])
        limits = bounds(self.robot, plausible)
        self.measured = MeasuredState(
            coordinates, p['torque_model'] != 'gravity', follows, limits, plausible)
        self.inputs.set_arm(self.feed_forward, limits, plausible)
        if follows:
            self.get_logger().info(
                f'joint_states may omit {", ".join(follows)}: the loops determine their motion.')
        model = RunTimeModel(self.dyn, self.inputs.gravity, p['frame_prefix'])
        self.run_time_model = model
        self.changes = ModelChanges(self, self.feed_forward, model)
        self.parameters.take_changes()
        self.apply_settings()
        self.cycle.output.set_joints(self.robot, self.joints)
        if self.feed_forward.base.names:
            self.get_logger().info(
                f'No force acts on {", ".join(self.feed_forward.base.names)}: they accelerate '
                'freely with the motion of the arm.'
            )
        model.set_gravity()
        self.feed_forward.prepare()

    def make_limits(self, joints) -> EffortLimits:
        """Return the saturation by the parameters."""
        if not self.parameters['limit_torques']:
            return EffortLimits.none(joints)
        return EffortLimits(self.robot, joints, self.parameters['zero_effort_limit'])

    def apply_settings(self) -> None:
        """Make parameters take effect that need no code."""
        p = self.parameters
        self.inputs.apply_timeouts()
        self.times.budget = p['compute_budget']
        band = p['friction_dead_band']
        self.feed_forward.quiet = QuietFriction(self.robot, band) if band else None
        self.cycle.apply(p)

    def start(self) -> None:
        """Watch for stale inputs."""
        self._set_watch()
        self.changes.start()
        self.cycle.begin()
        if self.owns_process:
            # Python's garbage collector holds the interpreter while it scans all objects that
            # are not frozen. For those of a configured node that takes 0.1 s.
            gc.freeze()
        self.diagnostics.report(WARN, 'waiting for joint_states')

    def _set_watch(self) -> None:
        timeouts = [self.parameters[name] for name in ('timeout', 'reference_timeout')]
        self.cycles.period = min(0.05, max(0.001, min(t for t in timeouts if t > 0.0) / 2))

    def stop(self) -> None:
        """Discard the modal state and the reference."""
        self.cycles.period = None
        if self.owns_process:
            gc.unfreeze()
        self.changes.stop()
        self.trajectories.stop()
        with self.lock:
            self.feed_forward.reset()
            self.inputs.clear()

    def create_subscription(
        self, msg_type: Any, topic: str, callback: Any, *rest: Any, **more: Any
    ) -> Any:
        """Create a subscription whose callback is guarded and holds the lock."""
        @wraps(callback)
        def locked(message: Any) -> None:
            with self.lock:
                callback(message)

        chosen = callback if topic in UNLOCKED else locked
        return super().create_subscription(msg_type, topic, chosen, *rest, **more)

    def destroy_node(self) -> None:
        """End the thread before its subscriptions."""
        if self.cycles is not None:
            self.cycles.stop()
        super().destroy_node()

    # Inputs.

    def _on_measured(self, message, take) -> None:
        now = time.monotonic()
        known = len(self.measured.unknown)
        clock = NodeClock.of(self.get_clock(), self.parameters['max_delay'])
        dropped = take(message, now, clock)
        if dropped:
            self.get_logger().warning(
                f'{dropped}. Check its publisher.', throttle_duration_sec=1.0)
            self.diagnostics.report(ERROR, dropped)
            return
        if len(self.measured.unknown) > known:
            unknown = ', '.join(sorted(self.measured.unknown)[:20])
            self.get_logger().info(
                f'ignoring joints that are not needed: {unknown}', throttle_duration_sec=1.0)
        if not self.measured.touched:
            return
        if self.parameters['compute_on'] != 'reference' and self.measured.whole:
            self.stamp = self.stamp_of(message)
            if self.active:
                self._compute(now)

    def _on_reference(self, message) -> None:
        compute_on = self.parameters['compute_on']
        if compute_on == 'reference':
            self.stamp = self.stamp_of(message)
        if compute_on != 'joint_states':
            self._compute(time.monotonic())

    # Output.

    def _compute(self, now: float) -> None:
        """Do one cycle; an exception ends it, and `on_failure` follows the stale policy."""
        problems = self.measured.problems(now, self.parameters['timeout'])
        if problems:
            self._without_torque(f'no torque: {listed(problems)}', now)
            return
        stale = self.inputs.stale(now)
        if stale:
            self._without_torque(f'{stale} stale', now)
            return
        self.catch_up()
        positions, velocities = self.measured.without_left_out(now, self.parameters['timeout'])
        if self.inputs.wrenches.put(positions, now):
            self.cycle.shaping.change()
        motion = self.inputs.motion(seconds(self.stamp), positions, velocities)
        self.cycle.publish(self.feed_forward.torque(motion), self.stamp, now)
        self.reports.work()
        self.times.add(time.monotonic() - now, now - self.previous_input)
        self.previous_input = now

    def catch_up(self) -> None:
        """Make changed parameters and the present direction of gravity take effect."""
        self._take_parameters()
        if self.changes.take():
            self.cycle.shaping.change()
            self.log_changes.trigger()
        self.run_time_model.update_gravity()

    def _plot(self) -> None:
        """Publish the terms of the last torque, in the executor's thread."""
        assert self.plots is not None
        with self.lock:
            worked = self.cycle.shaping.published is not None and not self.cycle.episode.on
            if self.active and worked:
                self.plots.publish(nanoseconds(self.stamp))

    def _log_changes(self) -> None:
        """Log in the executor's thread; it takes longer than a cycle."""
        self.changes.log()

    def _take_parameters(self) -> None:
        changed = self.parameters.take_changes() if self.parameters.changed else None
        if changed:
            if changed & CHANGEABLE:
                self.changes.ask()
            self.apply_settings()
            if changed & {'timeout', 'reference_timeout'}:
                self._set_watch()

    # No output.

    def failure_sentence(self, what: str, why: str) -> str:
        """Return the log line on a failure."""
        return f'no torque: {why}' if what in CYCLES else super().failure_sentence(what, why)

    def on_failure(self, what: str, why: str) -> None:
        """Report a failure; where it ended a cycle, follow the stale policy at once."""
        if self.active and what in CYCLES:
            with self.lock:
                self._without_torque(f'no torque: {why}', time.monotonic())
        else:
            super().on_failure(what, why)

    def _without_torque(self, why: str, now: float) -> None:
        """Follow the stale policy, and report the reason."""
        if not self.measured.complete:
            self.diagnostics.report(ERROR, why)
            return
        self.diagnostics.report(ERROR, f'{why}, policy {self.cycle.policy}')
        self.cycle.stop(self.measured.positions, self.stamp, now)

    def _watch(self) -> None:
        with self.lock:
            if self.active:
                self._take_parameters()  # such as the stale policy while it acts
                self._check_ages(time.monotonic())

    def _check_ages(self, now: float) -> None:
        problems = self.measured.problems(now, self.parameters['timeout'])
        if not self.measured.complete:
            self.reports.missing(problems)
        elif self.measured.age(now) > self.parameters['timeout']:
            faults = {name: why for name, why in problems.items() if 'stale' not in why}
            self._without_torque(
                'joint_states stale' + (f'; {listed(faults)}' if faults else ''), now)
        elif self.inputs.stale(now):
            self._without_torque(f'{self.inputs.stale(now)} stale', now)
        elif self.cycle.episode.on and problems:
            self._without_torque(f'no torque: {listed(problems)}', now)
        elif self.cycle.shaping.published is None:
            if self.inputs.awaited:
                self.diagnostics.report(WARN, f'waiting for {self.inputs.awaited}')
        elif now - self.previous_input > self._longest_silence:
            self._without_torque('no torque: no message has started a computation', now)

    @property
    def _longest_silence(self) -> float:
        """Time without a torque, though states come, after which the stale policy acts [s]."""
        p = self.parameters
        waits = p['reference_timeout'] if p['compute_on'] == 'reference' else 0.0
        return max(p['timeout'], waits)

    def diagnostic_values(self) -> dict[str, Any]:
        """Return timing and the state of the inputs."""
        if self.robot is None or self.measured is None:
            return {}
        with self.lock:
            return self.reports.values(time.monotonic())


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    return run_node(InverseDynamicsNode, args)


if __name__ == '__main__':
    sys.exit(main())

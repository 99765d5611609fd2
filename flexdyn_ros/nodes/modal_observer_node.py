# SPDX-License-Identifier: Apache-2.0
"""The node that estimates the vibration of an arm from its sensors."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.modal_observer import ModalObserver
from flexdyn_ros.modal_observer.design import UNOBSERVABLE
from flexdyn_ros.nodes.arm.plausibility import bounds, Plausible
from flexdyn_ros.nodes.arm.times import MessageStamps, nanoseconds, NodeClock, seconds
from flexdyn_ros.nodes.common.diagnostics import ERROR, listed, OK, WARN
from flexdyn_ros.nodes.common.robot_node import RobotNode, run_node
from flexdyn_ros.nodes.modal_observer.sensor_readings import SensorReadings
import numpy as np
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import JointState


class ModalObserverNode(RobotNode):
    """Updates a modal observer with each message of joint_states."""

    def __init__(self, **node_arguments: Any):
        """Create the publisher and subscriptions."""
        self.observer: Any = None  # a ModalObserver once configured
        super().__init__('modal_observer_node', **node_arguments)
        self._discard()
        self._stamps = MessageStamps()
        self.readings = SensorReadings(self)
        self.modal_states = self.create_lifecycle_publisher(JointState, '~/modal_states', 10)
        profile = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)
        self.joint_states = self.create_subscription(
            JointState, 'joint_states', self._on_joint_states, profile)

    def set_up(self) -> None:
        """Prepare for the loaded robot, and compute once, so that code is generated."""
        p = self.parameters
        self.observer = ModalObserver(
            self.dyn, 1.0 / p['rate'], amplitude=p['amplitude'],
            stiffness_error=p['stiffness_error'], torque_error=p['torque_error'],
            friction_error=p['friction_error'])
        rest = np.zeros(self.robot.n_joints)
        self.modes = self.observer.observability(rest)
        for mode in self.modes:
            if not mode.observable:
                self.get_logger().warning(
                    f'With joints at zero, the mode of {mode.frequency:.2f} Hz '
                    f'({mode.made_of}) is unobservable: its predicted error is '
                    f'{100.0 * mode.error:.0f} %, more than {100.0 * UNOBSERVABLE:.0f} %. '
                    'It is not estimated. Add a <sensor> on the link side.')
        self.readings.set_sensors(
            self.observer.sensors, {joint.name: joint.child for joint in self.robot.joints},
            bounds(self.robot, Plausible()))

    def start(self) -> None:
        """Start anew."""
        self._discard()
        self._stamps = MessageStamps()
        self.timer = self.create_steady_timer(self.parameters['timeout'], self._watch)
        self.diagnostics.report(WARN, 'waiting for joint_states')

    def stop(self) -> None:
        """Stop watching."""
        self.destroy_timer(self.timer)

    def _discard(self) -> None:
        self._last: Optional[float] = None
        self._effort: Optional[np.ndarray] = None
        self._received = -np.inf
        self._squares = np.zeros(0)
        self.updates = 0
        if self.observer is not None:
            self.observer.reset()

    def _watch(self) -> None:
        age = time.monotonic() - self._received
        if np.isfinite(self._received) and age > self.parameters['timeout']:
            self._discard()
            self.diagnostics.report(ERROR, f'no estimate: joint_states stale for {age:.3g} s, in '
                                           'which no new stamp has come')

    def _on_joint_states(self, message: JointState) -> None:
        if not self.active:
            return
        now = time.monotonic()
        wrong = self._stamps.problem(
            tuple(message.name), nanoseconds(message.header.stamp), None,
            NodeClock.of(self.get_clock(), 0.0))
        if self._stamps.repeated:
            return  # no time has passed; `_watch` reports a stamp that stands still
        problems = {'joint_states': wrong[1]} if wrong else self.readings.take(message, now)
        effort = self.readings.efforts(message, self.robot.joint_names)
        problems.update(self.readings.problems(now, self.parameters['timeout']))
        if effort is None and not wrong:
            problems['joint_states'] = 'needs a finite effort of every joint'
        if problems:
            self._discard()
            self.diagnostics.report(ERROR, f'no estimate: {listed(problems)}')
            return
        self._received = now
        self._update(message, effort)

    def _update(self, message: JointState, effort: np.ndarray) -> None:
        """Bring the estimate to the time of a message, and publish it."""
        when = seconds(self.stamp_of(message))
        interval = 0.0 if self._last is None else when - self._last
        steps = round(interval * self.parameters['rate'])
        if self._last is not None and not 0.0 <= interval <= self.parameters['timeout']:
            self._discard()
            steps = 0
        if self._last is not None and steps == 0:
            return
        # Parts of a period remain for the next message.
        when = when if self._last is None else self._last + steps / self.parameters['rate']
        before = effort if self._effort is None else self._effort
        try:
            q, qd = self.observer.update(0.5 * (before + effort), self.readings.values, steps)
        except FlexdynError as error:
            self._discard()
            self.diagnostics.report(ERROR, f'no estimate: {error}')
            return
        self._last, self._effort = when, effort
        if not np.isfinite(q).all() or not np.isfinite(qd).all():
            self._discard()
            self.diagnostics.report(ERROR, 'no estimate: it is not finite; it starts anew')
            return
        n = self.robot.n_joints
        self.updates += 1
        squares = self.observer.innovation**2
        weight = 1.0 / min(self.updates, self.parameters['rate'])  # a mean over a second
        self._squares = squares if self.updates == 1 else (
            self._squares + weight * (squares - self._squares))
        estimate = JointState(
            name=self.robot.mode_names, position=q[n:].tolist(), velocity=qd[n:].tolist())
        estimate.header.stamp = self.stamp_of(message)
        self.modal_states.publish(estimate)
        self.diagnostics.report(OK, 'estimating')

    def diagnostic_values(self) -> dict[str, Any]:
        """Return the innovations, and the observability of each mode."""
        if self.observer is None or self.robot is None:
            return {}
        found: dict[str, Any] = {'updates': self.updates}
        for sensor, square in zip(self.observer.sensors, self._squares):
            found[f'innovation/{sensor.name}'] = round(float(np.sqrt(square)), 3)
        for mode in self.observer.modes or self.modes:
            found[f'mode/{mode.frequency:.2f} Hz'] = (
                f'{mode.made_of}: predicted error {100.0 * mode.error:.1f} %'
                + ('' if mode.observable else ', unobservable, not estimated'))
        return found


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    return run_node(ModalObserverNode, args)


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""One torque after the other: shaped, saturated and published, or by the stale policy."""

from __future__ import annotations

from array import array
from contextlib import suppress
import time
from typing import Any, Optional, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.nodes.common.topics import LATCHED
from flexdyn_ros.nodes.torque.driven_joints import declared_effort, EffortLimits
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.torque_shaping import policy_in_force, StaleEpisode, TorqueShaping
import numpy as np
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

COUNT_PERIOD = 0.05  # between two counts of subscribers [s]


class TorqueOutput:
    """
    Publishes torques on ~/commands, ~/joint_torques and ~/effort_display, where one subscribes.

    ~/effort_display carries the joints with an effort limit alone, for the Effort display of
    RViz, which needs the limit to scale its arrows.
    """

    def __init__(self, node: LifecycleNode, command_type: str):
        """
        Create the publishers.

        Args:
            node: The node.
            command_type: Message type of ~/commands, "Float64MultiArray" or "JointState".
        """
        self._node = node
        self._as_state = command_type == 'JointState'
        kind = JointState if self._as_state else Float64MultiArray
        self._commands = node.create_lifecycle_publisher(kind, '~/commands', 1)
        self._torques = node.create_lifecycle_publisher(JointState, '~/joint_torques', 1)
        self._display = node.create_lifecycle_publisher(JointState, '~/effort_display', 1)
        self._names = node.create_publisher(JointState, '~/joint_names', LATCHED)
        self._joints: tuple[str, ...] = ()
        self._limited: list[int] = []
        self._listened: tuple[bool, ...] = ()
        self._listened_at = -COUNT_PERIOD
        # Filled anew and published, again and again.
        self._numbers, self._state, self._shown = Float64MultiArray(), JointState(), JointState()

    def set_joints(self, robot: Robot, joints: Sequence[str]) -> None:
        """
        Set and publish (latched) the order of the torques.

        Args:
            robot: The robot.
            joints: Joint names in the order of the command.
        """
        self._joints = tuple(joints)
        self._limited = [
            k for k, name in enumerate(joints) if declared_effort(robot, name) is not None
        ]
        self._state.name = list(joints)
        self._shown.name = [joints[k] for k in self._limited]
        self._names.publish(JointState(name=list(joints)))

    def publish(self, torque: np.ndarray, stamp) -> None:
        """
        Publish one torque.

        Args:
            torque: One finite value for each joint, shape (n,) [N m | N].
            stamp: Time of the state that it belongs to.

        Raises:
            ValueError: The vector has the wrong length or is not finite.
        """
        if len(torque) != len(self._joints) or not np.isfinite(torque).all():
            raise ValueError(f'torque is not {len(self._joints)} finite numbers: {torque}')
        state, values = self._state, _numbers(torque)
        state.header.stamp, state.effort = stamp, values
        self._numbers.data = values
        commands, torques, display = self._who_listens()
        if commands:
            self._commands.publish(state if self._as_state else self._numbers)
        if torques:
            self._torques.publish(state)
        if display and self._limited:
            self._shown.header.stamp = stamp
            self._shown.effort = _numbers(torque[self._limited])
            self._display.publish(self._shown)

    def _who_listens(self) -> tuple[bool, ...]:
        """Return which of the three topics are subscribed to, counted now and then."""
        now = time.monotonic()
        if now - self._listened_at >= COUNT_PERIOD:
            self._listened_at = now
            publishers = self._commands, self._torques, self._display
            self._listened = tuple(each.get_subscription_count() > 0 for each in publishers)
        return self._listened


def _numbers(torque: np.ndarray) -> array:
    return array('d', np.ascontiguousarray(torque, dtype=float).tobytes())


class TorqueNotFinite(FlexdynError):
    """A computed torque is not finite."""


class TorqueCycle:
    """
    Publishes shaped and saturated torques, and follows the stale policy where there is none.

    Attributes:
        output: The publishers.
        shaping: Soft start, rate limit and ramps.
        episode: The time since no torque can be computed.
        saturated: Joints whose last torque was saturated.
        stops: Number of times that the stale policy began to act.
    """

    def __init__(self, output: TorqueOutput):
        """
        Prepare without a robot.

        Args:
            output: The publishers.
        """
        self.output = output
        self.shaping = TorqueShaping()
        self.episode = StaleEpisode()
        self.saturated: tuple[str, ...] = ()
        self.stops = 0
        self._held: Optional[np.ndarray] = None

    def set_arm(self, feed_forward: FeedForward, columns: list[int], limits: EffortLimits) -> None:
        """
        Set whose torques these are.

        Args:
            feed_forward: Computes them.
            columns: Index of each published joint among the joint velocities.
            limits: Their effort limits.
        """
        self.feed_forward = feed_forward
        self._columns = columns
        self._limits = limits

    def apply(self, parameters: Any) -> None:
        """Take over the parameters of shaping and stale policy."""
        self.shaping.soft_start = parameters['soft_start_time']
        self.shaping.rate_limit = parameters['torque_rate_limit']
        self.shaping.change_time = parameters['change_ramp_time']
        self.episode.gravity_time = parameters['stale_gravity_time']
        self.episode.ramp_time = parameters['stale_ramp_time']
        self._chosen = parameters['stale_policy']

    @property
    def policy(self) -> str:
        """The stale policy in force."""
        contained = self.feed_forward.mode == 'gravity' or self.feed_forward.terms.gravity
        return policy_in_force(self._chosen, contained)

    def begin(self) -> None:
        """Start anew, at activation."""
        self.shaping.begin()
        self.episode.end()
        self.saturated = ()

    def publish(self, torque: np.ndarray, stamp: Any, now: float) -> None:
        """
        Publish a computed torque.

        Args:
            torque: Of all joints, shape (n_joints,) [N m | N].
            stamp: Time of the state that it belongs to.
            now: Steady time [s].

        Raises:
            TorqueNotFinite: It is not finite.
        """
        torque = torque[self._columns]
        if not np.isfinite(torque).all():
            raise TorqueNotFinite('the computed torque is not finite')
        self._send(self.shaping.shaped(torque, now), stamp, now)
        self.episode.end()

    def stop(self, positions: np.ndarray, stamp: Any, now: float) -> None:
        """
        Follow the stale policy, once a torque has been published since activation.

        Args:
            positions: Last known joint positions, shape (n_positions,) [rad | m].
            stamp: Time of the state.
            now: Steady time [s].
        """
        self.feed_forward.reset()
        last = self.shaping.published
        if last is None:
            return
        self.shaping.interrupt()
        if not self.episode.on:
            self.stops += 1
            self._held = last
        weight = self.episode.weight(now)
        if self.policy == 'gravity':
            self._send(weight * self._gravity(positions), stamp, now)
        elif self.policy == 'zero':
            self._send(np.zeros(len(last)), stamp, now)

    def _gravity(self, positions: np.ndarray) -> np.ndarray:
        """Return gravity of the published joints; where it fails, the last torque before."""
        # Whatever ended the cycle may end this as well, and the arm must be held all the same.
        with suppress(Exception):
            torque = self.feed_forward.gravity_torque(positions)[self._columns]
            if np.isfinite(torque).all():
                return torque
        return np.zeros(len(self._columns)) if self._held is None else self._held

    def _send(self, torque: np.ndarray, stamp: Any, now: float) -> None:
        limited, self.saturated = self._limits.saturate(torque)
        self.output.publish(limited, stamp)
        self.shaping.note(limited, now)

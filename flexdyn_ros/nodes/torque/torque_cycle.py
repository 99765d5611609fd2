# SPDX-License-Identifier: Apache-2.0
"""One torque after the other: shaped, saturated and published, or by the stale policy."""

from __future__ import annotations

from contextlib import suppress
import math
import struct
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
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

COUNT_PERIOD = 0.05  # between two counts of subscribers [s]
# The stamp of a header that begins a message, after the four bytes of the encapsulation.
STAMP, STAMP_AT = struct.Struct('=iI'), 4


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
        self._messages: tuple[SerializedMessage, ...] = ()

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
        state = JointState(name=list(joints), effort=[1.0] * len(joints))
        shown = JointState(
            name=[joints[k] for k in self._limited], effort=[1.0] * len(self._limited))
        command = state if self._as_state else Float64MultiArray(data=state.effort)
        self._messages = tuple(map(SerializedMessage, (command, state, shown)))
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
        values = torque.tolist()
        if len(values) != len(self._joints) or not all(map(math.isfinite, values)):
            raise ValueError(f'torque is not {len(self._joints)} finite numbers: {torque}')
        command, state, shown = self._messages
        commands, torques, display = self._subscribed()
        if commands:
            self._commands.publish(command.with_values(values, stamp if self._as_state else None))
        if torques:
            self._torques.publish(state.with_values(values, stamp))
        if display and self._limited:
            self._display.publish(shown.with_values([values[k] for k in self._limited], stamp))

    def _subscribed(self) -> tuple[bool, ...]:
        """Return whether each of the three topics has subscribers, counted now and then."""
        now = time.monotonic()
        if now - self._listened_at >= COUNT_PERIOD:
            self._listened_at = now
            publishers = self._commands, self._torques, self._display
            self._listened = tuple(each.get_subscription_count() > 0 for each in publishers)
        return self._listened


class SerializedMessage:
    """
    The bytes of a message whose last field, a sequence of doubles, changes.

    Converting a message of rclpy to bytes takes longer than computing its values.
    """

    def __init__(self, message: Any):
        """Serialize once; the last doubles, which must not be zero, are those that change."""
        values = message.data if isinstance(message, Float64MultiArray) else message.effort
        self._bytes = bytearray(serialize_message(message))
        self._values = struct.Struct(f'={len(values)}d')
        self._at = self._bytes.rindex(self._values.pack(*values))

    def with_values(self, values: Sequence[float], stamp: Any = None) -> bytes:
        """
        Return the bytes with other values, and the header's stamp where one is given.

        Args:
            values: As many as at first.
            stamp: The stamp; None leaves it as it is.
        """
        self._values.pack_into(self._bytes, self._at, *values)
        if stamp is not None:
            STAMP.pack_into(self._bytes, STAMP_AT, stamp.sec, stamp.nanosec)
        return bytes(self._bytes)


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
        self._columns = np.array(columns, dtype=int)
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
        if not all(map(math.isfinite, torque.tolist())):
            raise TorqueNotFinite(
                'the computed torque is not finite; check joint_states and the reference')
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
        # The cause that ended the cycle may end this as well. The arm must be held all the same.
        with suppress(Exception):
            torque = self.feed_forward.gravity_torque(positions)[self._columns]
            if np.isfinite(torque).all():
                return torque
        return np.zeros(len(self._columns)) if self._held is None else self._held

    def _send(self, torque: np.ndarray, stamp: Any, now: float) -> None:
        limited, self.saturated = self._limits.saturate(torque)
        self.output.publish(limited, stamp)
        self.shaping.note(limited, now)

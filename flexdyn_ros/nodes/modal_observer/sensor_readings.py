# SPDX-License-Identifier: Apache-2.0
"""The newest reading of each sensor, from the messages that carry it."""

from __future__ import annotations

import time
from typing import Any, Iterable, Mapping, Optional, Sequence

from flexdyn_ros.model.records.sensor import MountedSensor
from flexdyn_ros.nodes.arm.arm_coordinates import motor_side
from flexdyn_ros.nodes.arm.multi_dof_joint import vector_components
from flexdyn_ros.nodes.arm.plausibility import Bound
from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import Imu, JointState

_MISSHAPEN = 'it needs different names, and a position of each name'
_POSITIONS = ('motor_position', 'link_position')


class SensorReadings:
    """
    Collects readings by sensor.

    Encoders come with joint_states, gyroscopes and accelerometers with ~/imu by its frame_id.
    Force/torque sensors come with ~/wrench, whose frame_id is the child link of their joint.
    ~/readings carries any sensor by its name.

    Attributes:
        sensors: The sensors.
        values: Their newest readings, (sensors,).
        subscriptions: Of ~/readings, ~/imu and ~/wrench.
    """

    def __init__(self, node: Any):
        """
        Subscribe.

        Args:
            node: A ModalObserverNode.
        """
        self._node, self._prefix = node, node.parameters['frame_prefix']
        self.set_sensors((), {}, {})
        profile = QoSProfile(depth=5, reliability=QoSReliabilityPolicy.BEST_EFFORT)
        self.subscriptions = [
            node.create_subscription(kind, topic, callback, profile)
            for kind, topic, callback in (
                (JointState, '~/readings', self._on_readings), (Imu, '~/imu', self._on_imu),
                (WrenchStamped, '~/wrench', self._on_wrench))]

    def set_sensors(
        self, sensors: Sequence[MountedSensor], links: Mapping[str, str],
        bounds: Mapping[str, Bound],
    ) -> None:
        """
        Discard all readings.

        Args:
            sensors: The sensors from now on.
            links: Child link of each joint.
            bounds: Of plausible positions, by joint.
        """
        self.sensors, self._links, self._bounds = tuple(sensors), links, bounds
        self.values = np.full(len(sensors), np.nan)
        self._times = np.full(len(sensors), -np.inf)

    def take(self, message: JointState, now: float) -> dict[str, str]:
        """
        Take over the encoders of a message of joint_states.

        Args:
            message: The message.
            now: Steady time [s].

        Returns:
            The fault of it, by joint.
        """
        at = _by_name(message)
        if at is None:
            return {'joint_states': f'dropped: {_MISSHAPEN}'}
        problems = {}
        for k, sensor in enumerate(self.sensors):
            if sensor.measures not in _POSITIONS:
                continue
            motor = motor_side(sensor.frame)
            name = motor if sensor.measures == 'motor_position' and motor in at else sensor.frame
            # Without an entry of its motor side, a joint's own entry is the motor side.
            if sensor.measures == 'link_position' and motor not in at:
                continue
            value = at.get(name, np.nan)
            implausible = self._bounds[sensor.frame].problem(value, 0.0)
            if not np.isfinite(value):
                problems[sensor.frame] = 'has no finite position'
            elif implausible:
                problems[sensor.frame] = implausible
            else:
                self._store(k, value, now)
        return problems

    def efforts(self, message: JointState, joints: Iterable[str]) -> Optional[np.ndarray]:
        """Return the joints' efforts in a message, (n_joints,), or None where some lack."""
        if len(message.effort) != len(message.name):
            return None
        at = dict(zip(message.name, message.effort))
        found = [at.get(motor_side(name), np.nan) for name in joints]
        found = [at.get(name, np.nan) if np.isnan(value) else value
                 for name, value in zip(joints, found)]
        return np.array(found) if np.isfinite(found).all() else None

    def problems(self, now: float, timeout: float) -> dict[str, str]:
        """Return the faults of sensors at a steady time [s], by their names."""
        return {
            sensor.name: 'never received' if np.isinf(received) else
            f'stale for {now - received:.3g} s'
            for sensor, received in zip(self.sensors, self._times) if now - received > timeout}

    def _on_readings(self, message: JointState) -> None:
        at = _by_name(message)
        if at is None:
            self._node.get_logger().warning(
                f'~/readings dropped: {_MISSHAPEN}. Check its publisher.',
                throttle_duration_sec=1.0)
            return
        for k, sensor in enumerate(self.sensors):
            self._store(k, at.get(sensor.name, np.nan), time.monotonic())

    def _on_imu(self, message: Imu) -> None:
        self._project('angular_velocity', message, message.angular_velocity)
        self._project('acceleration', message, message.linear_acceleration)

    def _on_wrench(self, message: WrenchStamped) -> None:
        self._project('force', message, message.wrench.force)
        self._project('torque', message, message.wrench.torque)

    def _project(self, kind: str, message: Any, vector: Any) -> None:
        frame = message.header.frame_id.removeprefix(self._prefix)
        for k, sensor in enumerate(self.sensors):
            if sensor.measures == kind and self._links.get(sensor.frame, sensor.frame) == frame:
                reading = np.dot(sensor.axis, vector_components(vector))
                self._store(k, float(reading), time.monotonic())

    def _store(self, k: int, value: float, now: float) -> None:
        if np.isfinite(value):
            self.values[k], self._times[k] = value, now


def _by_name(message: JointState) -> Optional[dict[str, float]]:
    """Return the positions of a message by name; None where its shape is wrong."""
    at = dict(zip(message.name, message.position))
    return at if len(at) == len(message.name) == len(message.position) else None

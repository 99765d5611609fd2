# SPDX-License-Identifier: Apache-2.0
"""The acceleration of a base whose motion is prescribed."""

from __future__ import annotations

import time
from typing import Any

from flexdyn_ros.model.extension.joint_reader import BASE_COORDINATES
from flexdyn_ros.nodes.watchdog import Watchdog
from geometry_msgs.msg import AccelStamped
import numpy as np

TOPIC = '~/base_acceleration'


class BaseInput:
    """
    Keeps the newest acceleration of a prescribed base; without one the base moves evenly.

    Pose and velocity of the base come in multi_dof_joint_states, as those of its floating joint.

    Attributes:
        watchdog: The age of the acceleration.
        refused: Number of messages that were refused.
    """

    def __init__(self, node: Any):
        """
        Subscribe.

        Args:
            node: An InverseDynamicsNode.
        """
        self.watchdog = Watchdog(0.0)
        self.refused = 0
        self._node = node
        self._acceleration = np.zeros(BASE_COORDINATES)
        self._subscription = node.create_subscription(AccelStamped, TOPIC, self._on_message, 1)

    def clear(self) -> None:
        """Forget the acceleration."""
        self._acceleration = np.zeros(BASE_COORDINATES)
        self.watchdog.clear()

    def _on_message(self, message: AccelStamped) -> None:
        node = self._node
        if not node.active:
            return
        linear, angular = message.accel.linear, message.accel.angular
        values = np.array([linear.x, linear.y, linear.z, angular.x, angular.y, angular.z])
        largest = node.parameters['plausible.acceleration']
        if node.robot.base_motion != 'prescribed' or not (np.abs(values) <= largest).all():
            self.refused += 1
            node.get_logger().warning(
                f'{TOPIC} ignored: it needs <base motion="prescribed"/> and plausible numbers, '
                f'got {values.tolist()}', throttle_duration_sec=1.0)
            return
        self._acceleration = values
        self.watchdog.feed(time.monotonic())

    def put(self, velocities: np.ndarray, accelerations: np.ndarray) -> None:
        """
        Write the rates of the base's velocities.

        With v and w in axes of the body, which turn, dv/dt = a - w x v.

        Args:
            velocities: Of the joints, shape (n_joints,) [m/s, rad/s].
            accelerations: The same, to be written into [m/s^2, rad/s^2].
        """
        if not self.watchdog.started:
            return
        base = self._acceleration.copy()
        base[:3] -= np.cross(velocities[3:6], velocities[:3])
        accelerations[:BASE_COORDINATES] = base

# SPDX-License-Identifier: Apache-2.0
"""Gravity of arms whose base is tilted or moves: from a frame of TF, or from an IMU."""

from __future__ import annotations

import time
from typing import Any, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.configuration import quaternion_matrix
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.nodes.arm.multi_dof_joint import (
    is_unit,
    quaternion_components,
    vector_components,
)
from flexdyn_ros.nodes.common.topics import TransformTopics
from flexdyn_ros.nodes.common.transforms import holding_link, pose_in, TransformUnknown
import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import Imu


class GravityUnknown(FlexdynError):
    """No transform to the frame of gravity has arrived yet."""


class GravityFrame:
    """
    Turns gravity from a frame of TF to the arm's root frame.

    While TF has no transform, the last rotation stays in force.

    Attributes:
        frame: The frame that gravity is given in; empty for the root frame.
        problem: The reason for which TF has no transform at present, or None.
    """

    def __init__(self, node: Node, frame: str, timeout: float):
        """
        Listen to TF, where a frame is given.

        Args:
            node: Node to subscribe with.
            frame: Name of the frame, or an empty one.
            timeout: Age from which a transform on /tf is stale, on a steady clock [s].
        """
        self.frame = frame
        self.problem: Optional[str] = None
        self._timeout = timeout
        self._rotation: Optional[np.ndarray] = None
        self._topics = TransformTopics(node) if frame else None

    def check(self) -> None:
        """Raise FlexdynError where transforms are needed and cannot be received."""
        if self._topics is not None:
            self._topics.check('gravity_frame')

    def in_root_frame(self, gravity: np.ndarray, root: str) -> np.ndarray:
        """
        Return gravity in the root frame, shape (3,) [m/s^2].

        Args:
            gravity: Gravity in `frame`, shape (3,) [m/s^2].
            root: Name of the root frame in TF.

        Raises:
            GravityUnknown: There has been no transform yet.
        """
        if self._topics is None:
            return gravity
        try:
            self._rotation, _ = self._topics.tree.transform(
                root, self.frame, time.monotonic(), self._timeout)
            self.problem = None
        except TransformUnknown as error:
            if self._rotation is None:
                raise GravityUnknown(f'gravity is unknown: {error}') from error
            self.problem = f'the last direction of gravity is in force: {error}'
        return self._rotation @ gravity


TOPIC = '~/imu'
LARGEST_MOTION = 0.2  # part of gravity by which an acceleration may differ from it [1]


class ImuGravity:
    """
    Turns the direction of gravity as an IMU measures it to the arm's root frame.

    The orientation counts where the message has one; it must be that of the IMU against axes with
    z up (REP 145). Else the direction is that of the low-pass filtered acceleration, which is
    right while the base stands or moves evenly. While the IMU is silent the last direction stays.

    Attributes:
        frame: Name of the axes in the log.
        problem: The fault of the IMU at present, or None.
    """

    frame = 'the world, measured by the IMU'

    def __init__(self, node: Node, timeout: float, cutoff_frequency: float, frame_prefix: str):
        """
        Subscribe.

        Args:
            node: Node to subscribe with.
            timeout: Age from which a direction is stale, on a steady clock [s].
            cutoff_frequency: Of the filter of accelerations [Hz].
            frame_prefix: Prefix of frame names.
        """
        self.problem: Optional[str] = None
        self._timeout = timeout
        self._rate = 2.0 * np.pi * cutoff_frequency
        self._prefix = frame_prefix
        self._robot: Any = None
        self._frames: dict[str, np.ndarray] = {}
        self._direction: Optional[np.ndarray] = None
        self._received = -np.inf
        profile = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.BEST_EFFORT)
        self._subscription = node.create_subscription(Imu, TOPIC, self._on_imu, profile)

    def set_robot(self, robot: Robot) -> None:
        """Set the robot whose root frame is used."""
        self._robot = robot
        self._frames = {}
        self._direction = None

    def check(self) -> None:
        """Nothing has to be installed."""

    def _on_imu(self, message: Imu) -> None:
        if self._robot is None:
            return
        down = self._down(message)
        rotation = self._rotation(message.header.frame_id)
        if down is None or rotation is None:
            return
        now = time.monotonic()
        direction = rotation @ down
        if self._direction is not None and not _has_orientation(message):
            weight = 1.0 - np.exp(-self._rate * min(now - self._received, self._timeout))
            direction = self._direction + weight * (direction - self._direction)
        self._direction = direction / np.linalg.norm(direction)
        self._received = now
        self.problem = None

    def _down(self, message: Imu) -> Optional[np.ndarray]:
        """Return the unit vector of gravity in axes of the IMU, or None."""
        if _has_orientation(message):
            quaternion = quaternion_components(message.orientation)
            return -quaternion_matrix(quaternion / np.linalg.norm(quaternion))[2]
        measured = vector_components(message.linear_acceleration)
        size, standard = np.linalg.norm(measured), 9.81
        # At rest an accelerometer measures the opposite of gravity.
        if not abs(size - standard) < LARGEST_MOTION * standard:
            return None
        return -measured / size

    def _rotation(self, name: str) -> Optional[np.ndarray]:
        """Return the rotation from axes of a frame to those of the root, or None."""
        if name not in self._frames:
            root = self._robot.root
            frame = name.removeprefix(self._prefix) or root
            known = frame in self._robot.frame_names
            if not known or holding_link(self._robot, frame, (root,)) is None:
                self.problem = (
                    f'{TOPIC} ignored: frame_id "{name}" must be a link that fixed joints connect '
                    f'to {root}')
                return None
            self._frames[name] = pose_in(self._robot, root, frame)[0]
        return self._frames[name]

    def in_root_frame(self, gravity: np.ndarray, root: str) -> np.ndarray:
        """
        Return gravity in the root frame, shape (3,) [m/s^2].

        Args:
            gravity: Its length counts, shape (3,) [m/s^2].
            root: Not looked at: the IMU states its own frame.

        Raises:
            GravityUnknown: No message has stated a direction yet.
        """
        if self._direction is None:
            raise GravityUnknown(
                f'gravity is unknown: {self.problem or f"no {TOPIC} yet"}; publish {TOPIC}')
        age = time.monotonic() - self._received
        if age > self._timeout:
            self.problem = (
                f'the last direction of gravity is in force: {TOPIC} is stale for {age:.3g} s')
        return np.linalg.norm(gravity) * self._direction


def _has_orientation(message: Imu) -> bool:
    given = message.orientation_covariance[0] >= 0.0
    return given and is_unit(quaternion_components(message.orientation))

# SPDX-License-Identifier: Apache-2.0
"""Gravity given in a frame of TF, for arms whose base is tilted or moves."""

from __future__ import annotations

import time
from typing import Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.transform_topics import TransformTopics
from flexdyn_ros.nodes.transform_tree import TransformUnknown
import numpy as np
from rclpy.node import Node


class GravityUnknown(FlexdynError):
    """No transform has told yet how the arm is turned against gravity."""


class GravityFrame:
    """
    Turns gravity from a frame of TF to the arm's root frame.

    While TF does not tell, the last known rotation stays.

    Attributes:
        frame: The frame that gravity is given in; empty for the root frame.
        problem: Why TF does not tell at present, or None.
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
        """Raise FlexdynError where transforms are needed and cannot be heard."""
        if self._topics is not None:
            self._topics.check('gravity_frame')

    def turned(self, gravity: np.ndarray, root: str) -> np.ndarray:
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
            self._rotation = self._topics.tree.rotation(
                root, self.frame, time.monotonic(), self._timeout)
            self.problem = None
        except TransformUnknown as error:
            if self._rotation is None:
                raise GravityUnknown(f'gravity is unknown: {error}') from error
            self.problem = f'the last direction of gravity is in force: {error}'
        return self._rotation @ gravity

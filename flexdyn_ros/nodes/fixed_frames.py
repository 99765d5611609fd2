# SPDX-License-Identifier: Apache-2.0
"""Frames that fixed joints hold to a link."""

from __future__ import annotations

from typing import Container, Optional

from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.model.records.robot import Robot
import numpy as np


def holding_link(robot: Robot, frame: str, links: Container[str]) -> Optional[str]:
    """
    Return the first of some links that holds a frame by fixed joints alone, or None.

    Args:
        robot: The robot.
        frame: Name of a link; it may be one of `links` itself.
        links: Names of links.
    """
    parents = {joint.child: joint for joint in robot.joints}
    while frame not in links:
        joint = parents.get(frame)
        if joint is None or joint.type != 'fixed':
            return None
        frame = joint.parent
    return frame


def pose_in(robot: Robot, link: str, frame: str) -> tuple[np.ndarray, np.ndarray]:
    """
    Return rotation, (3, 3), and position, (3,) [m], of a frame that is fixed to a link.

    Args:
        robot: The robot.
        link: Name of the link, not bent.
        frame: Name of the frame.
    """
    backend = ReferenceBackend(robot, list(robot.gravity_vector), {})
    q = robot.neutral_configuration().tolist()
    (turn, place), (own, origin) = (
        [np.array(part, dtype=float) for part in backend.frame_pose(q, name)]
        for name in (link, frame))
    return turn.T @ own, turn.T @ (origin - place)

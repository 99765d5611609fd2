# SPDX-License-Identifier: Apache-2.0
"""Transforms: the newest of TF, and frames that fixed joints hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Container, Iterator, Optional

from flexdyn_ros.dynamics.reference import ReferenceBackend
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.configuration import quaternion_matrix
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.nodes.arm.multi_dof_joint import (
    is_unit,
    quaternion_components,
    vector_components,
)
import numpy as np


class TransformUnknown(FlexdynError):
    """TF has no transform between two frames."""


MOST_FRAMES = 10_000  # that are kept; names without end must not fill the memory


@dataclass(frozen=True)
class FrameTransform:
    """
    Placement of a frame in its parent.

    Attributes:
        parent: The parent frame.
        rotation: From the frame's axes to the parent's, shape (3, 3).
        position: Of its origin in the parent's axes, shape (3,) [m].
        received: Steady time of arrival [s]; None for a static one, which is never stale.
    """

    parent: str
    rotation: np.ndarray
    position: np.ndarray
    received: Optional[float]


class TransformTree:
    """Collects transforms, and returns the one between two frames."""

    def __init__(self):
        """Hold no transforms yet."""
        self._transforms: dict[str, FrameTransform] = {}

    def take(self, message: Any, received: Optional[float]) -> None:
        """
        Take over a message; transforms that are not finite or hold no rotation are ignored.

        Args:
            message: Fields as tf2_msgs/TFMessage.
            received: Steady time of arrival [s]; None for static transforms.
        """
        for stamped in message.transforms:
            quaternion = quaternion_components(stamped.transform.rotation)
            position = vector_components(stamped.transform.translation)
            frame, parent = stamped.child_frame_id, stamped.header.frame_id
            kept = frame in self._transforms or len(self._transforms) < MOST_FRAMES
            if kept and is_unit(quaternion) and np.isfinite(position).all():
                self._transforms[frame] = FrameTransform(
                    parent, quaternion_matrix(quaternion), position, received)

    def transform(
        self, target: str, source: str, now: float, timeout: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return rotation, (3, 3), and position, (3,) [m], of a frame in another.

        Args:
            target: The frame to express it in.
            source: The frame.
            now: Steady time [s].
            timeout: Age from which a transform that is not static is stale [s].

        Raises:
            TransformUnknown: The frames are not connected, or a transform between them is stale.
        """
        above = {found[0]: found for found in self._ancestors(source, now)}
        for ancestor, rotation, position, oldest in self._ancestors(target, now):
            if ancestor in above:
                _, source_rotation, source_position, other = above[ancestor]
                if max(oldest, other) > timeout:
                    raise TransformUnknown(
                        f'the transform from {source} to {target} is stale for '
                        f'{max(oldest, other):.3g} s; check its publisher'
                    )
                return rotation.T @ source_rotation, rotation.T @ (source_position - position)
        raise TransformUnknown(f'TF does not connect {source} to {target}; publish that transform')

    def links_above(self, frame: str, now: float) -> list[str]:
        """Return the ancestors of a frame, itself first."""
        return [name for name, *_ in self._ancestors(frame, now)]

    def _ancestors(
        self, frame: str, now: float
    ) -> Iterator[tuple[str, np.ndarray, np.ndarray, float]]:
        """Yield a frame and its ancestors, rotation and position in each, age of the oldest."""
        rotation, position, oldest, met = np.eye(3), np.zeros(3), 0.0, set()
        while frame not in met:
            yield frame, rotation, position, oldest
            met.add(frame)
            step = self._transforms.get(frame)
            if step is None:
                return
            rotation = step.rotation @ rotation
            position = step.rotation @ position + step.position
            if step.received is not None:
                oldest = max(oldest, now - step.received)
            frame = step.parent


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
        if joint is None or joint.type != 'fixed' or joint.dynamics.bearing:
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
    carrier, carried = (np.array(backend.frame_pose(q, name)) for name in (link, frame))
    relative = np.linalg.solve(carrier, carried)
    return relative[:3, :3], relative[:3, 3]

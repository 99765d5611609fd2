# SPDX-License-Identifier: Apache-2.0
"""The newest transforms of TF, as far as rotations go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from typing import Iterator
from typing import Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.simulation.configuration import quaternion_matrix
import numpy as np

UNIT_TOLERANCE = 1e-2  # by which the length of a quaternion may differ from 1


class TransformUnknown(FlexdynError):
    """TF does not tell how one frame is turned against another."""


@dataclass(frozen=True)
class Turn:
    """
    How a frame is turned in its parent.

    Attributes:
        parent: The parent frame.
        rotation: From the frame's axes to the parent's, shape (3, 3).
        received: Steady time of arrival [s]; None for a static one, which is never stale.
    """

    parent: str
    rotation: np.ndarray
    received: Optional[float]


class TransformTree:
    """Collects transforms and tells the rotation between two frames."""

    def __init__(self):
        """Know nothing yet."""
        self._turns: dict[str, Turn] = {}

    def take(self, message: Any, received: Optional[float]) -> None:
        """
        Take over a message; what is no rotation is left out.

        Args:
            message: Fields as tf2_msgs/TFMessage.
            received: Steady time of arrival [s]; None for static transforms.
        """
        for stamped in message.transforms:
            turn = stamped.transform.rotation
            quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
            if abs(np.linalg.norm(quaternion) - 1.0) < UNIT_TOLERANCE:
                parent = stamped.header.frame_id
                self._turns[stamped.child_frame_id] = Turn(
                    parent, quaternion_matrix(quaternion), received)

    def rotation(self, target: str, source: str, now: float, timeout: float) -> np.ndarray:
        """
        Return the rotation from the axes of one frame to those of another, shape (3, 3).

        Args:
            target: The frame to turn into.
            source: The frame to turn from.
            now: Steady time [s].
            timeout: Age from which a transform that is not static is stale [s].

        Raises:
            TransformUnknown: The frames are not connected, or a transform between them is stale.
        """
        from_source = {frame: (turn, old) for frame, turn, old in self._ancestors(source, now)}
        for ancestor, from_target, oldest in self._ancestors(target, now):
            if ancestor in from_source:
                to_ancestor, other = from_source[ancestor]
                if max(oldest, other) > timeout:
                    raise TransformUnknown(
                        f'the transform from {source} to {target} is stale for '
                        f'{max(oldest, other):.3g} s'
                    )
                return from_target.T @ to_ancestor
        raise TransformUnknown(f'TF does not connect {source} to {target}')

    def _ancestors(self, frame: str, now: float) -> Iterator[tuple[str, np.ndarray, float]]:
        """Yield a frame and its ancestors, the rotation to each, the age of its oldest part."""
        rotation, oldest, met = np.eye(3), 0.0, set()
        while frame not in met:
            yield frame, rotation, oldest
            met.add(frame)
            turn = self._turns.get(frame)
            if turn is None:
                return
            rotation = turn.rotation @ rotation
            if turn.received is not None:
                oldest = max(oldest, now - turn.received)
            frame = turn.parent

# SPDX-License-Identifier: Apache-2.0
"""The measured state of one joint with a transform."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Optional

from flexdyn_ros.nodes.multi_dof_joint import MultiDofJoint
from flexdyn_ros.nodes.plausibility import LARGEST_POSITION, Plausible
import numpy as np

ANY = Plausible(acceleration=math.inf, velocity=math.inf)
UNIT_TOLERANCE = 1e-2  # by which the length of a quaternion may differ from 1


@dataclass
class MultiDofEntry:
    """
    What is known of one joint with a transform.

    Attributes:
        joint: The joint.
        q: Its last valid positions.
        qd: Its last valid velocities.
        received: Steady time of their arrival [s]; None before the first.
        problem: What is wrong with the newest message on this joint, or None.
    """

    joint: MultiDofJoint
    q: Optional[np.ndarray] = None
    qd: Optional[np.ndarray] = None
    received: Optional[float] = None
    problem: Optional[str] = None
    left_out: int = 0

    def take(
        self,
        transform: Any,
        twist: Any,
        need_twist: bool,
        received: float,
        plausible: Plausible = ANY,
    ) -> bool:
        """
        Take over a transform and a twist, None where a message has none.

        Args:
            transform: Fields as geometry_msgs/Transform.
            twist: Fields as geometry_msgs/Twist.
            need_twist: Whether the joint is unusable without a twist.
            received: Steady time of arrival [s].
            plausible: What counts as plausible.

        Returns:
            Whether the motion is plausible.
        """
        problem = _transform_problem(transform)
        moving = np.zeros(6) if twist is None else _numbers(twist.linear, twist.angular)
        if problem is None and need_twist:
            problem = None if twist is not None else 'twist is missing'
        if problem is None and not np.all(np.isfinite(moving)):
            problem = f'twist is {moving.tolist()}'
        if problem is not None:
            self.problem = problem
            return True
        fast = np.abs(moving).max() > plausible.velocity
        if fast or np.abs(_numbers(transform.translation)).max() > LARGEST_POSITION:
            self.left_out += 1
            if self.left_out > plausible.patience:
                self.problem = 'the motion is implausible'
            return False
        self.problem, self.left_out = None, 0
        turn = transform.rotation
        quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
        quaternion /= np.linalg.norm(quaternion)
        place = _numbers(transform.translation)
        self.q = self.joint.positions_of(place, quaternion, self.q)
        self.qd = self.joint.velocities_of(self.q, moving[:3], moving[3:])
        self.received = received
        return True


def _numbers(*vectors: Any) -> np.ndarray:
    return np.array([value for vector in vectors for value in (vector.x, vector.y, vector.z)])


def _transform_problem(transform: Any) -> Optional[str]:
    if transform is None:
        return 'transform is missing'
    turn = transform.rotation
    numbers = [*_numbers(transform.translation, turn), turn.w]
    if not all(map(math.isfinite, numbers)):
        return f'transform is {numbers}'
    if abs(math.hypot(*numbers[3:]) - 1.0) > UNIT_TOLERANCE:
        return f'rotation {numbers[3:]} is no unit quaternion'
    return None

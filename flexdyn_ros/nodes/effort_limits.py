# SPDX-License-Identifier: Apache-2.0
"""Saturation of torques to the effort limits of the URDF."""

from __future__ import annotations

from typing import Optional, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.records.robot import Robot
import numpy as np


class ZeroEffortLimit(FlexdynError):
    """
    Joints to command declare an effort limit of zero, which may mean "none" or "unlimited".

    Attributes:
        joints: The joints.
    """

    def __init__(self, joints: Sequence[str]):
        self.joints = tuple(joints)
        super().__init__(
            f'Joints {", ".join(self.joints)} declare <limit effort="0">. Set the parameter '
            'zero_effort_limit to "as_declared" (their torque stays zero) or "unlimited".'
        )


def declared_effort(robot: Robot, coordinate: str) -> Optional[float]:
    """
    Return the effort limit that the URDF gives a joint coordinate [N m | N], None for none.

    The limit of a joint with several coordinates is none of a single one of them.
    """
    for joint in robot.joints:
        if joint.name == coordinate:
            return joint.limit.effort
    return None


class EffortLimits:
    """
    The effort limit of each joint.

    Attributes:
        joints: Joint names.
        limits: Largest magnitude of each torque, shape (n,) [N m | N]; infinite where the URDF
            gives none.
    """

    def __init__(self, robot: Robot, joints: Sequence[str], zero_effort_limit: str = ''):
        """
        Collect the limits.

        Args:
            robot: The robot.
            joints: Names of the joints, in the order of the torques.
            zero_effort_limit: "as_declared", "unlimited", or empty to refuse a limit of zero.

        Raises:
            ZeroEffortLimit: A joint declares zero and `zero_effort_limit` is empty.
        """
        self.joints = tuple(joints)
        declared = [declared_effort(robot, name) for name in self.joints]
        zero = [name for name, limit in zip(self.joints, declared) if limit == 0.0]
        if zero and not zero_effort_limit:
            raise ZeroEffortLimit(zero)
        if zero_effort_limit == 'unlimited':
            declared = [limit or None for limit in declared]
        self.limits = np.array([np.inf if limit is None else abs(limit) for limit in declared])

    @classmethod
    def none(cls, joints: Sequence[str]) -> EffortLimits:
        """Return limits that never saturate."""
        limits = cls.__new__(cls)
        limits.joints = tuple(joints)
        limits.limits = np.full(len(limits.joints), np.inf)
        return limits

    def saturate(self, torque: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
        """
        Return the torque within the limits, and the names of the joints that were saturated.

        Args:
            torque: One for each joint, shape (n,) [N m | N].
        """
        saturated = np.abs(torque) > self.limits
        names = tuple(name for name, hit in zip(self.joints, saturated) if hit)
        return np.clip(torque, -self.limits, self.limits), names

# SPDX-License-Identifier: Apache-2.0
"""Bounds beyond which a measured or desired motion is taken for a fault and not for a motion."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Mapping, Optional, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.records.robot import Robot
import numpy as np

SMALLEST_MARGIN = 1.0  # of positions beyond their limits [rad | m]
LARGEST_POSITION = 1e4  # without limits [rad | m]


class ImplausibleMotion(FlexdynError):
    """A motion lies beyond the capability of the robot."""


@dataclass(frozen=True)
class Plausible:
    """
    Bounds of plausible motion.

    Attributes:
        factor: Multiple of the velocity limits of the URDF [1].
        velocity: Bound where the URDF has no velocity limit [rad/s | m/s].
        acceleration: Bound of all accelerations [rad/s^2 | m/s^2].
        patience: Number of implausible values in a row that are left out; the next is a fault.
    """

    factor: float = 10.0
    velocity: float = 100.0
    acceleration: float = 1e5
    patience: int = 5


@dataclass(frozen=True)
class Bound:
    """
    Bounds of one joint coordinate.

    Attributes:
        lower: Of the position [rad | m].
        upper: Of the position [rad | m].
        velocity: Of the magnitude of the velocity [rad/s | m/s].
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf

    def problem(self, position: float, velocity: float) -> Optional[str]:
        """Return the implausible part of a state, or None."""
        if not self.lower <= position <= self.upper:
            return f'position {position:.6g} is implausible'
        if not abs(velocity) <= self.velocity:
            return f'velocity {velocity:.6g} is implausible, beyond {self.velocity:.6g}'
        return None


def bounds(robot: Robot, plausible: Plausible) -> dict[str, Bound]:
    """
    Return the bounds of each coordinate that one number states.

    Positions may exceed their limits by the range of the joint, or by 1 rad or m where that is
    more. A velocity limit of zero, and equal position limits, count as none.

    Args:
        robot: The robot.
        plausible: Bounds of plausible motion.
    """
    found = {}
    for joint in robot.joints:
        limit = joint.limit
        lower, upper = -LARGEST_POSITION, LARGEST_POSITION
        if limit.lower is not None and limit.upper is not None and limit.lower < limit.upper:
            margin = max(limit.upper - limit.lower, SMALLEST_MARGIN)
            lower, upper = limit.lower - margin, limit.upper + margin
        fastest = plausible.factor * abs(limit.velocity or 0.0) or plausible.velocity
        for name in joint.coordinate_names:
            found[name] = Bound(lower, upper, fastest)
    return found


class AccelerationGuard:
    """
    Leaves out implausible accelerations, joint by joint.

    Attributes:
        left_out: Number of accelerations that were left out.
    """

    def __init__(self, names: Sequence[str], plausible: Plausible):
        """
        Start at rest.

        Args:
            names: The joint velocity coordinates.
            plausible: Bounds of plausible motion.
        """
        self.left_out = 0
        self._names = tuple(names)
        self._plausible = plausible
        self._last = np.zeros(len(self._names))
        self._in_a_row = np.zeros(len(self._names), dtype=int)

    def accepted(self, accelerations: np.ndarray) -> np.ndarray:
        """
        Return accelerations, implausible ones replaced by the last plausible ones.

        Args:
            accelerations: Shape (n_joints,) [rad/s^2 | m/s^2].

        Raises:
            ImplausibleMotion: Some joint's was implausible too often in a row.
        """
        bad = ~(np.abs(accelerations) <= self._plausible.acceleration)
        if not bad.any():
            self._in_a_row[:] = 0
            self._last = accelerations
            return accelerations
        self.left_out += int(bad.sum())
        self._in_a_row = np.where(bad, self._in_a_row + 1, 0)
        self._last = np.where(bad, self._last, accelerations)
        if self._in_a_row.max() > self._plausible.patience:
            names = [self._names[k] for k in np.nonzero(bad)[0]]
            raise ImplausibleMotion(
                f'{", ".join(names)}: the measured acceleration is implausible, beyond '
                f'{self._plausible.acceleration:g}. Check the encoders, or raise the bound'
            )
        return self._last


def check_desired(
    names: Sequence[str],
    positions: Sequence[float],
    velocities: Sequence[float],
    accelerations: Sequence[float],
    limits: Mapping[str, Bound],
    plausible: Plausible,
) -> Optional[str]:
    """
    Return the implausible part of a desired motion, or None.

    Args:
        names: The joints.
        positions: Empty or one for each [rad | m].
        velocities: Empty or one for each [rad/s | m/s].
        accelerations: Empty or one for each [rad/s^2 | m/s^2].
        limits: Bounds by joint.
        plausible: Bounds of plausible motion.
    """
    free = Bound()
    for k, name in enumerate(names):
        bound = limits.get(name, free)
        problem = bound.problem(
            positions[k] if positions else bound.lower, velocities[k] if velocities else 0.0)
        if problem:
            return f'{name}: {problem}'
    for name, value in zip(names, accelerations):
        if not abs(value) <= plausible.acceleration:
            return (f'{name}: acceleration {value:.6g} is implausible, beyond '
                    f'{plausible.acceleration:g}')
    return None

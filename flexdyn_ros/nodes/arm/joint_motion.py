# SPDX-License-Identifier: Apache-2.0
"""Joint motion at one time and between two, and the modal state at that time."""

from __future__ import annotations

import math
from typing import Callable, NamedTuple, Optional

import numpy as np


class JointSample(NamedTuple):
    """
    Joint motion at one time.

    Attributes:
        time: [s].
        q: Positions, shape (n_positions,) [rad | m]; quaternions among them need not be of unit
            length.
        qd: Velocities, shape (n_joints,) [rad/s | m/s].
        qdd: Accelerations, shape (n_joints,) [rad/s^2 | m/s^2].
    """

    time: float
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


JointMotion = Callable[[float], JointSample]


class ModalState(NamedTuple):
    """
    Modal state at one time.

    Attributes:
        delta: Deflections, shape (n_modes,).
        rate: Their rates, shape (n_modes,).
        acceleration: Shape (n_modes,).
        torque: Joint torques of all terms with it, shape (n_joints,), where they are known.
    """

    delta: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray
    torque: Optional[np.ndarray] = None

    @classmethod
    def zero(cls, count: int) -> ModalState:
        """Return the undeformed state at rest."""
        return cls(np.zeros(count), np.zeros(count), np.zeros(count))


def linear_motion(start: JointSample, end: JointSample) -> JointMotion:
    """Return the motion that interpolates each value linearly between two samples."""
    span = end.time - start.time

    def motion(time: float) -> JointSample:
        if time == end.time:
            return end
        s = (time - start.time) / span
        values = ((1 - s) * a + s * b for a, b in zip(_values(start), _values(end)))
        return JointSample(time, *values)

    return motion


def _values(sample: JointSample) -> tuple[np.ndarray, ...]:
    return sample.q, sample.qd, sample.qdd


class FilteredDifferentiator:
    """Differences of successive velocities through a first-order low-pass filter."""

    def __init__(self, cutoff_frequency: float):
        """
        Start at rest.

        Args:
            cutoff_frequency: Of the low-pass filter [Hz].
        """
        self._rate = 2.0 * math.pi * cutoff_frequency
        self._time: Optional[float] = None
        self._velocity = np.zeros(0)
        self._acceleration = np.zeros(0)

    def acceleration(self, time: float, velocity: np.ndarray) -> np.ndarray:
        """
        Return the filtered acceleration, zero at first and after a step back in time.

        Args:
            time: Time of the measurement [s].
            velocity: Shape (n,) [rad/s | m/s].

        Returns:
            Shape (n,) [rad/s^2 | m/s^2].
        """
        if self._time is None or time < self._time:
            self._acceleration = np.zeros_like(velocity)
        elif time > self._time:
            step = time - self._time
            weight = 1.0 - math.exp(-self._rate * step)
            difference = (velocity - self._velocity) / step
            self._acceleration = self._acceleration + weight * (difference - self._acceleration)
        self._time, self._velocity = time, velocity
        return self._acceleration

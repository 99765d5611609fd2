# SPDX-License-Identifier: Apache-2.0
"""Joint motion at one time and between two, and the modal state that goes with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np


@dataclass(frozen=True)
class JointSample:
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


@dataclass(frozen=True)
class ModalState:
    """Modal positions, rates and accelerations, each of shape (n_modes,)."""

    delta: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray

    @classmethod
    def zero(cls, count: int) -> ModalState:
        """Return the undeformed state at rest."""
        return cls(np.zeros(count), np.zeros(count), np.zeros(count))


def linear_motion(start: JointSample, end: JointSample) -> JointMotion:
    """Return the motion that interpolates each value linearly between two samples."""
    span = end.time - start.time

    def motion(time: float) -> JointSample:
        s = (time - start.time) / span
        values = ((1 - s) * a + s * b for a, b in zip(_values(start), _values(end)))
        return JointSample(time, *values)

    return motion


def _values(sample: JointSample) -> tuple[np.ndarray, ...]:
    return sample.q, sample.qd, sample.qdd

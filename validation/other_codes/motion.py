# SPDX-License-Identifier: Apache-2.0
"""The motion of an arm's tip as a program computes it, and the difference of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

SAMPLES = 201


@dataclass(frozen=True)
class TipMotion:
    """
    The results of a program for an arm.

    Attributes:
        tip: Place of the tip at the sample times (SAMPLES, 3) [m].
        turn: Rotation matrix of the satellite at the end (3, 3), or None on the ground.
    """

    tip: np.ndarray
    turn: Optional[np.ndarray] = None


def sample_times(t_end: float) -> np.ndarray:
    """Return the times at which motions are compared (SAMPLES,) [s]."""
    return np.linspace(0.0, t_end, SAMPLES)


def distances(one: TipMotion, other: TipMotion) -> np.ndarray:
    """Return the distances of the tips of two motions at the sample times (SAMPLES,) [m]."""
    return np.linalg.norm(one.tip - other.tip, axis=1)


def angle_between(one: np.ndarray, other: np.ndarray) -> float:
    """Return the angle of the rotation between two rotation matrices [rad]."""
    relative = one.T @ other
    vector = [relative[2, 1] - relative[1, 2], relative[0, 2] - relative[2, 0],
              relative[1, 0] - relative[0, 1]]
    return float(np.arcsin(min(1.0, 0.5 * float(np.linalg.norm(vector)))))

# SPDX-License-Identifier: Apache-2.0
"""The work's order of spatial vectors, angular before linear, in link axes."""

from __future__ import annotations

from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np


def angular_first(six: np.ndarray) -> np.ndarray:
    """Return rows or entries, linear first, with the angular part first."""
    return np.concatenate((six[3:], six[:3]))


def mobility(dyn: Dynamics, q: np.ndarray, frame: str) -> np.ndarray:
    """Return the inverse of the operational-space inertia, (6, 6), angular part first."""
    order = [3, 4, 5, 0, 1, 2]
    return dyn.operational_space_inertia(q, frame, inverse=True)[np.ix_(order, order)]


def in_axes(axes: np.ndarray, six: np.ndarray) -> np.ndarray:
    """
    Return a twist in other axes, angular part first.

    Args:
        axes: Rotation from root to those axes, (3, 3).
        six: Linear and angular part in root axes, (6,) or (6, n).
    """
    return np.concatenate((axes @ six[3:], axes @ six[:3]))


def transform(axes: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the work's 6 x 6 transform of twists, from its A and b (2.3.1)."""
    return np.block([
        [axes, np.zeros((3, 3))], [axes @ np.cross(place, np.eye(3)), axes],
    ])

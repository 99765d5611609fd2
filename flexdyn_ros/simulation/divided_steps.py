# SPDX-License-Identifier: Apache-2.0
"""Implicit steps of a fixed length, divided where their iterations do not converge."""

from __future__ import annotations

from abc import ABC, abstractmethod

from flexdyn_ros.simulation.divergence import Diverged
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.step_tolerances import MOST_HALVINGS
import numpy as np


class NotConverged(Exception):
    """The iterations of a step do not converge, as where it is too long."""


class DividedSteps(ABC):
    """An implicit method for the motion of one robot."""

    def __init__(self, equations: EquationsOfMotion):
        """Take the robot's equations of motion."""
        self._equations = equations

    @abstractmethod
    def _whole(
        self, t: float, h: float, q: np.ndarray, qd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the state after one step, or raise NotConverged."""

    def _divided(
        self, t: float, h: float, q: np.ndarray, qd: np.ndarray, depth: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the state after a step, or after two halves; raise Diverged."""
        quadratures = self._equations.quadratures
        start = quadratures.value.copy()
        try:
            return self._whole(t, h, q, qd)
        except Diverged:
            if depth == MOST_HALVINGS:
                raise
        except (NotConverged, ArithmeticError, np.linalg.LinAlgError) as error:
            if depth == MOST_HALVINGS:
                raise Diverged(
                    self._equations.divergence(q, qd).coordinate,
                    'is not found by the iterations of a step') from error
        quadratures.value = start
        middle = self._divided(t, 0.5 * h, q, qd, depth + 1)
        return self._divided(t + 0.5 * h, 0.5 * h, *middle, depth + 1)

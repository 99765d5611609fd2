# SPDX-License-Identifier: Apache-2.0
"""
The gaps that prescribed accelerations of loops open along a simulated motion.

They are the double integral of these accelerations, taken by the same Runge-Kutta method as the
motion, so that what holds the drift does not spoil the method's order.
"""

from __future__ import annotations

from typing import Sequence

import numpy as np


class DrivenGaps:
    """
    Gaps of the loops' constraints and their rates, as prescribed.

    Attributes:
        offset: Gaps at the start of the step, or after `end_step` at its end, (n,) [m | rad].
        rate: Their rates there, (n,) [m/s | rad/s].
    """

    def __init__(self, size: int):
        """Start with `size` closed constraints at rest."""
        self.offset, self.rate = np.zeros(size), np.zeros(size)
        self._stages: list[tuple[np.ndarray, np.ndarray]] = []
        self._end = (self.offset, self.rate)

    def begin_step(
        self,
        h: float,
        a: Sequence[Sequence[float]],
        b: Sequence[float],
        accelerations: Sequence[np.ndarray],
    ) -> None:
        """
        Prepare the stages of a step.

        Args:
            h: Length of the step [s].
            a: Coefficients of the method, a row a stage.
            b: Weights of the stages.
            accelerations: What is prescribed at each stage's time, (n,) each.
        """
        self._stages = []
        for row in (*a, b):
            rate = self.rate + h * sum(w * g for w, g in zip(row, accelerations))
            offset = self.offset + h * sum(w * r for w, (_, r) in zip(row, self._stages))
            self._stages.append((offset, rate))
        self._end = self._stages.pop()

    def at(self, stage: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the gaps and their rates at a stage, (n,) each; closed if nothing drives them."""
        return self._stages[stage] if self._stages else (self.offset, self.rate)

    def end_step(self) -> None:
        """Move on to the end of the step."""
        self.offset, self.rate = self._end

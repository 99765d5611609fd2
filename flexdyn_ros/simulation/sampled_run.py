# SPDX-License-Identifier: Apache-2.0
"""The common part of runs of all methods: their times, and the record of their states."""

from __future__ import annotations

from abc import ABC, abstractmethod

from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.recorder import Recorder
from flexdyn_ros.simulation.tableaus import Tableau
import numpy as np


class SampledRun(ABC):
    """A run from its first step to its last, whose states are kept as samples."""

    def __init__(
        self, equations: EquationsOfMotion, tableau: Tableau, recorder: Recorder,
        times: tuple[int, float, float], hold: int,
    ):
        """
        Take the parts of a run.

        Args:
            equations: The equations of motion.
            tableau: The method.
            recorder: The store of the samples.
            times: Number of steps, of an adaptive method sampling intervals, their length and the
                duration [s].
            hold: Steps for which a torque that is held stays.
        """
        self._equations, self._tableau, self._recorder = equations, tableau, recorder
        self._steps, self._dt, self._t_end = times
        self._hold = hold

    @abstractmethod
    def integrate(self, q: np.ndarray, qd: np.ndarray, bar: ProgressBar) -> None:
        """
        Do all steps.

        Args:
            q: Initial configuration, (nq,).
            qd: Initial velocities, (nv,).
            bar: The display of the progress.

        Raises:
            Diverged: The motion has grown beyond the range of numbers.
        """

    def samples(self) -> Trajectory:
        """Return the motion so far."""
        return self._recorder.trajectory()

    def _record(self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
        """Keep a state, with the quadratures of the equations, or raise Diverged."""
        equations, integrals = self._equations, self._equations.quadratures
        try:
            with np.errstate(over='ignore', invalid='ignore'):
                sample = equations.sample(t, q, qd, tau)
                self._recorder.add(t, *sample, integrals.work, integrals.dissipated)
        except ArithmeticError as error:
            raise equations.divergence(q, qd) from error

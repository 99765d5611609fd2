# SPDX-License-Identifier: Apache-2.0
"""One run: steps in blocks of the compiled loop where there is one, and in Python elsewhere."""

from __future__ import annotations

from time import perf_counter
from typing import Optional, Union

from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.simulation.compiled_steps import compiled_steps, CompiledSteps
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.implicit_midpoint import ImplicitMidpoint
from flexdyn_ros.simulation.record import Recorder, Trajectory
from flexdyn_ros.simulation.runge_kutta import RungeKutta
from flexdyn_ros.simulation.sampled_run import SampledRun
from flexdyn_ros.simulation.tableaus import IMPLICIT, Tableau
import numpy as np

# Python takes part, for interrupts and progress, about as often as this [s].
_INTERVAL = 0.05
_FIRST_BLOCK = 64  # steps


class Run(SampledRun):
    """
    A run from its first step to its last.

    The compiled loop leaves a step out where a number is not finite or a pivot is in doubt. That
    step is done in Python, which decides or raises.
    """

    def __init__(
        self, equations: EquationsOfMotion, tableau: Tableau, recorder: Recorder,
        times: tuple[int, float, float], hold: int,
    ):
        """Prepare; see `SampledRun`."""
        super().__init__(equations, tableau, recorder, times, hold)
        self._integrator: Union[RungeKutta, ImplicitMidpoint] = (
            ImplicitMidpoint(equations) if tableau is IMPLICIT
            else RungeKutta(equations, tableau, equations.quadratures)
        )
        self._compiled = self._compiled_steps()

    def integrate(self, q: np.ndarray, qd: np.ndarray, bar: ProgressBar) -> None:
        """Do all steps; see `SampledRun`."""
        equations, steps, hold = self._equations, self._steps, self._hold
        self.check(q)
        k, block = 0, _FIRST_BLOCK
        while k < steps:
            if equations.held and k % hold == 0:
                equations.hold(k * self._dt, q, qd)
            start, stop = perf_counter(), min(k + block, k - k % hold + hold, steps)
            k, q, qd = self._block(k, stop, q, qd)
            taken = perf_counter() - start
            block = max(1, min(2 * block, steps, int(block * _INTERVAL / max(taken, 1e-6))))
            bar.update(k / steps)
        if equations.held and k % hold == 0:
            equations.hold(self._t_end, q, qd)
        tau = equations.torque(self._t_end, q, qd)
        self._record(self._t_end, q, qd, tau)

    def check(self, q: np.ndarray) -> None:
        """Raise an ArgumentError for a start beyond a joint stop."""
        if isinstance(self._integrator, ImplicitMidpoint):
            self._integrator.rows.refuse_beyond(q)

    def samples(self) -> Trajectory:
        """Return the motion so far."""
        if self._compiled is not None:  # it may have been interrupted on its way back
            done = self._recorder.rows(self._compiled.next)
            self._recorder.count = max(self._recorder.count, done)
        return super().samples()

    @property
    def compiled(self) -> bool:
        """Whether the steps run without Python."""
        return self._compiled is not None

    def advance(
        self, count: int, dt: float, q: np.ndarray, qd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the state after steps that leave no samples, under torques constant in time.

        The recorder keeps a sample in more steps than `count`.

        Args:
            count: Number of steps.
            dt: Length of each [s].
            q: Configuration before them, (nq,).
            qd: Velocity there, (nv,).

        Raises:
            Diverged: The motion has grown beyond the range of numbers.
        """
        self._dt = dt
        if self._compiled is not None:
            self._compiled.dt = dt
        k = 1
        while k <= count:
            k, q, qd = self._block(k, count + 1, q, qd)
        return q, qd

    def update_wrenches(self) -> None:
        """Take the wrenches of the equations of motion, which have changed."""
        self._compiled = self._compiled_steps()

    def _compiled_steps(self) -> Optional[CompiledSteps]:
        times = self._steps, self._dt, self._t_end
        implicit = self._integrator if isinstance(self._integrator, ImplicitMidpoint) else None
        return compiled_steps(self._equations, self._tableau, self._recorder, *times, implicit)

    def _block(
        self, k: int, stop: int, q: np.ndarray, qd: np.ndarray
    ) -> tuple[int, np.ndarray, np.ndarray]:
        """Do steps k to stop - 1 without Python, or up to one in Python; return where it is."""
        if self._compiled is not None:
            q, qd = self._compiled.run(k, stop, q, qd)
            k = self._compiled.next
            self._recorder.count = self._recorder.rows(k)
            if k == stop:
                return k, q, qd
        return k + 1, *self._step(k, q, qd)

    def _step(
        self, k: int, q: np.ndarray, qd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Record the state before a step and do it in Python."""
        t = k * self._dt
        end = self._t_end if k == self._steps - 1 else (k + 1) * self._dt
        tau = self._equations.torque(t, q, qd)
        if k % self._recorder.every == 0:
            self._record(t, q, qd, tau)
        return self._integrator.step(t, end - t, q, qd, tau)

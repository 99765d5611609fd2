# SPDX-License-Identifier: Apache-2.0
"""One run: a fixed step in blocks of the compiled loop, or in Python, or an adaptive method."""

from __future__ import annotations

from contextlib import suppress
import math
from time import perf_counter
from typing import Optional, Union

from flexdyn_ros.arguments import limited_number, whole_number
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.progress import Progress, ProgressBar
from flexdyn_ros.simulation.adaptive import AdaptiveRun, Tolerances
from flexdyn_ros.simulation.compiled_steps import compiled_steps, CompiledSteps
from flexdyn_ros.simulation.divergence import Diverged, SimulationDiverged
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.generalised_alpha import GeneralisedAlpha
from flexdyn_ros.simulation.implicit_midpoint import ImplicitMidpoint
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.recorder import Recorder
from flexdyn_ros.simulation.runge_kutta import RungeKutta
from flexdyn_ros.simulation.sampled_run import SampledRun
from flexdyn_ros.simulation.tableaus import IMPLICIT, Tableau
import numpy as np

# Python takes part, for interrupts and progress, about as often as this [s].
_INTERVAL = 0.05
_FIRST_BLOCK = 64  # steps
_MOST_SAMPLES = 10**8  # more samples do not fit in memory
_ROUNDING = 1e-9  # of a step: a last step shorter than this is not taken


def integrate(
    equations: EquationsOfMotion,
    tableau: Tableau,
    q: np.ndarray,
    qd: np.ndarray,
    t_end: float,
    dt: float,
    progress: Progress = None,
    sample_every: int = 1,
    torque_period: Optional[float] = None,
    tolerances: Optional[Tolerances] = None,
) -> Trajectory:
    """
    Integrate equations of motion from a state that was checked; see `simulate`.

    Args:
        equations: The equations of motion.
        tableau: The method.
        q: Initial configuration, (nq,).
        qd: Initial velocities, (nv,).
        t_end: Duration [s].
        dt: Time step [s].
        progress: Receives the fraction done.
        sample_every: Steps a sample.
        torque_period: Time for which a torque is held [s].
        tolerances: Choice of the steps of an adaptive method, of which dt takes samples.
    """
    t_end, dt = limited_number('t_end', t_end), limited_number('dt', dt)
    every = whole_number('sample_every', sample_every)
    if t_end / dt > _MOST_SAMPLES * every:
        raise ArgumentError(
            'dt', f'asks for {t_end / dt:.3g} steps of {dt:g} s, more than {_MOST_SAMPLES:.0e}. '
            'Use a larger dt or a shorter t_end, or keep fewer samples by sample_every'
        )
    steps = max(1, math.ceil(t_end / dt - _ROUNDING))
    hold = _steps_of_a_period(torque_period, dt) if equations.held else steps
    name = tableau.name + equations.reduction
    recorder = Recorder(equations.dyn, equations.map, name, steps, every)
    times = steps, dt, t_end
    run: SampledRun
    if tolerances is None:
        run = Run(equations, tableau, recorder, times, hold)
    else:
        run = AdaptiveRun(equations, tableau, recorder, times, hold, tolerances)
    q0, bar = q, ProgressBar(progress)
    try:
        run.integrate(q, qd, bar)
    except Diverged as cause:
        raise SimulationDiverged(
            run.samples(), cause.coordinate, tableau, dt, equations.step_limit(q0, tableau),
            cause.problem,
        ) from cause.__cause__
    except BaseException as error:
        # After an interrupt, or an error of the user's torque, the motion so far is kept.
        with suppress(AttributeError, TypeError):
            error.trajectory = run.samples()  # type: ignore[attr-defined]
        raise
    finally:
        bar.close(recorder.count / (recorder.rows(steps) + 1))
    return run.samples()


def _steps_of_a_period(period: Optional[float], dt: float) -> int:
    """Return the number of steps for which a torque is held."""
    seconds = limited_number('torque_period', period)
    steps = round(seconds / dt)
    if not steps or abs(steps * dt - seconds) > _ROUNDING * seconds:
        raise ArgumentError(
            'torque_period', f'is {seconds:g} s, and must be a multiple of dt, {dt:g} s'
        )
    return steps


class Run(SampledRun):
    """
    A run from its first step to its last.

    The compiled loop leaves a step out where a number is not finite or a pivot is doubtful. That
    step is done in Python, which decides or raises.
    """

    def __init__(
        self, equations: EquationsOfMotion, tableau: Tableau, recorder: Recorder,
        times: tuple[int, float, float], hold: int,
    ):
        """Prepare; see `SampledRun`."""
        super().__init__(equations, tableau, recorder, times, hold)
        self._integrator: Union[RungeKutta, ImplicitMidpoint, GeneralisedAlpha]
        if tableau is IMPLICIT:
            self._integrator = ImplicitMidpoint(equations)
        elif tableau.rho_infinity is not None:
            self._integrator = GeneralisedAlpha(equations, tableau.rho_infinity)
        else:
            self._integrator = RungeKutta(equations, tableau, equations.quadratures)
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
        if self._tableau.rho_infinity is not None:
            return None
        times = self._steps, self._dt, self._t_end
        implicit = self._integrator if isinstance(self._integrator, ImplicitMidpoint) else None
        return compiled_steps(self._equations, self._tableau, self._recorder, *times, implicit)

    def _block(
        self, k: int, stop: int, q: np.ndarray, qd: np.ndarray
    ) -> tuple[int, np.ndarray, np.ndarray]:
        """Do steps k to stop - 1 without Python, or up to one in Python; return the state."""
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

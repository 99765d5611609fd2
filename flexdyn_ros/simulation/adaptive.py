# SPDX-License-Identifier: Apache-2.0
"""
Runs with a step that follows from tolerances, by scipy's solvers and CVODE of SUNDIALS.

They are the classes behind `scipy.integrate.solve_ivp`, and that of `cvode.py`. They are taken a
step at a time, so that an interrupt leaves the samples so far. Dense output gives the samples and
the times of events. A run starts anew where the torque may jump or bend. That is at the knots of
tables and references, and where a torque that is held changes. No step therefore passes over a
knot.

With loops the solver integrates dy/dt = f(P(y)), where P takes a state to the nearest closed one.
f is the motion under the loops there. f is tangent to the closed states, so that the drift
of a step from them stays as small as its error, without growing (E. Hairer, C. Lubich and
G. Wanner, Geometric Numerical Integration, 2006, section IV.4). Samples and events are of P(y).

The absolute tolerance of a velocity is that of its position times the coordinate's own angular
frequency, sqrt(K_kk (M^-1)_kk), where that is above 1 rad/s. Otherwise a stiff mode that rests to
the tolerance of positions would still bound the step by its velocity.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Optional

from flexdyn_ros.arguments import limited_number
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.simulation.divergence import Diverged
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.events import checked_events, Event, EventFinder, Events
from flexdyn_ros.simulation.frequencies import stiffness_matrix
from flexdyn_ros.simulation.recorder import Recorder
from flexdyn_ros.simulation.sampled_run import SampledRun
from flexdyn_ros.simulation.state_jacobian import StateJacobian
from flexdyn_ros.simulation.tableaus import Tableau
import numpy as np

RTOL, _ATOL_OF_RTOL = 1e-6, 1e-3
# Methods that solve for a step by Newton's iterations.
IMPLICIT_SOLVERS = ('Radau', 'BDF', 'LSODA', 'CVODE')
# Of the duration: knots nearer to each other, or to the ends, are one.
_NEAR = 1e-12


@dataclass(frozen=True)
class Tolerances:
    """
    Choice of the steps of an adaptive method, and the events that it finds.

    Attributes:
        rtol: Accepted error of a step, of each state [-].
        atol: The same for positions [rad | m], and for velocities as stated above.
        max_step: Longest step [s].
        events: Functions whose zeros are found.
    """

    rtol: float
    atol: float
    max_step: float
    events: tuple[Event, ...]

    @classmethod
    def checked(
        cls, rtol: Optional[float], atol: Optional[float], max_step: Optional[float],
        events: Events,
    ) -> Tolerances:
        """
        Return the checked arguments of `simulate`.

        Raises:
            ArgumentError: A number is not positive, or an event is no function.
        """
        relative = RTOL if rtol is None else limited_number('rtol', rtol)
        absolute = (
            _ATOL_OF_RTOL * relative if atol is None else limited_number('atol', atol)
        )
        longest = math.inf if max_step is None else limited_number('max_step', max_step)
        return cls(relative, absolute, longest, checked_events(events))


class AdaptiveRun(SampledRun):
    """A run from its first step to its last, or to an event that ends it."""

    def __init__(
        self, equations: EquationsOfMotion, tableau: Tableau, recorder: Recorder,
        times: tuple[int, float, float], hold: int, tolerances: Tolerances,
    ):
        """
        Prepare; see `SampledRun`. The tolerances choose the steps.

        Raises:
            FlexdynError: CVODE is not installed.
        """
        super().__init__(equations, tableau, recorder, times, hold)
        self._tolerances = tolerances
        self._size = equations.map.nq + equations.map.nv
        self._next = 0
        self._ends = self._knots()
        # Zero, or not a number where work is not known.
        self._unknown = 0.0 * equations.quadratures.value
        options: dict[str, Any] = {'rtol': tolerances.rtol, 'max_step': tolerances.max_step}
        plain = type(equations) is EquationsOfMotion and not equations.on_base
        plain = plain and equations.loops is None
        if tableau.name in IMPLICIT_SOLVERS and plain:
            self._derivatives = StateJacobian(equations)
            options['jac'] = self._jacobian
        self._solver = _solver(tableau.name)
        # LSODA accepts NaN as a result; the others try a shorter step.
        self._retries = tableau.name != 'LSODA'
        self._options = options
        self._within = -math.inf, math.inf
        self._finder = EventFinder(tolerances.events, self._state, recorder.events)

    def integrate(self, q: np.ndarray, qd: np.ndarray, bar: ProgressBar) -> None:
        """Do all steps, or those to an event that ends the run; see `SampledRun`."""
        equations = self._equations
        if equations.loops is not None:
            equations.loops.find_rank(q)
        y = np.concatenate((q, qd, np.nan_to_num(equations.quadratures.value)))
        self._options['atol'] = self._absolute(q, len(y))
        self._finder.begin(0.0, y)
        t, ended = 0.0, False
        for start, stop in zip(self._ends, self._ends[1:]):
            if equations.held:
                equations.hold(start, *self._state(y))
            t, y, ended = self._segment(start, stop, y, bar)
            if ended:
                break
        if equations.held and not ended:
            equations.hold(t, *self._state(y))
        self._record_at(t, y)

    def _absolute(self, q: np.ndarray, size: int) -> np.ndarray:
        """Return the absolute tolerances of the state, (size,)."""
        dyn, nq = self._equations.dyn, len(q)
        tolerances = np.full(size, self._tolerances.atol)
        stiffness = np.diag(stiffness_matrix(dyn, q))
        if stiffness.any():
            squares = stiffness * np.diag(np.linalg.inv(dyn.mass_matrix(q)))
            tolerances[nq:self._size] *= np.sqrt(np.maximum(squares, 1.0))
        return tolerances

    def _segment(
        self, start: float, stop: float, y: np.ndarray, bar: ProgressBar
    ) -> tuple[float, np.ndarray, bool]:
        """Return time and state at the end of a smooth stretch, and whether an event ends it."""
        if self._equations.law is not None:  # loads between two jumps
            self._within = math.nextafter(start, stop), math.nextafter(stop, start)
        solver = self._solver(self._rate, start, y, stop, **self._options)
        while solver.status == 'running':
            solver.step()
            moved = solver.t > solver.t_old and np.isfinite(solver.y).all()
            if solver.status == 'failed' or not moved:
                raise self._equations.divergence(*self._state(solver.y))
            between = solver.dense_output()
            end = self._finder.find(between, solver.t_old, solver.t, solver.y)
            self._sample(between, solver.t if end is None else end)
            bar.update(solver.t / self._t_end)
            if end is not None:
                return end, between(end), True
            if self._equations.loops is not None:
                self._equations.loops.find_rank(self._state(solver.y)[0])
        return solver.t, solver.y, False

    def _state(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return copies of configuration and velocity, loops closed; set the quadratures."""
        nq, size, equations = self._equations.map.nq, self._size, self._equations
        equations.quadratures.value = y[size:] + self._unknown
        q, qd = equations.map.normalise(y[:nq].copy()), y[nq:size].copy()
        return (q, qd) if equations.loops is None else equations.end_step(q, qd)

    def _rate(self, t: float, y: np.ndarray) -> np.ndarray:
        """Return the rate of the state; not a number where the solver tries a state too far."""
        equations = self._equations
        t = min(max(t, self._within[0]), self._within[1])
        try:
            q, qd = self._state(y)
            tau = equations.torque(t, q, qd)
            qdd = equations.acceleration(t, q, qd, tau, 1)
            more = self._powers(t, q, qd, tau, qdd)
        except Diverged:
            if self._retries:
                return np.full(len(y), np.nan)
            raise
        return np.concatenate((equations.map.rate(q, qd), qdd, more))

    def _powers(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, qdd: np.ndarray
    ) -> np.ndarray:
        try:
            return self._equations.quadratures.rate(t, q, qd, tau, qdd)
        except ArithmeticError as error:
            raise self._equations.divergence(q, qd) from error

    def _jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        t = min(max(t, self._within[0]), self._within[1])
        return self._derivatives(t, *self._state(y))

    def _sample(self, between: Any, stop: float) -> None:
        """Record the samples before a time, from the dense output of a step."""
        every, first = self._recorder.every, self._next
        last = min(math.ceil(stop / (every * self._dt)) + 1, self._recorder.rows(self._steps))
        times = np.arange(first, last) * every * self._dt
        times = times[times < stop]
        if len(times):
            self._next += len(times)
            for t, y in zip(times.tolist(), between(times).T):
                self._record_at(t, y)

    def _record_at(self, t: float, y: np.ndarray) -> None:
        q, qd = self._state(y)
        self._record(t, q, qd, self._equations.torque(t, q, qd))

    def _knots(self) -> list[float]:
        """Return the ends of the stretches in which the torque is smooth, from 0 to t_end."""
        law, t_end = self._equations.law, self._t_end
        places = [np.array([0.0])]
        if law is not None:
            places += [each.at for each in (law.table, law.reference) if each is not None]
        if self._equations.held:
            places.append(np.arange(0, self._steps, self._hold) * self._dt)
        knots = [0.0]
        for t in np.unique(np.concatenate(places)).tolist():
            if t - knots[-1] > _NEAR * t_end and t_end - t > _NEAR * t_end:
                knots.append(t)
        return [*knots, t_end]


def _solver(name: str) -> Any:
    """Return the class of a solver; scipy and SUNDIALS are imported where they are needed."""
    if name == 'CVODE':
        try:
            from flexdyn_ros.simulation.cvode import CvodeSolver
        except ImportError as error:
            raise FlexdynError(
                'method="CVODE" needs SUNDIALS: pip install scikit-sundae') from error
        return CvodeSolver
    from scipy import integrate

    return getattr(integrate, name)

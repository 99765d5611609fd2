# SPDX-License-Identifier: Apache-2.0
"""Integration of a robot's motion in time by explicit Runge-Kutta methods."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any
from typing import Callable
from typing import Mapping
from typing import Optional
from typing import Union

from flexdyn_ros.closed_chains.stepping import LoopAccelerations
from flexdyn_ros.closed_chains.stepping import LoopMotion
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.errors import LoopsCannotClose
from flexdyn_ros.errors import SingularMassMatrix
from flexdyn_ros.simulation.configuration import ConfigurationMap
from flexdyn_ros.simulation.frequencies import fastest_rates
from flexdyn_ros.simulation.prescribed import BaseAcceleration
from flexdyn_ros.simulation.prescribed import PrescribedBase
from flexdyn_ros.simulation.progress import Progress
from flexdyn_ros.simulation.progress import ProgressBar
from flexdyn_ros.simulation.record import Recorder
from flexdyn_ros.simulation.record import Trajectory
from flexdyn_ros.simulation.tableaus import find_tableau
from flexdyn_ros.simulation.tableaus import Tableau
import numpy as np

TorqueFunction = Callable[[float, np.ndarray, np.ndarray], Any]
Torque = Union[None, np.ndarray, TorqueFunction]

_MOST_STEPS = 10**8  # a run of more samples does not fit in memory
_ROUNDING = 1e-9  # of a step: a last step shorter than this is not taken
_HUGE = 1e8  # a coordinate or rate beyond it [m, rad, /s] means that the motion has diverged


class SimulationDiverged(FlexdynError):
    """
    A simulated motion grew without bound, or stopped being a number.

    Attributes:
        time: Time of the last good sample [s].
        coordinate: The coordinate that grew first, or fastest.
        step_limit: Largest stable time step of the linearised robot [s]; None where unknown.
        trajectory: The motion up to `time`.
    """

    def __init__(
        self, trajectory: Trajectory, coordinate: str, method: str, dt: float,
        step_limit: Optional[float],
    ):
        self.time = float(trajectory.t[-1])
        self.coordinate = coordinate
        self.step_limit = step_limit
        self.trajectory = trajectory
        if step_limit is None:
            advice = 'Try a smaller dt'
        elif dt > step_limit:
            advice = (
                f'Use a dt below {step_limit:.3g} s, which {method} needs for the highest natural '
                'frequency of this robot (2.8 / highest angular frequency for rk4)'
            )
        else:
            advice = (
                f'dt is within the limit of {step_limit:.3g} s for small vibrations, so look at '
                'the torque and the initial state, or try a smaller dt'
            )
        super().__init__(
            f'The simulation diverged after t = {self.time:.6g} s: coordinate "{coordinate}" '
            f'is no longer finite with dt = {dt:.6g} s. {advice}.'
        )


def simulate(
    dyn: Any,
    q0: Any,
    qd0: Any,
    torque: Any,
    t_end: float,
    dt: float,
    method: str = 'rk4',
    progress: Progress = None,
    base_acceleration: BaseAcceleration = None,
    drift: str = 'projection',
    drift_gains: Optional[tuple[float, float]] = None,
    loop_accelerations: LoopAccelerations = None,
    loop_forces: Optional[Mapping[str, Any]] = None,
) -> Trajectory:
    """
    Integrate the motion of a robot from an initial state.

    Samples lie dt apart, one a step; the last step is shortened so that the run ends at t_end
    exactly. Joint limits are not enforced: motion passes through them.

    Args:
        dyn: The `Dynamics` of the robot.
        q0: Initial configuration, (nq,) [rad, m]; a floating joint's quaternion is x y z w.
        qd0: Initial velocities, (nv,) [rad/s, m/s]; a floating joint's in its body axes.
        torque: Generalised forces, (nv,) [N m, N], held constant; or a callable(t, q, qd) that
            returns them and is evaluated at every stage of every step (its q and qd are
            read-only); or None for none.
        t_end: Duration [s].
        dt: Time step [s]. For a stable rk4 run below 2.8 / (2 pi times the highest natural
            frequency [Hz]).
        method: "rk4" (classical, fourth order) or "rk2" (midpoint, second order; undamped
            vibrations grow slowly with it).
        progress: None draws a bar on stderr on runs beyond two seconds on a terminal, True draws
            it on any stderr, False never; a callable receives the fraction done.
        base_acceleration: Of a base with <base motion="prescribed"/>: rates of its six velocity
            coordinates, linear, then angular, in its own axes, (6,) [m/s^2, rad/s^2], or a
            callable(t, q, qd) that returns them; None keeps these velocities constant. `torque`
            must be zero there.
        drift: How a robot's loops are kept closed: "projection" (after every step), "force" or
            "baumgarte" (by gains), or "none"; see `closed_chains.stepping`.
        drift_gains: kp and kd of "force" [N/m, N s/m] and of "baumgarte" [1/s^2, 1/s].
        loop_accelerations: By loop, prescribed accelerations of frame1 against frame2 in the
            constrained directions, or a callable(t) that returns them; rotations stay small or
            about one axis.
        loop_forces: By loop, forces on frame1 in the free directions.

    Returns:
        The motion, with the torque and the total energy at each sample; for a prescribed base the
        torque's first six entries are the wrench that moves it, in its axes [N, N m].

    Raises:
        ArgumentError: An argument has the wrong shape, type or range.
        SimulationDiverged: The state stopped being finite; the error keeps the motion so far.
        SingularMassMatrix: Some motion of the robot meets no inertia.
    """
    tableau = find_tableau(method)
    t_end, dt = _positive(t_end, 't_end', 's'), _positive(dt, 'dt', 's')
    steps = max(1, math.ceil(t_end / dt - _ROUNDING))
    if steps > _MOST_STEPS:
        raise ArgumentError(
            'dt', f'asks for {steps:.3g} steps of {dt:g} s, more than {_MOST_STEPS:.0e}; '
            'use a larger dt or a shorter t_end'
        )
    run = _Run(dyn, torque, tableau, base_acceleration)
    q = run.map.checked(_vector(q0, run.map.nq, 'q0'), 'q0')
    qd = _vector(qd0, run.map.nv, 'qd0')
    if dyn.robot.loops:
        run.loops = LoopMotion(dyn, drift, drift_gains, loop_accelerations, loop_forces)
        q, qd = run.loops.start(q, qd)
    elif drift != 'projection' or drift_gains or loop_accelerations or loop_forces:
        raise ArgumentError('drift', 'and what is said about loops need a robot with <loop>')
    recorder = Recorder(dyn, run.map, tableau.name, steps + 1)
    bar = ProgressBar(progress)
    t, k = 0.0, 0
    try:
        for k in range(steps):
            run.begin(t, q, qd)
            run.record(recorder, t, q, qd)
            t_next = t_end if k == steps - 1 else (k + 1) * dt
            q, qd = run.step(t, q, qd, t_next - t)
            t = t_next
            bar.update((k + 1) / steps)
        run.begin(t, q, qd)
        run.record(recorder, t, q, qd)
    except _Diverged as cause:
        raise SimulationDiverged(
            recorder.trajectory(), cause.coordinate, tableau.name, dt, step_limit(dyn, q0, tableau)
        ) from cause.__cause__
    finally:
        bar.close(recorder.count / (steps + 1))
    return recorder.trajectory()


def step_limit(dyn: Any, q: Any, method: Union[str, Tableau] = 'rk4') -> Optional[float]:
    """
    Return the largest time step [s] for which small vibrations about q, (nq,), stay bounded.

    It is the method's stability limit over the largest eigenvalue of the linearised robot, modes,
    springs, dampers and friction counted, gravity not: 2.8 / (2 pi times the highest natural
    frequency) for rk4 where damping is light. A method that lets any undamped vibration grow (rk2)
    gets its limit for decaying motions.

    Returns:
        The limit, infinite for a robot without stiffness and damping; None where it cannot be
        computed, as for a massless moving link.
    """
    tableau = method if isinstance(method, Tableau) else find_tableau(method)
    try:
        decaying, oscillating = fastest_rates(dyn, np.asarray(q, dtype=float))
    except (ArithmeticError, FlexdynError, np.linalg.LinAlgError):
        return None
    limits = [math.inf]
    if decaying > 0.0:
        limits.append(tableau.real_limit / decaying)
    if oscillating > 0.0:
        limits.append((tableau.imaginary_limit or tableau.real_limit) / oscillating)
    return min(limits)


class _Diverged(Exception):
    """A stage could not be computed; names the coordinate with the largest motion."""

    def __init__(self, coordinate: str):
        self.coordinate = coordinate
        super().__init__(coordinate)


class _Run:
    """One run's right-hand side and step."""

    def __init__(self, dyn: Any, torque: Torque, tableau: Tableau, base: BaseAcceleration):
        self._base = PrescribedBase.of(dyn, base)
        self.map = ConfigurationMap(dyn.robot)
        self.tau = np.zeros(self.map.nv)
        self.loops: Optional[LoopMotion] = None
        self._dyn = dyn
        self._tableau = tableau
        self._function: Optional[TorqueFunction] = torque if callable(torque) else None
        if torque is not None and self._function is None:
            self.tau = self._checked(torque)
        self.tau.setflags(write=False)

    def torque(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the generalised forces, (nv,), at one instant."""
        if self._function is None:
            return self.tau
        self._require_finite(q, qd)
        q.setflags(write=False)
        qd.setflags(write=False)
        try:
            return self._checked(self._function(t, q, qd))
        except ArgumentError as error:
            if error.argument != 'torque':
                raise
            raise ArgumentError(
                'torque', f'{error.problem}, as returned at t = {t:.6g} s'
            ) from error

    def _checked(self, torque: Any) -> np.ndarray:
        tau = _vector(torque, self.map.nv, 'torque')
        if self._base is not None:
            self._base.refuse_torque(tau)
        return tau

    def begin(self, t: float, q: np.ndarray, qd: np.ndarray) -> None:
        """Evaluate the torque of a step's first stage, which is also the sample's."""
        self.tau = self.torque(t, q, qd)

    def record(self, recorder: Recorder, t: float, q: np.ndarray, qd: np.ndarray) -> None:
        """Keep a sample, `begin` having been called for it."""
        try:
            with np.errstate(over='ignore', invalid='ignore'):
                tau = self.tau
                if self._base is not None and self.loops is not None:
                    base = self._base.given(t, q, qd)
                    tau = np.concatenate(
                        (self.loops.reaction(t, q, qd, tau, base), tau[len(base):])
                    )
                elif self._base is not None:
                    tau = self._base.with_reaction(t, q, qd, tau)
                recorder.add(t, q, qd, tau)
        except ArithmeticError as error:
            raise _Diverged(self._coordinate(q, qd)) from error

    def step(
        self, t: float, q: np.ndarray, qd: np.ndarray, h: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Advance the state by one step of h [s], `begin` having been called at its start."""
        tableau = self._tableau
        rates_q = [self.map.rate(q, qd)]
        rates_v = [self._acceleration(t, q, qd, self.tau, first=True)]
        for row, c in zip(tableau.a[1:], tableau.c[1:]):
            # Quaternions drift off unit length inside a step; a stage sees the nearest rotation.
            stage_q = self.map.normalise(_combine(q, h, row, rates_q))
            stage_qd = _combine(qd, h, row, rates_v)
            tau = self.torque(t + c * h, stage_q, stage_qd)
            rates_v.append(self._acceleration(t + c * h, stage_q, stage_qd, tau))
            rates_q.append(self.map.rate(stage_q, stage_qd))
        q_next = self.map.normalise(_combine(q, h, tableau.b, rates_q))
        qd_next = _combine(qd, h, tableau.b, rates_v)
        self._require_finite(q_next, qd_next)
        if self.loops is None:
            return q_next, qd_next
        try:
            return self.loops.end_step(t, h, q_next, qd_next)
        except (LoopsCannotClose, np.linalg.LinAlgError) as error:
            raise _Diverged(self._coordinate(q_next, qd_next)) from error

    def _acceleration(
        self, t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, first: bool = False
    ) -> np.ndarray:
        self._require_finite(q, qd)
        try:
            with np.errstate(over='ignore', invalid='ignore'):
                if self.loops is not None:
                    base = None if self._base is None else self._base.given(t, q, qd)
                    return self.loops.acceleration(t, q, qd, tau, first, base)
                if self._base is not None:
                    return self._base.acceleration(t, q, qd, tau)
                return np.asarray(self._dyn.forward_dynamics(q, qd, tau))
        except SingularMassMatrix as error:
            if self._largest(q, qd) > _HUGE:
                raise _Diverged(self._coordinate(q, qd)) from error
            raise
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            raise _Diverged(self._coordinate(q, qd)) from error

    def _require_finite(self, q: np.ndarray, qd: np.ndarray) -> None:
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):
            raise _Diverged(self._coordinate(q, qd))

    def _largest(self, q: np.ndarray, qd: np.ndarray) -> float:
        return float(np.max(np.abs(np.concatenate((q, qd))), initial=0.0))

    def _coordinate(self, q: np.ndarray, qd: np.ndarray) -> str:
        """Name the coordinate whose rate, or else value, is not finite or largest."""
        size = np.abs(np.where(np.isfinite(qd), qd, np.inf))
        if np.isfinite(qd).all() and not np.isfinite(q).all():
            return self.map.names[int(np.argmin(np.isfinite(q)))]
        return self.map.velocity_names[int(np.argmax(size))]


def _combine(
    start: np.ndarray, h: float, weights: tuple[float, ...], rates: list[np.ndarray]
) -> np.ndarray:
    """Return start + h sum_j weights_j rates_j, in an array of its own."""
    with np.errstate(over='ignore', invalid='ignore'):
        total = start.copy()
        for weight, rate in zip(weights, rates):
            if weight:
                total += (h * weight) * rate
    return total


def _vector(value: Any, size: int, argument: str) -> np.ndarray:
    try:
        vector = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(argument, f'must be {size} numbers, not {value!r:.60}') from None
    if vector.shape != (size,):
        raise ArgumentError(argument, f'has shape {vector.shape}, and {(size,)} is needed')
    if not np.isfinite(vector).all():
        entry = int(np.argmin(np.isfinite(vector)))
        raise ArgumentError(argument, f'is not finite in entry {entry}: {vector[entry]}')
    return vector


def _positive(value: Any, argument: str, unit: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentError(argument, f'must be a number [{unit}], not {value!r:.60}')
    number = float(value)
    if not (math.isfinite(number) and number > 0.0):
        raise ArgumentError(argument, f'must be positive and finite [{unit}], not {number:g}')
    return number

# SPDX-License-Identifier: Apache-2.0
"""
The boundary value problem of stable inversion, by collocation with splines.

Outputs on the path and unforced equations hold at collocation points. At the start there is no
stable part, at the end no unstable part of the zero dynamics. Elastic joints are locked; their
deflections follow from the solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.tip_tracking.collocation_spline import CollocationSpline
from flexdyn_ros.tip_tracking.elastic_joints import ElasticJoints, forces_and_rates, Progress
from flexdyn_ros.tip_tracking.static_tracking import static_configurations, unforced_coordinates
from flexdyn_ros.tip_tracking.tip_outputs import Outputs
from flexdyn_ros.tip_tracking.tip_path import TipPath
from flexdyn_ros.tip_tracking.tip_zeros import (
    find_zeros,
    require_hyperbolic,
    require_invertible,
    Zeros,
)
import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.sparse import bsr_matrix, csc_matrix, csr_matrix, identity, kron
from scipy.sparse.linalg import splu

# Times along the path at which zeros are looked at.
PLACES = 41
# Samples of the motion through configurations at rest.
MOTION_SAMPLES = 301
# Remainder of a decaying part at the ends of the windows.
LEFT = 1e-8
LONGEST_WINDOW = 10.0  # of the path's duration
MOST_POINTS = 100_000
MOST_ITERATIONS = 25
LEAST_STEP = 1.0 / 64.0
OUTPUT_ERROR = 1e-10  # [m | rad]
NOT_CONVERGED = 'The inversion does not converge. Give the path more time.'
REFINEMENTS = 4
# Residual after the last refinement that is refused, of the tolerance.
MOST_LEFT = 100.0


@dataclass(frozen=True)
class TipTrajectory:
    """
    A motion whose tip follows a path.

    Attributes:
        t: Times from the pre-actuation to the end of the post-actuation, (T,) [s].
        q: Configurations, (T, nq) [rad | m].
        qd: Velocities, (T, nv).
        qdd: Accelerations, (T, nv).
        tau: Generalised forces, (T, nv) [N m | N]: those of modes and passive joints are zero but
            for the residual.
        before: Duration of the pre-actuation, before the path starts [s].
        after: Duration of the post-actuation, after the path ends [s].
        zero_times: Times at which zeros were found, (n,) [s].
        zeros: Zeros at these times [1/s].
        residual: Largest unforced force at a sample, of the largest elastic force [1].
        tip_error: Largest error of an output [m | rad].
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    before: float
    after: float
    zero_times: np.ndarray
    zeros: tuple[np.ndarray, ...]
    residual: float
    tip_error: float


class InversionFailed(FlexdynError):
    """Newton's iteration did not converge."""


class BoundaryValueProblem:
    """The boundary value problem of one path, in joints and modes with elastic joints locked."""

    def __init__(self, dyn: Dynamics, path: TipPath, progress: Progress):
        robot = dyn.robot
        self._dyn, self._path, self._progress = dyn, path, progress
        self._outputs = Outputs.of(robot, path.frame, path.outputs)
        dyn.compile('inverse_dynamics', 'inverse_dynamics_derivatives', 'elastic_vector',
                    f'frame_pose:{path.frame}', f'jacobian:{path.frame}', batch=True)
        self._elastic = ElasticJoints(robot)
        self._unforced = unforced_coordinates(robot)
        self._free = np.setdiff1d(self._unforced, self._elastic.deflections)
        self._moving = np.setdiff1d(np.arange(robot.nv), self._elastic.deflections)
        self._driven = np.setdiff1d(self._moving, self._free)
        self._places = np.linspace(0.0, path.duration, PLACES)
        first = static_configurations(
            dyn, self._outputs, dyn.frame_pose(path.start, path.frame), path.start,
            path(self._places[:1]), self._places[:1])
        self._first = first[0]
        self._start = dyn.frame_pose(first[0], path.frame)
        self._static = self._guess(self._places)
        self._zeros = [
            find_zeros(dyn, self._outputs, q, self._driven, self._free, t)
            for q, t in zip(self._static, self._places)]
        self._check()
        self.before = self._window(self._zeros[0], stable=False)
        self.after = self._window(self._zeros[-1], stable=True)

    def _check(self) -> None:
        require_invertible(self._zeros, self._places)
        damping = self._elastic.damping
        need, reason = 2, 'flexible links'
        if len(damping):
            need, reason = 3, 'damped elastic joints'
        if np.any(damping <= 0.0):
            need, reason = 4, 'elastic joints without damping'
        self._path.require_smoothness(need, reason)
        elastic = self._dyn.batch.elastic_vector(self._static, np.zeros_like(self._static))
        self._scale = float(np.abs(elastic).max(initial=0.0))
        if len(self._free):  # SciPy 1.8 interpolates no empty vector
            forces = self._forces()
            require_hyperbolic(self._zeros, self._places, forces)
            self._scale = max(self._scale, float(np.abs(forces(self._places)).max(initial=0.0)))
        self._scale = self._scale or 1.0

    def _forces(self) -> BSpline:
        """Return the unforced forces of the motion through the configurations at rest."""
        t = np.linspace(0.0, self._path.duration, MOTION_SAMPLES)
        motion = make_interp_spline(t, self._guess(t), k=5)
        q, qd, qdd = (motion(t, order) for order in range(3))
        return make_interp_spline(
            t, self._dyn.batch.inverse_dynamics(q, qd, qdd)[:, self._free], k=3)

    def _window(self, zeros: Zeros, stable: bool) -> float:
        """Return the decay time of the slowest part outside of the path [s]."""
        rates = np.abs(zeros.values.real[(zeros.stable == stable) & ~zeros.undecayed])
        longest = LONGEST_WINDOW * self._path.duration
        if not len(rates):
            return 0.02 * self._path.duration
        return float(min(max(-np.log(LEFT) / rates.min(), 0.02 * self._path.duration), longest))

    def solve(self, dt: float, tolerance: float) -> TipTrajectory:
        """Return the solution; intervals are halved until the residual is small."""
        path = self._path
        ends = np.concatenate([[-self.before], path.breaks, [path.duration + self.after]])
        vibrating = [abs(x) for each in self._zeros for x in each.values[each.undecayed]]
        longest = min([path.duration / 200.0, *(1.0 / x for x in vibrating)])
        shortest = longest
        spline = CollocationSpline(ends, shortest, longest)
        if len(spline.points) > MOST_POINTS:
            raise InversionFailed(
                f'The inversion needs {len(spline.points)} points, more than {MOST_POINTS}. '
                'Divide the path.')
        values = self._guess(spline.points)[:, self._moving]
        for attempt in range(REFINEMENTS):
            self._progress(attempt / REFINEMENTS)
            basis = [spline.matrix(spline.points, order) for order in range(3)]
            start = splu(csc_matrix(basis[0])).solve(values)
            found = spline, self._newton(spline, basis, start, 0.5 * tolerance * self._scale)
            residual = self._residual(*found)
            if residual <= tolerance:
                break
            shortest, longest = 0.25 * shortest, 0.5 * longest
            spline = CollocationSpline(ends, shortest, longest)
            values = found[0].matrix(spline.points, 0) @ found[1]
        if residual > MOST_LEFT * tolerance:
            raise InversionFailed(
                f'Unforced forces of {residual:.2g} of the largest one remain between the finest '
                'samples. Give the path more time or more smoothness.')
        self._progress(1.0)
        return self._motion(*found, dt)

    def _guess(self, t: np.ndarray) -> np.ndarray:
        """Return the configurations at rest whose tip is on the path, joints locked, (T, nq)."""
        return self._elastic.locked(static_configurations(
            self._dyn, self._outputs, self._start, self._first, self._path(t), t,
            progress=self._progress))

    def _newton(
        self, spline: CollocationSpline, basis: list[Any], coefficients: np.ndarray,
        accepted: float,
    ) -> np.ndarray:
        """Return the coefficients that meet the equations, by the natural monotonicity test."""
        state, value = self._equations(spline, basis, coefficients)
        for iteration in range(MOST_ITERATIONS):
            self._progress(iteration / MOST_ITERATIONS)
            if self._meets(value, accepted):
                return coefficients
            factors = splu(self._jacobian(spline, basis, state))
            step = factors.solve(-value.ravel()).reshape(coefficients.shape)
            size, share = float(np.linalg.norm(step)), 1.0
            while True:
                moved = coefficients + share * step
                state, value = self._equations(spline, basis, moved)
                following = float(np.linalg.norm(factors.solve(value.ravel())))
                if following <= (1.0 - share / 4.0) * size or self._meets(value, accepted):
                    break
                if self._meets(value, 20.0 * accepted):
                    return moved  # rounding: accelerations of short intervals
                share *= 0.5
                if share < LEAST_STEP:
                    raise InversionFailed(NOT_CONVERGED)
            coefficients = moved
        raise InversionFailed(NOT_CONVERGED)

    def _meets(self, value: np.ndarray, accepted: float) -> bool:
        """Return whether the equations hold: outputs, and forces below an accepted one."""
        n = value.shape[1] - len(self._free)
        return bool(np.abs(value[:, :n]).max() < OUTPUT_ERROR
                    and np.abs(value[:, n:]).max(initial=0.0) < accepted)

    def _equations(
        self, spline: CollocationSpline, basis: list[Any], coefficients: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Return q, qd, qdd at the points, and residuals of the equations, (T, n + m)."""
        state = [self._all(matrix @ coefficients) for matrix in basis]
        errors = self._outputs.errors(
            self._dyn, state[0], self._start, self._path(spline.points))
        forces = self._dyn.batch.inverse_dynamics(*state)[:, self._free]
        value = np.hstack([errors, forces])
        for rows, replaced, at in self._boundary():
            value[replaced[:, 0], replaced[:, 1]] = rows @ np.concatenate(
                [state[0][at, self._free] - self._static[at][self._free],
                 state[1][at, self._free]])
        return state, value

    def _boundary(self) -> list[tuple[np.ndarray, np.ndarray, int]]:
        """
        Return the boundary conditions at the start and at the end.

        Each is: rows that act on the departure (eta, eta') from rest; the equations that they
        replace, as pairs (point, equation); the point.
        """
        first, m = len(self._driven), len(self._free)
        replaced = [(point, first + k) for point in (0, -1) for k in range(m)]
        start = self._zeros[0].amplitudes(stable=True)
        end = self._zeros[-1].amplitudes(stable=False)
        places = np.array(replaced, dtype=int).reshape(-1, 2)
        return [(start, places[:len(start)], 0), (end, places[len(start):], -1)]

    def _jacobian(
        self, spline: CollocationSpline, basis: list[Any], state: list[np.ndarray]
    ) -> csc_matrix:
        """Return the derivative of the equations by the coefficients, sparse."""
        count, n = len(state[0]), len(self._driven)
        width = len(self._moving)
        blocks = np.zeros((3, count, width, width))
        blocks[0, :, :n] = self._outputs.jacobian(self._dyn, state[0])[:, :, self._moving]
        derivatives = self._dyn.batch.inverse_dynamics_derivatives(*state)
        for block, each in zip(blocks, derivatives):
            block[:, n:] = each[:, self._free][:, :, self._moving]
        conditions = []
        m, columns = len(self._free), np.searchsorted(self._moving, self._free)
        for rows, replaced, at in self._boundary():
            blocks[:, replaced[:, 0], replaced[:, 1]] = 0.0
            place = replaced[:, 0] % count * width + replaced[:, 1]
            chosen = csr_matrix(
                (np.ones(len(place)), (place, np.arange(len(place)))),
                shape=(count * width, len(place)))
            on_state = np.zeros((2, len(place), width))
            on_state[0][:, columns], on_state[1][:, columns] = rows[:, :m], rows[:, m:]
            conditions += [
                chosen @ kron(matrix[[at % count]], part, format='csr')
                for matrix, part in zip(basis, on_state)]
        equations = [
            bsr_matrix((block, np.arange(count), np.arange(count + 1)), shape=(count * width,) * 2)
            @ kron(matrix, identity(width), format='csr')
            for block, matrix in zip(blocks, basis)]
        return csc_matrix(sum(equations[1:] + conditions, equations[0]))

    def _all(self, moving: np.ndarray) -> np.ndarray:
        """Return all coordinates, with zero deflections of elastic joints, (T, nv)."""
        found = np.zeros((len(moving), self._dyn.robot.nv))
        found[:, self._moving] = moving
        return found

    def _residual(
        self, spline: CollocationSpline, coefficients: np.ndarray
    ) -> float:
        """Return the largest unforced force between points, joints locked, of the scale."""
        t = spline.between_points()
        state = [self._all(spline.matrix(t, order) @ coefficients) for order in range(3)]
        forces = self._dyn.batch.inverse_dynamics(*state)[:, self._free]
        return float(np.abs(forces).max(initial=0.0) / self._scale)

    def _motion(
        self, spline: CollocationSpline, coefficients: np.ndarray, dt: float
    ) -> TipTrajectory:
        """Return the samples of the solution, with the deflections of elastic joints."""
        count = int(np.ceil((spline.span[1] - spline.span[0]) / dt)) + 1
        t = np.linspace(*spline.span, count)
        q, qd, qdd = (self._all(spline.matrix(t, order) @ coefficients) for order in range(3))
        if len(self._elastic.joints):
            joints, deflections = self._elastic.joints, self._elastic.deflections
            found = self._elastic.follow(
                t, spline.halved(), lambda at: self._loads(spline, coefficients, at))
            for state, e in zip((q, qd, qdd), found):
                state[:, deflections] = e
                state[:, joints] -= e
        tau = self._dyn.batch.inverse_dynamics(q, qd, qdd)
        elastic = np.abs(self._dyn.batch.elastic_vector(q, qd)).max(initial=0.0)
        errors = self._outputs.errors(self._dyn, q, self._start, self._path(t))
        return TipTrajectory(
            t, q, qd, qdd, tau, self.before, self.after, self._places,
            tuple(each.values for each in self._zeros),
            float(np.abs(tau[:, self._unforced]).max(initial=0.0) / (elastic or 1.0)),
            float(np.abs(errors).max()))

    def _loads(
        self, spline: CollocationSpline, coefficients: np.ndarray, t: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the forces of the links on elastic joints and their rates, (T, k) each."""
        motion = [self._all(spline.matrix(t, order) @ coefficients) for order in range(4)]
        return forces_and_rates(self._dyn, self._elastic.deflections, motion, self._progress)

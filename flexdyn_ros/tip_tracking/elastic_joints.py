# SPDX-License-Identifier: Apache-2.0
"""
Deflections of elastic joints from the motion of their links.

With link-side coordinates s = motor + deflection, the force f of the links on a joint does not
depend on its deflection e, which obeys (M. Spong, Modeling and control of elastic joint robots,
1987)

    f(t) + k(e) + d e' = 0.

The motor's coordinate is s - e. Between grid times f is a cubic. The equation with a mean slope m
of the spring is then solved exactly, and k(e) - m e is iterated. That contracts by the difference
of the largest and the smallest slope over their sum.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

from flexdyn_ros.dynamics.scalar import horner, Spline
from flexdyn_ros.dynamics.spring_law import monotone_cubic
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.tip_tracking.static_tracking import NotReached
import numpy as np
from scipy.interpolate import CubicHermiteSpline, make_interp_spline, PPoly

SETTLED = 1e-13  # change of a deflection that ends an iteration [rad | m]
MOST_SETTLED = 1e-9  # the same after the last step
STEPS = 200
BLOCK = 1000  # samples whose forces are computed at a time

Progress = Callable[[float], None]

Loads = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def forces_and_rates(
    dyn: Any, rows: np.ndarray, motion: Sequence[np.ndarray],
    progress: Progress = lambda fraction: None,
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return generalised forces of a motion and their rates, (T, k) each.

    Args:
        dyn: The dynamics.
        rows: Numbers of the forces, (k,).
        motion: q, qd, qdd and the rate of qdd, (T, nv) each.
        progress: Receives the fraction done, after each block of samples.
    """
    count = len(motion[0])
    found = np.zeros((2, count, len(rows)))
    for first in range(0, count, BLOCK):
        some = slice(first, first + BLOCK)
        *state, jerk = (each[some] for each in motion)
        found[0, some] = dyn.batch.inverse_dynamics(*state)[:, rows]
        found[1, some] = sum(
            np.einsum('tij,tj->ti', each[:, rows], rate) for each, rate in zip(
                dyn.batch.inverse_dynamics_derivatives(*state), (*state[1:], jerk)))
        progress(first / count)
    return found[0], found[1]


class ElasticJoints:
    """
    The elastic joints of a robot.

    Attributes:
        joints: Entries of the motors' coordinates in q, (k,).
        deflections: Entries of the deflections in q, (k,).
        damping: Dampers beside the springs, (k,) [N m s/rad | N s/m].
    """

    def __init__(self, robot: Robot):
        names = list(robot.coordinate_names)
        elastic = [joint for joint in robot.joints if joint.elastic_name]
        self.joints = np.array([names.index(each.name) for each in elastic], dtype=int)
        self.deflections = np.array(
            [names.index(each.elastic_name) for each in elastic], dtype=int)
        dynamics = [each.dynamics for each in elastic]
        self.damping = np.array([each.damping for each in dynamics])
        laws = [monotone_cubic(each.spring) if each.spring else
                Spline((0.0,), ((0.0, each.stiffness),) * 2) for each in dynamics]
        slopes = [law.derivative() for law in laws]
        self._springs = laws, slopes, [slope.derivative() for slope in slopes]

    def stiffness(self, deflections: np.ndarray) -> np.ndarray:
        """Return the slopes of the springs at deflections, (..., k)."""
        return self._springs_at(deflections, 1)

    def _springs_at(self, deflections: np.ndarray, order: int = 0) -> np.ndarray:
        """Return the forces of the springs or a derivative of them, (..., k)."""
        found = np.zeros_like(deflections)
        for k, law in enumerate(self._springs[order]):
            x = deflections[..., k]
            pieces = np.searchsorted(law.knots, x, side='right')
            for number in range(len(law.pieces)):
                inside = pieces == number
                found[inside, k] = horner(law.pieces[number], x[inside] - law.origin(number))
        return found

    def locked(self, q: np.ndarray) -> np.ndarray:
        """Return configurations, (T, nq), with the deflections moved to the joints."""
        found = q.copy()
        found[:, self.joints] += q[:, self.deflections]
        found[:, self.deflections] = 0.0
        return found

    def follow(
        self, t: np.ndarray, grid: np.ndarray, loads: Loads
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return deflections under the forces of the links, with their first and second rates.

        Args:
            t: Ascending times, (T,) [s].
            grid: Times that resolve the forces, from rest, (S,) [s].
            loads: Returns the forces f of the links at times and their rates, (T, k) each.

        Returns:
            Deflections, rates and second rates, (T, k) each.
        """
        force, change = loads(t)
        at_grid = (force, change) if t is grid else loads(grid)
        e = self._static(force)
        damped = np.flatnonzero(self.damping > 0.0)
        if len(damped):
            e[:, damped] = self._damped(t, grid, *at_grid)[:, damped]
        slope, bend = self.stiffness(e), self._springs_at(e, 2)
        rate = -change / slope
        curvature = make_interp_spline(grid, at_grid[1], k=3)(t, 1)
        second = -(curvature + bend * rate**2) / slope
        if len(damped):
            springs, d = self._springs_at(e)[:, damped], self.damping[damped]
            rate[:, damped] = -(force[:, damped] + springs) / d
            second[:, damped] = -(change + slope * rate)[:, damped] / d
        return e, rate, second

    def _static(self, loads: np.ndarray) -> np.ndarray:
        """Return the deflections at which the springs carry loads, (T, k), by Newton's method."""
        e = np.zeros_like(loads)
        value = self._springs_at(e) + loads
        for _ in range(STEPS):
            step = -value / self.stiffness(e)
            for _ in range(STEPS):
                moved = self._springs_at(e + step) + loads
                # Springs are monotone: a step that is too long is the only one that fails.
                worse = (np.abs(moved) > np.abs(value)) & (np.abs(step) > SETTLED)
                if not worse.any():
                    break
                step[worse] *= 0.5
            e, value = e + step, moved
            if np.abs(step).max(initial=0.0) < SETTLED:
                return e
        if not np.abs(step).max(initial=0.0) < MOST_SETTLED:
            raise NotReached(
                'The spring of a joint does not carry the load of the path. Extend its table.')
        return e

    def _damped(
        self, t: np.ndarray, grid: np.ndarray, force: np.ndarray, change: np.ndarray
    ) -> np.ndarray:
        """Return the deflections of damped joints at times; see the module."""
        e = self._static(force)
        slopes = self.stiffness(e)
        mean = 0.5 * (slopes.min(axis=0) + slopes.max(axis=0))
        d = np.where(self.damping > 0.0, self.damping, mean)  # any, for others
        rates, e_rate = mean / d, -change / slopes
        first = e[0]
        for _ in range(STEPS):
            left = self._springs_at(e) - mean * e
            drive = CubicHermiteSpline(
                grid, -(force + left) / d, -(change + (self.stiffness(e) - mean) * e_rate) / d)
            solution = _FirstOrder(drive, rates, first)
            before, e = e, solution(grid)
            e_rate = drive(grid) - rates * e
            if np.abs(e - before).max() < SETTLED:
                return solution(t)
        if not np.abs(e - before).max() < MOST_SETTLED:
            raise NotReached(
                'The spring of a joint does not carry the load of the path. Extend its table.')
        return solution(t)


class _FirstOrder:
    """The solution of x' = -rates x + drive(t) from x(t_0) = first, for a cubic spline."""

    def __init__(self, drive: PPoly, rates: np.ndarray, first: np.ndarray):
        # A polynomial p with p' = -rates p + drive between knots, coefficients as the drive's.
        p = drive.c / rates
        for k in range(1, 4):
            p[k] -= (4 - k) * p[k - 1] / rates
        self._particular, self._rates = PPoly(p, drive.x), rates
        width = np.diff(drive.x)[:, np.newaxis]
        ends = ((p[0] * width + p[1]) * width + p[2]) * width + p[3]
        decays, x = np.exp(-rates * width), first
        self._departures = np.zeros_like(ends)  # from p, at the start of each piece
        for k, (decay, end) in enumerate(zip(decays, ends)):
            self._departures[k] = x - p[3, k]
            x = end + decay * self._departures[k]

    def __call__(self, t: np.ndarray) -> np.ndarray:
        """Return the solution at times within the knots, (T, k)."""
        x = self._particular.x
        piece = np.clip(np.searchsorted(x, t, side='right') - 1, 0, len(x) - 2)
        since = (t - x[piece])[:, np.newaxis]
        return np.asarray(
            self._particular(t) + np.exp(-self._rates * since) * self._departures[piece])

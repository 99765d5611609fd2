# SPDX-License-Identifier: Apache-2.0
"""
Deflections of elastic joints from the motion of their links.

With link-side coordinates s = motor + deflection, the force f of the links on a joint does not
depend on its deflection e, which obeys (M. Spong, Modeling and control of elastic joint robots,
1987)

    f(t) + k(e) + d e' = 0.

The motor's coordinate is s - e.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

from flexdyn_ros.dynamics.spring_law import PolynomialLaw, TableLaw
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.tip_tracking.static_tracking import NotReached
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline, make_interp_spline

RTOL, ATOL = 1e-8, 1e-12  # of deflections [rad | m]
NEWTON_STEPS = 30

Loads = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def forces_and_rates(
    dyn: Any, rows: np.ndarray, motion: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return generalised forces of a motion and their rates, (T, k) each.

    Args:
        dyn: The dynamics.
        rows: Which forces, (k,).
        motion: q, qd, qdd and the rate of qdd, (T, nv) each.
    """
    forces = dyn.batch.inverse_dynamics(*motion[:3])[:, rows]
    changes = sum(
        np.einsum('tij,tj->ti', each[:, rows], rate) for each, rate in zip(
            dyn.batch.inverse_dynamics_derivatives(*motion[:3]), motion[1:]))
    return forces, np.asarray(changes)


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
        self._springs = [
            TableLaw.through(each.spring) if each.spring else PolynomialLaw((each.stiffness,))
            for each in dynamics]

    def stiffness(self, deflections: np.ndarray) -> np.ndarray:
        """Return the slopes of the springs at deflections, (k,)."""
        step = 1e-7
        return np.asarray(
            self._forces(deflections + step) - self._forces(deflections - step)) / (2.0 * step)

    def _forces(self, deflections: np.ndarray) -> np.ndarray:
        """Return the forces of the springs, (k,) [N m | N]."""
        return np.array([
            float(spring.force(x)) for spring, x in zip(self._springs, deflections.tolist())])

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
        at_grid = loads(grid)
        e = self._static(force)
        damped = np.flatnonzero(self.damping > 0.0)
        if len(damped):
            first = self._static(at_grid[0][:1])[0]
            through = CubicHermiteSpline(grid, *at_grid)
            e[:, damped] = self._damped(t, grid, through, first)[:, damped]
        slope = np.array([self.stiffness(row) for row in e])
        rate = -change / slope
        bend = np.array([self.stiffness(row + 1e-5) - self.stiffness(row - 1e-5) for row in e])
        curvature = make_interp_spline(grid, at_grid[1], k=3)(t, 1)
        second = -(curvature + bend / 2e-5 * rate**2) / slope
        if len(damped):
            springs = np.array([self._forces(row) for row in e])[:, damped]
            d = self.damping[damped]
            rate[:, damped] = -(force[:, damped] + springs) / d
            second[:, damped] = -(change + slope * rate)[:, damped] / d
        return e, rate, second

    def _static(self, loads: np.ndarray) -> np.ndarray:
        """Return the deflections at which the springs carry loads, (T, k)."""
        found, e = [], np.zeros(len(self.joints))
        for load in loads:
            for _ in range(NEWTON_STEPS):
                step = -(self._forces(e) + load) / self.stiffness(e)
                e = e + step
                if np.abs(step).max(initial=0.0) < 1e-14:
                    break
            else:
                if not np.abs(step).max(initial=0.0) < 1e-9:
                    raise NotReached(
                        'The spring of a joint does not carry the load of the path. '
                        'Extend its table.')
            found.append(e)
        return np.array(found)

    def _damped(
        self, t: np.ndarray, grid: np.ndarray, force: Any, first: np.ndarray
    ) -> np.ndarray:
        """Return the deflections of damped joints; those of others stay as they are first."""
        damped = self.damping > 0.0
        d = np.where(damped, self.damping, 1.0)

        def rate(time: float, e: np.ndarray) -> np.ndarray:
            return np.where(damped, -(force(time) + self._forces(e)) / d, 0.0)

        def jacobian(time: float, e: np.ndarray) -> np.ndarray:
            return np.diag(np.where(damped, -self.stiffness(e) / d, 0.0))

        run = solve_ivp(
            rate, (grid[0], grid[-1]), first, 'Radau', t, jac=jacobian, rtol=RTOL, atol=ATOL)
        return np.asarray(run.y.T)

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

from typing import Any

from flexdyn_ros.tip_tracking.static_tracking import NotReached
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline

RTOL, ATOL = 1e-10, 1e-13  # of deflections [rad | m]
NEWTON_STEPS = 30


class ElasticJoints:
    """
    The elastic joints of a robot.

    Attributes:
        joints: Entries of the motors' coordinates in q, (k,).
        deflections: Entries of the deflections in q, (k,).
        damping: Dampers beside the springs, (k,) [N m s/rad | N s/m].
    """

    def __init__(self, dyn: Any):
        robot = dyn.robot
        self._dyn = dyn
        names = list(robot.coordinate_names)
        elastic = [joint for joint in robot.joints if joint.elastic_name]
        self.joints = np.array([names.index(each.name) for each in elastic], dtype=int)
        self.deflections = np.array([names.index(each.elastic_name) for each in elastic], dtype=int)
        rest, unit = robot.neutral_configuration(), np.ones(robot.nv)
        still = dyn.elastic_vector(rest, 0.0 * unit)
        self.damping = (dyn.elastic_vector(rest, unit) - still)[self.deflections]

    def stiffness(self, deflections: np.ndarray) -> np.ndarray:
        """Return the slopes of the springs at deflections, (k,)."""
        step = 1e-7
        return np.asarray(
            self._forces(deflections + step) - self._forces(deflections - step)) / (2.0 * step)

    def _forces(self, deflections: np.ndarray) -> np.ndarray:
        """Return the forces of the springs, (k,) [N m | N]."""
        q = self._dyn.robot.neutral_configuration()
        q[self.deflections] = deflections
        rest = np.zeros(self._dyn.robot.nv)
        return np.asarray(self._dyn.elastic_vector(q, rest)[self.deflections])

    def locked(self, q: np.ndarray) -> np.ndarray:
        """Return configurations, (T, nq), with the deflections moved to the joints."""
        found = q.copy()
        found[:, self.joints] += q[:, self.deflections]
        found[:, self.deflections] = 0.0
        return found

    def follow(
        self, t: np.ndarray, loads: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return deflections under the forces of the links, with their first and second rates.

        Args:
            t: Ascending times; the motion starts at rest, (T,) [s].
            loads: Forces f of the links there, (T, k) [N m | N].

        Returns:
            Deflections, rates and second rates, (T, k) each.
        """
        e = self._static(loads)
        damped = self.damping > 0.0
        force = make_interp_spline(t, loads, k=5)
        if damped.any():
            e[:, damped] = self._damped(t, force, e[0], damped)[:, damped]
        motion = make_interp_spline(t, e, k=5)
        rate, second = motion(t, 1), motion(t, 2)
        if damped.any():
            slope = np.array([self.stiffness(row) for row in e])
            springs = np.array([self._forces(row) for row in e])
            d = np.where(damped, self.damping, 1.0)
            exact = -(loads + springs) / d
            rate = np.where(damped, exact, rate)
            second = np.where(damped, -(force(t, 1) + slope * exact) / d, second)
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
                    raise NotReached('The spring of a joint does not carry the load of the path.')
            found.append(e)
        return np.array(found)

    def _damped(
        self, t: np.ndarray, force: Any, first: np.ndarray, damped: np.ndarray
    ) -> np.ndarray:
        d = np.where(damped, self.damping, 1.0)

        def rate(time: float, e: np.ndarray) -> np.ndarray:
            return np.where(damped, -(force(time) + self._forces(e)) / d, 0.0)

        def jacobian(time: float, e: np.ndarray) -> np.ndarray:
            return np.diag(np.where(damped, -self.stiffness(e) / d, 0.0))

        run = solve_ivp(rate, (t[0], t[-1]), first, 'Radau', t, jac=jacobian, rtol=RTOL, atol=ATOL)
        return np.asarray(run.y.T)

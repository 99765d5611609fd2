# SPDX-License-Identifier: Apache-2.0
"""
Steps of the implicit midpoint rule with fitted damping and set-valued dry friction.

With v_m = (v0 + v1) / 2 and q_m the configuration half a step on with v_m,

    M(q_m) (v1 - v0) = h [f(t_m, q_m, v_m) - d (v0 + theta (v1 - v0))] + P,

where f holds torque, gravity, Coriolis and elastic forces. d is the viscous friction of joints and
the damping of springs. P are the impulses of dry friction at v1 (`dry_friction.py`). The rule is
of second order, conserves the energy of linear vibrations and adds no damping to them at any step
(Hairer, Lubich and Wanner, Geometric Numerical Integration, 2006, sections II.16 and IV.2).

theta = 1 / (1 - exp(-z)) - 1 / z, z = h d (M^-1)_jj, makes a joint that is only damped decay as
exp(-z) at any step (W. Liniger and R. A. Willoughby, Efficient integration methods for stiff
systems of ordinary differential equations, SIAM Journal on Numerical Analysis 7, 1970). It is
1/2 + z/12 where z is small, so that the order stays.

Between friction events the method may take explicit steps instead, of fourth order
(`sliding_motion.py`), where these resolve all but dry friction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.simulation.constrained_space import ConstrainedSpace
from flexdyn_ros.simulation.divided_steps import DividedSteps, NotConverged
from flexdyn_ros.simulation.dry_friction import friction_impulses
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.joint_stops import ImpulseRows
from flexdyn_ros.simulation.passive_forces import damping_weights, PassiveForces
from flexdyn_ros.simulation.runge_kutta import RungeKutta
from flexdyn_ros.simulation.sliding_motion import FrictionEvent, SlidingMotion
from flexdyn_ros.simulation.step_tolerances import (
    CLOSED,
    MOST_IMPACTS,
    MOST_ITERATIONS,
    MOST_SECANTS,
    settled,
)
from flexdyn_ros.simulation.tableaus import RK4
import numpy as np

_RESOLVED = 2.5  # rate of a motion times the step, which RK4 resolves up to 2.78


@dataclass
class _Step:
    """
    A step that was solved.

    Attributes:
        h: Its length [s].
        q: Configuration at its end, (nq,).
        v: Velocity at its start, (nv,).
        change: Change of velocity, (nv,).
        q_middle: Configuration in its middle, (nq,).
        tau: Generalised forces there, (nv,).
        theta: Weights of the velocity at the end in damping, (nv,).
        impulse: Impulses of friction and stops, (n,).
        push: Impulse that moves a prescribed base, (6,), or none.
    """

    h: float
    q: np.ndarray
    v: np.ndarray
    change: np.ndarray
    q_middle: np.ndarray
    tau: np.ndarray
    theta: np.ndarray
    impulse: np.ndarray
    push: np.ndarray


class ImplicitMidpoint(DividedSteps):
    """
    The method for the motion of one robot.

    `steps/implicit_midpoint.h` does the same steps with the same numbers.

    Attributes:
        rows: Places of dry friction and stops.
        forces: Passive forces, with the losses and the stiffness of the robot.
        last: Accelerations of the last step, (nv,), with which the iterations start.
        slides: Whether explicit steps do between friction events, (1,), see `prepare`.
    """

    def __init__(self, equations: EquationsOfMotion):
        """Prepare the method; `equations` are the robot's equations of motion."""
        super().__init__(equations)
        dyn = self._dyn = equations.dyn
        equations.mean_acceleration = None
        tree = assemble(dyn.robot, {})
        self.rows = ImpulseRows(dyn.robot, tree.friction, equations.stops)
        self.forces = PassiveForces(equations, tree)
        self.last = np.zeros(dyn.robot.nv)
        self.slides, self._step = np.zeros(1), 0.0
        self._sliding = SlidingMotion(equations, self.rows, self.forces)
        self._explicit = RungeKutta(self._sliding, RK4, self._sliding)

    def prepare(self, q: np.ndarray, h: float) -> None:
        """
        Take the stiffness where it is not known or changes, and whether explicit steps do.

        Explicit steps are taken where `EquationsOfMotion.slides` is set and they resolve all but
        dry friction, gains included.

        Args:
            q: Configuration, (nq,).
            h: Length of the steps [s].
        """
        if self.forces.nonlinear or h > self._step:
            self.forces.update(q)
        if h > self._step:
            self._step = h
            if self._equations.slides:
                self.slides[0] = h * self.forces.fastest_rate(q) < _RESOLVED

    def step(
        self, t: float, h: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the state after a step, see `RungeKutta.step`.

        Where the iterations do not converge, the step is divided. Between friction events it is
        an explicit one where `slides` is set.
        """
        self.prepare(q, h)
        if self.slides[0]:
            start = self._sliding.value
            try:
                self._sliding.begin(q, qd)
                found = self._explicit.step(t, h, q, qd, tau)
                self.last[:] = (found[1] - qd) / h
                return found
            except (FrictionEvent, ArithmeticError, np.linalg.LinAlgError):
                self._sliding.value = start
        return self._divided(t, h, q, qd)

    def _whole(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        met = np.zeros((2, len(self.rows)), dtype=bool)
        for _ in range(MOST_IMPACTS):
            closed = met | (self.rows.gaps(q) <= CLOSED)
            if self.rows.approach(v, closed):
                q, v = self._impact(q, v, closed)
            found = self._iterated(t, h, q, v, closed)
            if not self._gap(found, closed) < -CLOSED:
                return self._finished(t, found)
            found = self._up_to_impact(t, h, q, v, closed)
            q, v = self._finished(t, found)
            t, h, met = t + found.h, h - found.h, self.rows.gaps(found.q) <= CLOSED
        raise NotConverged

    def _gap(self, found: _Step, closed: np.ndarray) -> float:
        """Return the least gap at the end of a step of the stops that are not closed."""
        gaps = np.where(closed, np.inf, self.rows.gaps(found.q))
        return float(gaps.min(initial=np.inf))

    def _up_to_impact(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, closed: np.ndarray
    ) -> _Step:
        """Return the shorter step that ends at the first stop, by the Illinois method."""
        lower, upper, side = 0.0, h, 0
        gaps = np.where(closed, np.inf, self.rows.gaps(q))
        below = float(gaps.min())
        above = self._gap(self._iterated(t, h, q, v, closed), closed)
        for _ in range(MOST_SECANTS):
            length = (lower * above - upper * below) / (above - below)
            found = self._iterated(t, length, q, v, closed)
            gap = self._gap(found, closed)
            if abs(gap) <= CLOSED:
                return found
            if gap > 0.0:
                lower, below, above = length, gap, above * (0.5 if side > 0 else 1.0)
            else:
                upper, above, below = length, gap, below * (0.5 if side < 0 else 1.0)
            side = 1 if gap > 0.0 else -1
        raise NotConverged

    def _impact(
        self, q: np.ndarray, v: np.ndarray, closed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the state after an impact on stops, (2, n), without rebound."""
        rows, q = self.rows, q.copy()
        rows.put_at_stops(q)
        space = ConstrainedSpace(self._equations, q)
        space.move(q, q)
        mass, held = self._dyn.mass_matrix(q), self._equations.held_coordinates
        inverse, value = space.inverse(mass), self._equations.quadratures.value
        after, impulse, _ = self._with_impulses(0.0, v, closed, inverse, v, space)
        value[-2] += v[:held] @ mass[:held] @ (after - v)
        value[-1] -= 0.5 * impulse @ rows.velocity(v + after)
        return q, after

    def _iterated(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, closed: np.ndarray
    ) -> _Step:
        """Return a step with the lower and upper stops that are closed, (2, n)."""
        equations, to, forces = self._equations, self._equations.map, self.forces
        start = equations.quadratures.value
        feedback = equations.law is not None and equations.law.integrals > 0
        change, moved = h * self.last, np.inf
        held = equations.held_coordinates
        space = ConstrainedSpace(equations, q)
        theta: Optional[np.ndarray] = None
        for _ in range(MOST_ITERATIONS):
            middle = v + 0.5 * change
            q_middle = to.normalise(q + 0.5 * h * to.rate(q, middle))
            if held:
                change[:held] = h * equations.base_acceleration(t + 0.5 * h, q_middle, middle)
                middle = v + 0.5 * change
            if feedback:
                rate = equations.quadratures.rate(t + 0.5 * h, q_middle, middle, middle)
                equations.quadratures.value = start + 0.5 * h * rate
            tau = equations.torque(t + 0.5 * h, q_middle, middle)
            mass = self._dyn.mass_matrix(q_middle)
            space.move(q_middle, to.normalise(q + h * to.rate(q_middle, middle)))
            if theta is None:
                inverse = space.inverse(mass)
                theta = damping_weights(h * forces.damping * np.diag(inverse))
                matrix = mass + forces.linearised(h, theta, inverse)
            inverse = space.inverse(matrix)
            force = tau + forces(q_middle, middle)
            short = h * (force - forces.damping * (v + theta * change)) - mass @ change
            end = space.end(inverse, matrix, v + change, short)
            end, impulse, cancelled = self._with_impulses(h, middle, closed, inverse, end, space)
            before, moved = moved, float(np.abs(end - v - change).max(initial=0.0))
            change = end - v
            scale = np.abs(v).max(initial=0.0) + np.abs(change).max(initial=0.0)
            # Velocities that loops leave of impulses at rest are rounding.
            if settled(moved, before, scale, cancelled):
                break
        else:
            raise NotConverged
        equations.quadratures.value = start
        middle = v + 0.5 * change
        end = to.normalise(q + h * to.rate(q_middle, middle))
        return _Step(h, end, v, change, q_middle, tau, theta, impulse, -short[:held])

    def _with_impulses(
        self, h: float, middle: np.ndarray, closed: np.ndarray, inverse: np.ndarray,
        end: np.ndarray, space: ConstrainedSpace,
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Return velocities after impulses, (nv,), these, (n,), and the size of their terms."""
        rows = self.rows
        if not len(rows):
            return end, np.zeros(0), 0.0
        columns = rows.velocity(inverse.T).T
        impulse, velocity = friction_impulses(
            rows.velocity(columns), rows.velocity(end), *rows.boxes(h, middle, closed),
            space.constrained)
        end = end + columns @ impulse
        end[rows.at[(velocity == 0.0) & (rows.share == 0.0)]] = 0.0
        return end, impulse, float((np.abs(columns) @ np.abs(impulse)).max())

    def _finished(self, t: float, found: _Step) -> tuple[np.ndarray, np.ndarray]:
        """Return the state after a step, and take its work and losses."""
        equations, h, q = self._equations, found.h, found.q
        middle, end = found.v + 0.5 * found.change, found.v + found.change
        self.last[:] = found.change / h
        equations.mean_acceleration = self.last
        rate = equations.quadratures.rate(t + 0.5 * h, found.q_middle, middle, found.tau)
        damped = self.forces.damping * (found.v + found.theta * found.change)
        rate[-2] += found.push @ middle[:len(found.push)] / h
        rate[-1] = (damped + self.forces.modal @ middle) @ middle
        rate[-1] -= found.impulse @ self.rows.velocity(middle) / h
        equations.quadratures.value = equations.quadratures.value + h * rate
        return equations.end_step(q, end)

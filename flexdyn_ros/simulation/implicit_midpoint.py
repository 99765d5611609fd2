# SPDX-License-Identifier: Apache-2.0
"""
Steps of the implicit midpoint rule with fitted damping and set-valued dry friction.

With v_m = (v0 + v1) / 2 and q_m the configuration half a step on with v_m,

    M(q_m) (v1 - v0) = h [f(t_m, q_m, v_m) - d (v0 + theta (v1 - v0))] + P,

where f holds torque, gravity, Coriolis and elastic forces, d the viscous friction of joints and
the damping of springs, and P the impulses of dry friction at v1 (`dry_friction.py`). The rule is
of second order, conserves the energy of linear vibrations and adds no damping to them at any step
(Hairer, Lubich and Wanner, Geometric Numerical Integration, 2006, sections II.16 and IV.2).

theta = 1 / (1 - exp(-z)) - 1 / z, z = h d (M^-1)_jj, makes a joint that is only damped decay as
exp(-z), whatever the step (W. Liniger and R. A. Willoughby, Efficient integration methods for
stiff systems of ordinary differential equations, SIAM Journal on Numerical Analysis 7, 1970); it
is 1/2 + z/12 where z is small, so that the order stays.
"""

from __future__ import annotations

from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.simulation.divergence import Diverged
from flexdyn_ros.simulation.dry_friction import friction_impulses, FrictionLevels
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.frequencies import stiffness_matrix
import numpy as np

_MOST_ITERATIONS, _MOST_HALVINGS = 15, 8
# Of velocities, where iterations end: their change, and where it may be rounding that is left.
_CONVERGED, _ROUNDING = 1e-13, 1e-10
_SMALL = 1e-4  # of z, below which theta is its series


class NotConverged(Exception):
    """The iterations of a step do not converge, as where it is too long."""


class ImplicitMidpoint:
    """
    The method for the motion of one robot, without loops or a prescribed base.

    `steps/implicit_midpoint.h` does the same steps with the same numbers.

    Attributes:
        levels: Levels of dry friction.
        damping: Viscous friction and damping of springs, (nv,).
        springs: Damping of springs alone, (nv,).
        modal: Damping of modes, (nv, nv).
        changes: Whether the stiffness depends on the configuration.
        stiffness: Stiffness of modes and springs, (nv, nv), see `prepare`.
        last: Accelerations of the last step, (nv,), with which the iterations start.
    """

    def __init__(self, equations: EquationsOfMotion):
        """Prepare the method; `equations` are the robot's equations of motion."""
        dyn = equations.dyn
        self._equations, self._dyn = equations, dyn
        tree = assemble(dyn.robot, {})
        nv = dyn.robot.nv
        self.levels = FrictionLevels(tree.friction, nv)
        viscous = np.zeros(nv)
        for term in tree.friction:
            viscous[term.index] += term.multiplier**2 * term.viscous
        self.springs = np.zeros(nv)
        for spring in tree.springs:
            self.springs[spring.velocity_index] += spring.damping
        self.damping = viscous + self.springs
        self.modal = np.zeros((nv, nv))
        for body in tree.bodies:
            if body.n_modes:
                modes = slice(body.velocity_modes, body.velocity_modes + body.n_modes)
                self.modal[modes, modes] = body.modal.damping
        self.changes = any(spring.law is not None for spring in tree.springs)
        self.stiffness, self._known = np.zeros((nv, nv)), False
        self.last = np.zeros(nv)

    def prepare(self, q: np.ndarray) -> None:
        """Take the stiffness about q, (nq,), where it is not known or changes."""
        if self.changes or not self._known:
            self.stiffness[:] = stiffness_matrix(self._dyn, q)
            self._known = True

    def step(
        self, t: float, h: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the state after a step from t to t + h [s].

        Where the iterations do not converge, the step is divided.

        Args:
            t: Time at the start [s].
            h: Length of the step [s].
            q: Configuration at the start, (nq,).
            qd: Velocity there, (nv,).
            tau: Generalised forces there, (nv,), which the method does not use.

        Raises:
            Diverged: The motion has grown beyond what can be computed.
        """
        return self._divided(t, h, q, qd, 0)

    def _divided(
        self, t: float, h: float, q: np.ndarray, qd: np.ndarray, depth: int
    ) -> tuple[np.ndarray, np.ndarray]:
        try:
            return self._whole(t, h, q, qd)
        except (NotConverged, ArithmeticError, np.linalg.LinAlgError) as error:
            if depth == _MOST_HALVINGS:
                raise self._equations.divergence(q, qd) from error
        except Diverged:
            if depth == _MOST_HALVINGS:
                raise
        middle = self._divided(t, 0.5 * h, q, qd, depth + 1)
        return self._divided(t + 0.5 * h, 0.5 * h, *middle, depth + 1)

    def _whole(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the state after one step, or raise NotConverged."""
        equations, to = self._equations, self._equations.map
        self.prepare(q)
        start, rubs = equations.quadratures.value.copy(), self.levels.at
        feedback = equations.law is not None and equations.law.integrals > 0
        change, impulse, moved = h * self.last, np.zeros_like(v), np.inf
        theta = inverse = None
        for _ in range(_MOST_ITERATIONS):
            middle = v + 0.5 * change
            q_middle = to.normalise(q + 0.5 * h * to.rate(q, middle))
            if feedback:
                rate = equations.quadratures.rate(t + 0.5 * h, q_middle, middle, middle)
                equations.quadratures.value = start + 0.5 * h * rate
            tau = equations.torque(t + 0.5 * h, q_middle, middle)
            mass = self._dyn.mass_matrix(q_middle)
            if theta is None or inverse is None:
                inverse = np.linalg.inv(mass)
                theta = _fitted(h * self.damping * np.diag(inverse))
                inverse = np.linalg.inv(mass + self._slope(h, theta, inverse))
                mobility = inverse[np.ix_(rubs, rubs)]
            force = tau + self._passive(q_middle, middle)
            short = h * (force - self.damping * (v + theta * change)) - mass @ change
            end = v + change + inverse @ short
            if len(rubs):
                found, velocity = friction_impulses(
                    mobility, end[rubs], h * self.levels(middle)
                )
                impulse[rubs] = found
                end = end + inverse[:, rubs] @ found
                end[rubs] = np.where(velocity == 0.0, 0.0, end[rubs])
            before, moved = moved, float(np.abs(end - v - change).max(initial=0.0))
            change = end - v
            scale = np.abs(v).max(initial=0.0) + np.abs(change).max(initial=0.0)
            if moved <= _CONVERGED * scale or (moved <= _ROUNDING * scale and moved >= before):
                break
        else:
            raise NotConverged
        self.last[:] = change / h
        middle, damped = v + 0.5 * change, v + theta * change
        lost = float((h * self.damping * damped - impulse) @ middle) / h
        rate = equations.quadratures.rate(t + 0.5 * h, q_middle, middle, tau)
        rate[-1] = lost + middle @ self.modal @ middle
        equations.quadratures.value = start + h * rate
        return equations.end_step(to.normalise(q + h * to.rate(q_middle, middle)), v + change)

    def _slope(self, h: float, theta: np.ndarray, mobility: np.ndarray) -> np.ndarray:
        """Return what stiffness, damping and gains add to the mass matrix of the iterations."""
        law = self._equations.law
        elastic = 0.5 * h * self.modal + 0.25 * h * h * self.stiffness
        slope = elastic + np.diag(h * theta * self.damping)
        if law is None or law.reference is None:
            return np.asarray(slope)
        at, unit = np.ix_(law.of_v, law.of_v), np.eye(len(law.of_v))
        if law.of_accelerations:
            unit = np.linalg.inv(mobility[at])  # the inertia of joints beside free modes
        if law.takes_modes:  # its torques balance elastic forces
            springs = elastic + np.diag(0.5 * h * self.springs)
            rest = np.delete(np.arange(len(theta)), law.of_v)
            slope[np.ix_(law.of_v, rest)] -= (
                unit @ mobility[np.ix_(law.of_v, rest)] @ springs[np.ix_(rest, rest)])
        slope[at] += unit * (0.5 * h * law.kd + 0.25 * h * h * law.kp)
        return np.asarray(slope)

    def _passive(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return gravity, Coriolis and elastic forces with modal damping and wrenches, (nv,)."""
        dyn, wrenches = self._dyn, self._equations.wrenches
        force = dyn.friction_vector(v) + self.springs * v - dyn.bias_vector(q, v)
        return force - dyn.external_force_vector(q, wrenches) if wrenches else force


def _fitted(z: np.ndarray) -> np.ndarray:
    """Return theta, 1/2 at z = 0 and 1 for large z."""
    safe = np.where(z > _SMALL, z, 1.0)
    return np.where(z > _SMALL, -1.0 / np.expm1(-safe) - 1.0 / safe, 0.5 + z / 12.0)

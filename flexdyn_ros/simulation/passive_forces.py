# SPDX-License-Identifier: Apache-2.0
"""Passive forces of a robot in implicit steps, and their stiffness and damping."""

from __future__ import annotations

from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.spring_law import TableLaw
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.frequencies import fastest_rate, stiffness_matrix
from flexdyn_ros.simulation.step_tolerances import SMALL_DAMPING
import numpy as np


class PassiveForces:
    """
    Forces of gravity, motion and deflection, and the losses beside them.

    Attributes:
        damping: Viscous friction and damping of springs, (nv,).
        springs: Damping of springs alone, (nv,).
        modal: Damping of modes, (nv, nv).
        nonlinear: Entries of the stiffness that depend on the configuration: the coordinate of
            the column, and the row.
        stiffness: Stiffness of modes and springs, (nv, nv), see `update`.
    """

    def __init__(self, equations: EquationsOfMotion, tree: Multibody):
        """
        Take the losses of a robot.

        Args:
            equations: Its equations of motion.
            tree: Its bodies, joints and springs.
        """
        self._equations, self._dyn = equations, equations.dyn
        nv = equations.map.nv
        viscous = np.zeros(nv)
        for term in tree.friction:
            viscous[term.index] += term.multiplier**2 * term.viscous
        self.springs = np.zeros(nv)
        self.modal = np.zeros((nv, nv))
        for spring in tree.springs:
            (first, *others) = spring.terms
            if others or first.multiplier != 1.0:
                for a in spring.terms:
                    for b in spring.terms:
                        self.modal[a.velocity_index, b.velocity_index] += (
                            spring.damping * a.multiplier * b.multiplier)
            else:
                self.springs[first.velocity_index] += spring.damping
        self.damping = viscous + self.springs
        for body in tree.bodies:
            if body.n_modes:
                modes = slice(body.velocity_modes, body.velocity_modes + body.n_modes)
                self.modal[modes, modes] += body.modal.damping
        laws = [
            (spring.terms[0], spring.law) for spring in tree.springs if spring.law is not None
        ]
        self._tables = [
            (term.velocity_index, law) for term, law in laws if isinstance(law, TableLaw)
        ]
        curved = [each for each in tree.couplings if sum(each.powers) > 2]
        self._bounded = not curved and len(self._tables) == len(laws)
        self.nonlinear = [(term, term.velocity_index) for term, _ in laws]
        self.nonlinear += [
            (term, other.velocity_index)
            for each in curved for term in each.terms for other in each.terms
        ]
        self.stiffness = np.zeros((nv, nv))

    def __call__(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return gravity, Coriolis and elastic forces with modal damping and wrenches, (nv,)."""
        dyn, wrenches = self._dyn, self._equations.wrenches
        force = dyn.friction_vector(v) + self.springs * v - dyn.bias_vector(q, v)
        return force - dyn.external_force_vector(q, wrenches) if wrenches else force

    def update(self, q: np.ndarray) -> None:
        """Take the stiffness at a configuration, (nq,)."""
        self.stiffness[:] = stiffness_matrix(self._dyn, q)

    def fastest_rate(self, q: np.ndarray) -> float:
        """Return the largest eigenvalue of the motion without dry friction, in any state [1/s]."""
        law = self._equations.law
        mass = self._dyn.mass_matrix(q)
        stiffness, damping = self.stiffness.copy(), self.modal + np.diag(self.damping)
        if not self._bounded:  # slopes of polynomials have no bound
            return np.inf
        for k, law_of_k in self._tables:
            knots = law_of_k.table.knots
            slopes = map(law_of_k.table.derivative().at, np.linspace(knots[0], knots[-1], 999))
            stiffness[k, k] = max(*slopes, stiffness[k, k])
        if law is not None and law.reference is not None:
            at = np.ix_(law.of_v, law.of_v)
            unit = mass[at] if law.of_accelerations else np.eye(len(law.of_v))
            stiffness[at] += unit * law.kp
            damping[at] += unit * law.kd
        return fastest_rate(mass, stiffness, damping)

    def linearised(self, h: float, theta: np.ndarray, mobility: np.ndarray) -> np.ndarray:
        """
        Return the share of stiffness, damping and gains in the iterations' mass matrix, (nv, nv).

        Args:
            h: Length of the step [s].
            theta: Weights of the velocity at the end in damping, (nv,).
            mobility: Inverse of the mass matrix, (nv, nv).
        """
        law = self._equations.law
        elastic = 0.5 * h * self.modal + 0.25 * h * h * self.stiffness
        slope = elastic + np.diag(h * theta * self.damping)
        if law is None or law.reference is None:
            return np.asarray(slope)
        at, unit = np.ix_(law.of_v, law.of_v), np.eye(len(law.of_v))
        if law.of_accelerations:
            unit = np.linalg.inv(mobility[at])  # the inertia of joints beside the free motions
        if law.takes_rest:  # its torques balance elastic forces
            springs = elastic + np.diag(0.5 * h * self.springs)
            rest = np.delete(np.arange(len(theta)), law.of_v)
            slope[np.ix_(law.of_v, rest)] -= (
                unit @ mobility[np.ix_(law.of_v, rest)] @ springs[np.ix_(rest, rest)])
        slope[at] += unit * (0.5 * h * law.kd + 0.25 * h * h * law.kp)
        return np.asarray(slope)


def damping_weights(z: np.ndarray) -> np.ndarray:
    """Return theta, 1/2 at z = 0 and 1 for large z."""
    safe = np.where(z > SMALL_DAMPING, z, 1.0)
    return np.where(z > SMALL_DAMPING, -1.0 / np.expm1(-safe) - 1.0 / safe, 0.5 + z / 12.0)

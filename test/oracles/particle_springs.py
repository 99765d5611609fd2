# SPDX-License-Identifier: Apache-2.0
"""Nonlinear springs of the particle model, by SciPy's PCHIP and NumPy's polynomials."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator


class SpringTable:
    """A table of deflections and forces, straight beyond its ends."""

    def __init__(self, points):
        x, y = np.array(points, float).T
        self._ends = x[0], x[-1]
        self._inner = PchipInterpolator(x, y)
        self._energy = self._inner.antiderivative()
        self._slope = self._inner.derivative()

    def force(self, stretch: float) -> float:
        """Return the force at a deflection."""
        inside = np.clip(stretch, *self._ends)
        return float(self._inner(inside) + self._slope(inside) * (stretch - inside))

    def energy(self, stretch: float) -> float:
        """Return the energy stored since zero."""
        inside = np.clip(stretch, *self._ends)
        beyond = stretch - inside
        outside = beyond * (self._inner(inside) + 0.5 * beyond * self._slope(inside))
        return float(self._energy(inside) - self._energy(0.0) + outside)


class SpringPolynomial:
    """A force k_1 x + k_2 x^2 + ..."""

    def __init__(self, coefficients):
        self.force = np.polynomial.Polynomial([0.0, *coefficients])
        self.energy = self.force.integ()


def spring_tables(robot):
    """Yield the mode name and the law of each nonlinear spring."""
    for joint in robot.joints:
        if joint.dynamics.spring:
            yield joint.elastic_name, SpringTable(joint.dynamics.spring)
    for link in robot.links:
        for spring in link.mode_springs:
            law = SpringTable(spring.points) if spring.points else SpringPolynomial(
                spring.polynomial)
            yield f'{link.name}/{spring.mode}', law


def spring_forces(robot, modal) -> np.ndarray:
    """Return the forces of the nonlinear springs for modal coordinates (n_modes,)."""
    forces = np.zeros(len(modal))
    for name, law in spring_tables(robot):
        k = robot.mode_names.index(name)
        forces[k] += law.force(modal[k])
    return forces


def spring_energy(robot, modal) -> float:
    """Return their energy [J]."""
    return sum(
        law.energy(modal[robot.mode_names.index(name)]) for name, law in spring_tables(robot)
    )

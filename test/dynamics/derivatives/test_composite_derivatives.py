# SPDX-License-Identifier: Apache-2.0
"""Derivatives by composite bodies, on numbers: the algorithm needs no graph of expressions."""

from codegen import cases
import flexdyn_ros as fd
from flexdyn_ros.dynamics.assemble import assemble
from flexdyn_ros.dynamics.derivatives.composite_derivatives import CompositeDerivatives
from flexdyn_ros.dynamics.derivatives.dual import Dual, state_derivatives
from flexdyn_ros.dynamics.derivatives.independent_axes import independent_axes
from flexdyn_ros.dynamics.newton_euler import generalised_forces
import numpy as np
from oracles.random_robots import random_robot_urdf
from oracles.small_robots import state_of
import pytest

GRAVITY = (0.5, -1.2, -9.7)
ROBOTS = {
    **cases.ROBOTS,
    'elastic joints': (23, 4, {'flexible': 0.6, 'max_modes': 1, 'mimic': True}),
    'multi axis': (20, 4, {'kinds': ('multi_axis', 'quaternion', 'revolute'), 'max_modes': 1}),
    'floating chain': (31, 3, {'kinds': ('floating', 'planar', 'revolute'), 'flexible': 0.7}),
}


class DualCalculus:
    """Differentiation of dual numbers, which have one slope for each variable."""

    def __init__(self, width):
        """Start without variables; there may be `width` of them."""
        self.width, self.places = width, {}

    def variable(self, name, value):
        """Return a number that depends on itself alone."""
        place = self.places.setdefault(name, len(self.places))
        slopes = np.zeros(self.width)
        slopes[place] = 1.0
        return Dual(number(value), slopes)

    def direction(self, rates):
        """Return the direction in which variables change at these rates."""
        return DualDirection(sum(variable.slopes * number(rate) for variable, rate in rates))


class DualDirection:
    """A direction in the space of the variables."""

    def __init__(self, rates):
        """Take the rate of each variable, (width,)."""
        self.rates = rates

    def derivatives(self, values, evaluated=()):
        """Return the derivatives; dual numbers are at their values already."""
        return [float(x.slopes @ self.rates) if isinstance(x, Dual) else 0.0 for x in values]


def number(x):
    """Return the value of a scalar."""
    return x.value if isinstance(x, Dual) else float(x)


def by_composite_bodies(tree, q, qd, qdd):
    """Return the derivatives of the forces by displacements and by rates, (nv, nv) each."""
    calculus = DualCalculus(4 * (len(q) + 2 * len(qd)) + 20)
    variables = [
        [calculus.variable(f'{kind} {k}', x) for k, x in enumerate(vector)]
        for kind, vector in (('q', q), ('qd', qd))
    ]
    axes = independent_axes(tree, *variables, qdd, calculus)
    found = []
    for rows in CompositeDerivatives(axes, GRAVITY, calculus).by:
        matrix = np.zeros((tree.nv, tree.nv))
        for row, of_row in zip(rows, axes.drivers):
            for x, of_column in zip(row, axes.drivers):
                for i, first in of_row:
                    for j, second in of_column:
                        matrix[i, j] += first * second * number(x)
        found.append(matrix)
    return found


@pytest.mark.parametrize('name', list(ROBOTS))
def test_they_are_those_of_the_recursion(name):
    """To rounding, for flexible links, mimic and elastic joints, and joints of several axes."""
    seed, joints, options = ROBOTS[name]
    robot = fd.load_robot(random_robot_urdf(seed, joints, **options))
    tree = assemble(robot, {})
    q, qd, qdd = (list(map(float, vector)) for vector in state_of(robot, seed)[:3])

    def forces(q, qd):
        return generalised_forces(tree, q, qd, qdd, GRAVITY)

    expected = state_derivatives(forces, tree, q, qd)
    for found, wanted in zip(by_composite_bodies(tree, q, qd, qdd), expected):
        assert np.abs(wanted).max() > 1e-3
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-11 * np.abs(wanted).max())

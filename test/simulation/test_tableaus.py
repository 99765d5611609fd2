# SPDX-License-Identifier: Apache-2.0
"""Order conditions and stability of the Runge-Kutta tableaus."""

from decimal import Decimal, localcontext
from fractions import Fraction

from flexdyn_ros.cli.simulate import METHODS as COMMAND_LINE_METHODS
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation.hairer_method import HAIRER_A, HAIRER_B, HAIRER_C
from flexdyn_ros.simulation.method_choice import AUTO
from flexdyn_ros.simulation.tableaus import (
    ADAPTIVE,
    find_tableau,
    GENERALISED_ALPHA,
    IMPLICIT,
    Tableau,
    TABLEAUS,
)
import numpy as np
import pytest
from rooted_trees import density, ElementaryWeights, trees

METHODS = tuple(TABLEAUS.values())


def dense(method: Tableau) -> np.ndarray:
    """Return the coefficients a as a square matrix."""
    a = np.zeros((method.stages, method.stages))
    for i, row in enumerate(method.a):
        a[i, :len(row)] = row
    return a


def test_all_rooted_trees_are_generated():
    """As many as Cayley counted (On the theory of the analytical forms called trees, 1857)."""
    numbers = [len(trees(nodes)) for nodes in range(1, 11)]
    assert numbers == [1, 1, 2, 4, 9, 20, 48, 115, 286, 719]
    assert sum(numbers) == 1205


@pytest.mark.parametrize('method', METHODS, ids=lambda m: m.name)
def test_rooted_tree_conditions_hold_up_to_the_order(method):
    """All conditions hold to rounding up to the order, and not all of the next."""
    assert np.allclose(dense(method).sum(axis=1), method.c, atol=2e-15)
    weights = ElementaryWeights(method.a, method.b)
    for nodes in range(1, method.order + 1):
        for tree in trees(nodes):
            assert weights.weight(tree) == pytest.approx(1 / density(tree), rel=0, abs=2e-15)
    worst = max(
        abs(weights.weight(tree) - 1 / density(tree)) for tree in trees(method.order + 1)
    )
    assert worst > 1e-6


def test_published_digits_of_the_tenth_order_meet_all_conditions():
    """To 48 digits, which no set of coefficients with a wrong digit does."""
    with localcontext() as context:
        context.prec = 60
        zero = Decimal(0)
        a = [[]] + [
            [_decimal(row.get(j, '0')) for j in range(1, stage)]
            for stage, row in enumerate(HAIRER_A, start=2)
        ]
        weights = ElementaryWeights(a, [_decimal(digits) for digits in HAIRER_B])
        for row, c in zip(a, HAIRER_C):
            assert abs(sum(row, zero) - _decimal(c)) < Decimal('1e-48')
        worst = max(
            abs(weights.weight(tree) - 1 / Decimal(density(tree)))
            for nodes in range(1, 11) for tree in trees(nodes)
        )
        assert worst < Decimal('1e-48')


def _decimal(digits: str) -> Decimal:
    fraction = Fraction(digits)
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def amplification(method: Tableau, z: complex) -> float:
    """Return |R(z)|, the growth of y' = lambda y in a step, z = lambda h."""
    a, b = dense(method), np.array(method.b)
    ones = np.ones(method.stages)
    return abs(1 + z * (b @ np.linalg.solve(np.eye(method.stages) - z * a, ones)))


@pytest.mark.parametrize('method', METHODS, ids=lambda m: m.name)
def test_stability_limits_are_where_growth_begins(method):
    """Inside each limit a motion does not grow, just outside it does."""
    for fraction in np.linspace(0.02, 0.999, 50):
        assert amplification(method, -fraction * method.real_limit) < 1.0
        growth = amplification(method, 1j * fraction * method.imaginary_limit)
        assert growth <= 1.0 + 1e-15
    assert amplification(method, -1.001 * method.real_limit) > 1.0
    if method.imaginary_limit:
        assert amplification(method, 1.001j * method.imaginary_limit) > 1.0
    else:
        assert amplification(method, 0.1j) > 1.0


def test_an_unknown_method_is_refused_with_the_known_ones():
    """The error names the argument and the choices."""
    with pytest.raises(ArgumentError, match='method.*rk5.*rk2, rk4, rk10'):
        find_tableau('rk5')


def test_the_command_line_offers_every_method():
    """It names them without importing the simulation."""
    adaptive = (each.name for each in ADAPTIVE.values())
    assert COMMAND_LINE_METHODS == (
        AUTO, *TABLEAUS, IMPLICIT.name, GENERALISED_ALPHA.name, *adaptive)

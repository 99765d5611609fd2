# SPDX-License-Identifier: Apache-2.0
"""Order conditions and stability of the Runge-Kutta tableaus."""

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.simulation.tableaus import find_tableau
from flexdyn_ros.simulation.tableaus import Tableau
from flexdyn_ros.simulation.tableaus import TABLEAUS
import numpy as np
import pytest

METHODS = tuple(TABLEAUS.values())


def dense(method: Tableau) -> np.ndarray:
    """Return the coefficients a as a square matrix."""
    a = np.zeros((method.stages, method.stages))
    for i, row in enumerate(method.a):
        a[i, :len(row)] = row
    return a


@pytest.mark.parametrize('method', METHODS, ids=lambda m: m.name)
def test_rooted_tree_conditions_hold_up_to_the_order(method):
    """Conditions of Hairer, Norsett and Wanner, volume I, table II.2.1."""
    a, b, c = dense(method), np.array(method.b), np.array(method.c)
    assert np.allclose(a.sum(axis=1), c, atol=1e-15)
    conditions = {
        1: [(b.sum(), 1)],
        2: [(b @ c, 1 / 2)],
        3: [(b @ c**2, 1 / 3), (b @ a @ c, 1 / 6)],
        4: [(b @ c**3, 1 / 4), (b @ (c * (a @ c)), 1 / 8), (b @ a @ c**2, 1 / 12),
            (b @ a @ a @ c, 1 / 24)],
    }
    for order in range(1, method.order + 1):
        for got, expected in conditions[order]:
            assert got == pytest.approx(expected, abs=1e-15)
    if method.order + 1 in conditions:
        assert any(abs(got - want) > 1e-3 for got, want in conditions[method.order + 1])


def amplification(method: Tableau, z: complex) -> float:
    """Return |R(z)|, the growth of y' = lambda y in a step, z = lambda h."""
    a, b = dense(method), np.array(method.b)
    ones = np.ones(method.stages)
    return abs(1 + z * (b @ np.linalg.solve(np.eye(method.stages) - z * a, ones)))


@pytest.mark.parametrize('method', METHODS, ids=lambda m: m.name)
def test_stability_limits_are_where_growth_begins(method):
    """Just inside each limit a motion does not grow, just outside it does."""
    assert amplification(method, -0.999 * method.real_limit) <= 1.0
    assert amplification(method, -1.001 * method.real_limit) > 1.0
    if method.imaginary_limit:
        assert amplification(method, 0.999j * method.imaginary_limit) <= 1.0
        assert amplification(method, 1.001j * method.imaginary_limit) > 1.0
    else:
        assert amplification(method, 0.1j) > 1.0


def test_an_unknown_method_is_refused_with_the_known_ones():
    """The error names the argument and the choices."""
    with pytest.raises(ArgumentError, match='method.*rk5.*rk4, rk2'):
        find_tableau('rk5')

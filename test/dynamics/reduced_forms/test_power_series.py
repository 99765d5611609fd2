# SPDX-License-Identifier: Apache-2.0
"""Power series: their arithmetic against derivatives by fits of values."""

import math

from evaluated_program import evaluate_program
from flexdyn_ros.dynamics import scalar
from flexdyn_ros.dynamics.derivatives.dual import Dual
from flexdyn_ros.dynamics.power_series import PowerSeries
from flexdyn_ros.dynamics.scalar import Spline
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import Program
import numpy as np
import pytest

A, B = (0.7, -1.3, 0.4), (1.9, 0.6, -2.1)
# Name to a function of two scalars.
FUNCTIONS = {
    'sum': lambda a, b: a + b + 2.0,
    'difference': lambda a, b: 3.0 - a - b,
    'product': lambda a, b: a * b * 1.5,
    'quotient': lambda a, b: (2.0 - a) / b + a / 4.0 + 0.5 / b,
    'negative': lambda a, b: -a * b,
    'sin': lambda a, b: scalar.sin(a * b),
    'cos': lambda a, b: scalar.cos(a + b),
    'exp': lambda a, b: scalar.exp(a * b),
    'tanh': lambda a, b: scalar.tanh(a - b),
    'stumpff0': lambda a, b: scalar.stumpff(0, a * a + b),
    'stumpff1': lambda a, b: scalar.stumpff(1, a * a),
    'stumpff3': lambda a, b: scalar.stumpff(3, a * a + b * b),
}


def coefficients(function):
    """Return the coefficients of e^0, e and e^2 by fitting values on a circle about e = 0."""
    nodes = 0.05 * np.cos(np.pi * (np.arange(9) + 0.5) / 9)
    values = [
        function(*(c[0] + c[1] * e + c[2] * e * e for c in (A, B))) for e in nodes.tolist()
    ]
    return np.polynomial.polynomial.polyfit(nodes, values, 8)[:3]


@pytest.mark.parametrize('name', list(FUNCTIONS))
def test_coefficients(name):
    """Each coefficient against a fit of the function's values."""
    found = FUNCTIONS[name](PowerSeries(*A), PowerSeries(*B)).terms
    np.testing.assert_allclose(found, coefficients(FUNCTIONS[name]), rtol=1e-8, atol=1e-8)


def test_piecewise():
    """A table's polynomial, its slope and its curvature."""
    table = Spline((0.0,), ((1.0, 2.0, 3.0), (1.0, -1.0, 0.5)))
    x = PowerSeries(0.3, 2.0, -1.0)
    value, slope = table.at(0.3), table.derivative().at(0.3)
    curvature = table.derivative().derivative().at(0.3)
    expected = (value, 2.0 * slope, -slope + 0.5 * curvature * 4.0)
    np.testing.assert_allclose(scalar.piecewise(table, x).terms, expected, rtol=1e-14)


@pytest.mark.parametrize('operation', ['sum', 'difference', 'product', 'quotient'])
def test_other_scalars_leave_the_arithmetic_to_series(operation):
    """Dual numbers and symbols on either side of a series."""
    function = FUNCTIONS[operation]
    plain = function(PowerSeries(*A), PowerSeries(*B)).terms
    duals = [Dual(x, np.array([float(k == 0)])) for k, x in enumerate(A)]
    found = function(PowerSeries(*duals), PowerSeries(*B)).terms
    np.testing.assert_allclose([x.value for x in found], plain, rtol=1e-14)
    graph = Graph()
    symbol = graph.symbol('x')
    for a, b in ((symbol, PowerSeries(*B)), (PowerSeries(*B), symbol)):
        terms = tuple(map(graph.lift, function(a, b).terms))
        values = evaluate_program(Program(graph, terms), {'x': 0.7})
        numbers = [0.7 if x is symbol else x for x in (a, b)]
        expected = function(*numbers).terms
        np.testing.assert_allclose(list(values), expected, rtol=1e-14)
    dual = Dual(0.7, np.array([1.0]))
    for a, b in ((dual, PowerSeries(*B)), (PowerSeries(*B), dual)):
        assert all(isinstance(x, (Dual, float)) for x in function(a, b).terms)


def test_values_up_to_a_degree():
    """The remainder when it is cut off."""
    assert [PowerSeries(*A).up_to(k) for k in range(3)] == pytest.approx([0.7, -0.6, -0.2])
    with pytest.raises(TypeError, match='truth value'):
        bool(PowerSeries(0.0))
    assert math.isclose(PowerSeries(2.0).up_to(0), 2.0)

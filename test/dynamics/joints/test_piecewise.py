# SPDX-License-Identifier: Apache-2.0
"""Piecewise polynomials: SciPy's PCHIP, derivatives, integrals, and generated functions."""

import math

from evaluated_program import evaluate_program
from flexdyn_ros.dynamics.scalar import piecewise, Spline
from flexdyn_ros.dynamics.spring_law import monotone_cubic
from flexdyn_ros.symbolic.differentiate import Direction
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import Program
import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

# Hardening, dead zone, softening, one-sided, steps between flats, uneven widths, two points.
TABLES = {
    'hardening': [(-2.0, -9.0), (-1.0, -2.0), (0.0, 0.0), (1.0, 2.0), (2.0, 9.0)],
    'dead zone': [(-0.02, -300.0), (-0.005, 0.0), (0.0, 0.0), (0.005, 0.0), (0.02, 300.0)],
    'softening': [(-3.0, -2.5), (-1.0, -2.0), (0.0, 0.0), (1.0, 2.0), (3.0, 2.5)],
    'one side': [(0.0, 0.0), (0.1, 5.0), (0.5, 5.0), (0.6, 50.0)],
    'uneven': [(-1.0, -1.0), (-1e-3, -0.9), (0.0, 0.0), (0.4, 0.1), (0.41, 7.0), (30.0, 8.0)],
    'line': [(-1.0, -3.0), (0.0, 0.0)],
}
each_table = pytest.mark.parametrize('points', TABLES.values(), ids=TABLES)


def inside(points, count=301):
    """Return numbers between the ends of a table, the points among them."""
    x = np.array([x for x, _ in points])
    return np.unique(np.concatenate([np.linspace(x[0], x[-1], count), x]))


@each_table
def test_interpolant_is_scipys(points):
    """Value, slope and integral between the ends, to round-off."""
    table, pchip = monotone_cubic(points), PchipInterpolator(*np.array(points).T)
    x = inside(points)[:-1]
    size = max(abs(y) for _, y in points)
    for ours, theirs in (
        (table, pchip), (table.derivative(), pchip.derivative()),
    ):
        expected = theirs(x)
        found = np.array([ours.at(value) for value in x])
        assert np.abs(found - expected).max() <= 1e-12 * max(size, np.abs(expected).max())
    integral, area = table.integral(), pchip.antiderivative()
    found = np.array([integral.at(value) for value in x])
    expected = area(x) - area(0.0)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


@each_table
def test_monotone_through_all_points_and_straight_beyond(points):
    """No overshoot, and beyond an end the value goes on with the slope of the end."""
    table = monotone_cubic(points)
    for x, y in points:
        assert table.at(x) == pytest.approx(y, abs=1e-12 * max(1.0, abs(y)))
    values = [table.at(x) for x in inside(points)]
    assert min(np.diff(values)) >= -1e-13 * max(map(abs, values))
    pchip = PchipInterpolator(*np.array(points).T)
    for (x, y), far in ((points[0], -0.7), (points[-1], 0.7), (points[-1], 1e6)):
        expected = y + float(pchip.derivative()(x)) * far
        assert table.at(x + far) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@each_table
def test_integral_is_the_energy(points):
    """Zero at zero, continuous at every knot, never negative, its derivative the table."""
    table = monotone_cubic(points)
    integral = table.integral()
    assert integral.at(0.0) == 0.0
    for knot in table.knots:
        below = integral.at(math.nextafter(knot, -math.inf))
        assert below == pytest.approx(integral.at(knot), rel=1e-12, abs=1e-15)
    for x in np.linspace(points[0][0] - 1.0, points[-1][0] + 1.0, 97):
        assert integral.at(x) >= -1e-15
        assert integral.derivative().at(x) == pytest.approx(table.at(x), rel=1e-12, abs=1e-12)


def test_between_equal_torques_nothing_happens():
    """A dead zone has no torque, no stiffness and no energy at all."""
    table = monotone_cubic(TABLES['dead zone'])
    for function in (table, table.derivative(), table.integral()):
        assert [function.at(x) for x in (-0.0049, -1e-9, 0.0, 0.003)] == [0.0] * 4


def test_derivative_below_a_constant_is_zero():
    """Pieces without coefficients are zero."""
    step = Spline((0.0, 1.0), ((2.0,), (2.0, 3.0), (5.0,)))
    slope = step.derivative()
    assert [slope.at(x) for x in (-1.0, 0.5, 2.0)] == [0.0, 3.0, 0.0]
    assert slope.derivative().is_zero and not slope.is_zero
    assert step.integral().at(2.0) == pytest.approx(2.0 + 1.5 + 5.0)


def test_symbols_call_one_function_a_table():
    """Equal tables are one function; constants fold; a table of zeros is no call."""
    graph = Graph()
    x, table = graph.symbol('x'), monotone_cubic(TABLES['hardening'])
    assert piecewise(table, x) is piecewise(monotone_cubic(TABLES['hardening']), x)
    assert len(graph.tables) == 1
    assert piecewise(table, graph.constant(1.5)).value == table.at(1.5)
    assert piecewise(table.derivative().derivative().derivative().derivative(), x) is graph.zero


@each_table
def test_symbolic_derivatives(points):
    """First and second derivatives by the graph are those of the interpolant."""
    graph = Graph()
    x = graph.symbol('x')
    table = monotone_cubic(points)
    y = 2.0 * piecewise(table, 3.0 * x)
    along = Direction({x: graph.one})
    first = along.derivative(y)
    second = along.derivative(first)
    for at in np.linspace(points[0][0] - 0.5, points[-1][0] + 0.5, 23):
        found = evaluate_program(Program(graph, (y, first, second)), {'x': at / 3.0})
        expected = [
            2.0 * table.at(at), 6.0 * table.derivative().at(at),
            18.0 * table.derivative().derivative().at(at),
        ]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)

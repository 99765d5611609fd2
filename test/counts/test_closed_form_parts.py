# SPDX-License-Identifier: Apache-2.0
"""Derivatives of expressions, and sums of multiple angles."""

from math import cos, sin

from evaluated_program import evaluate_program
from flexdyn_ros.codegen.tracing.closed_form import angle_coordinates, multiple_angles
from flexdyn_ros.symbolic.differentiate import Direction
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import operation_counts, Program
import pytest

AT = {'x': 0.7, 'y': -1.3}
STEP = 1e-5
FUNCTIONS = {
    'sum': lambda x, y: 3.0 * x - y * x + 2.0,
    'product': lambda x, y: x * x * y * x.sin(),
    'quotient': lambda x, y: (x + y * y) / (2.0 + x * x),
    'sine': lambda x, y: (x * y).sin(),
    'cosine': lambda x, y: (x * x + y).cos(),
    'exp': lambda x, y: -(x * y).exp(),
    'tanh': lambda x, y: (x + y).tanh(),
    **{f'stumpff{k}': lambda x, y, k=k: (x * x).stumpff(k) * y for k in range(4)},
}


def value(node, at):
    """Return a node's number at a point."""
    return evaluate_program(Program(node.graph, (node,)), at)[0]


@pytest.mark.parametrize('name', FUNCTIONS)
@pytest.mark.parametrize('by', ['x', 'y'])
def test_derivatives_equal_differences(name, by):
    """Every kind of node against central differences."""
    graph = Graph()
    node = graph.lift(FUNCTIONS[name](graph.symbol('x'), graph.symbol('y')))
    found = value(Direction({graph.symbol(by): graph.one}).derivative(node), AT)
    ahead, behind = (value(node, {**AT, by: AT[by] + step}) for step in (STEP, -STEP))
    assert found == pytest.approx((ahead - behind) / (2.0 * STEP), rel=1e-8, abs=1e-8)


def test_derivatives_are_shared():
    """Derivatives found before are not derived again."""
    graph = Graph()
    x = graph.symbol('x')
    along = Direction({x: graph.one})
    slope = along.derivative(x.sin() * x)
    assert along.derivative(x.sin()) is x.cos()
    assert along.derivative(x.sin() * x) is slope


def test_products_become_multiple_angles():
    """c1^2 s2 q3 and its like, in numbers and in operations."""
    graph = Graph()
    a, b, d = (graph.symbol(name) for name in 'abd')
    node = a.cos() * a.cos() * d + 2.0 * a.sin() * b.cos() * a.sin() - a.sin() * b.sin() + 3.0
    found = multiple_angles(node, [a, b])
    at = {'a': 0.4, 'b': -0.9, 'd': 1.7}
    by_hand = cos(0.4) ** 2 * 1.7 + 2.0 * sin(0.4) ** 2 * cos(-0.9) - sin(0.4) * sin(-0.9) + 3.0
    assert value(node, at) == pytest.approx(by_hand, rel=1e-15)
    assert value(found, at) == pytest.approx(by_hand, rel=1e-14)
    square = multiple_angles(a.cos() * a.cos(), [a])
    assert square is graph.sum((0.5 * (2.0 * a).cos(), graph.constant(0.5)))
    assert operation_counts((square,)) == {'mul': 2, 'add': 1, 'trig': 1}


def test_what_has_no_multiple_angles_stays():
    """Sines of other things than the angles, and long polynomials, are left alone."""
    graph = Graph()
    a, b = graph.symbol('a'), graph.symbol('b')
    node = a.cos() * (a + b).cos()
    assert multiple_angles(node, [a, b]) is node
    long = graph.one
    for k in range(7):
        long = long * (graph.symbol(f'c{k}') + a.cos())
    assert multiple_angles(long, [a]) is long
    assert angle_coordinates([node, b]) == [a]

# SPDX-License-Identifier: Apache-2.0
"""Derivatives on the graph against central differences, rule by rule."""

from flexdyn_ros.symbolic.differentiate import Direction
from flexdyn_ros.symbolic.graph import Graph
from graph_values import value_of
import pytest

STEP = 1e-5
X, Y = 0.7, -1.3
RATES = {'x': 0.6, 'y': 1.7}

RULES = {
    'sum': lambda x, y: x + 2.0 * y - 3.0,
    'product of three': lambda x, y: x * y * (x + y),
    'quotient': lambda x, y: (x + y) / (x * x + 2.0),
    'quotient of a constant': lambda x, y: 3.0 / (y - 5.0),
    'sine': lambda x, y: (x * y).sin(),
    'cosine': lambda x, y: (x - y).cos() * y,
    'exponential': lambda x, y: (-x * x).exp(),
    'hyperbolic tangent': lambda x, y: (2.0 * x + y).tanh(),
    **{f'Stumpff {k}': lambda x, y, k=k: (x * x).stumpff(k) * y for k in range(4)},
}


@pytest.mark.parametrize('rule', RULES)
def test_rule(rule):
    graph = Graph()
    x, y = graph.symbol('x'), graph.symbol('y')
    node = RULES[rule](x, y)
    way = {x: graph.constant(RATES['x']), y: graph.constant(RATES['y'])}
    slope = value_of(Direction(way).derivative(node), {x: X, y: Y})

    def moved(sign):
        return value_of(
            node, {x: X + sign * STEP * RATES['x'], y: Y + sign * STEP * RATES['y']})

    assert slope == pytest.approx((moved(1) - moved(-1)) / (2.0 * STEP), rel=1e-7, abs=1e-9)


def test_what_stands_still_has_the_derivative_zero():
    graph = Graph()
    x, y = graph.symbol('x'), graph.symbol('y')
    assert Direction({x: graph.one}).derivative((y * y).sin()) is graph.zero

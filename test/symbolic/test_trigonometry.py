# SPDX-License-Identifier: Apache-2.0
"""Trigonometric identities: the same number from fewer terms."""

from flexdyn_ros.symbolic.graph import Graph, SUM
from flexdyn_ros.symbolic.passes.identities import trigonometry
from flexdyn_ros.symbolic.program import Program
from graph_values import value_of
import pytest

NUMBERS = (0.4, 1.1, 2.3)  # of x, y and a factor z

IDENTITIES = {
    'cos(x - y)': lambda x, y, z: x.cos() * y.cos() + x.sin() * y.sin(),
    'cos(x + y)': lambda x, y, z: x.cos() * y.cos() - x.sin() * y.sin(),
    '-cos(x + y)': lambda x, y, z: x.sin() * y.sin() - x.cos() * y.cos(),
    'sin(x + y)': lambda x, y, z: x.sin() * y.cos() + x.cos() * y.sin(),
    'sin(x - y)': lambda x, y, z: x.sin() * y.cos() - x.cos() * y.sin(),
    'one': lambda x, y, z: x.sin() * x.sin() + x.cos() * x.cos(),
    'with a common factor': lambda x, y, z: z * x.cos() * y.cos() - z * x.sin() * y.sin(),
    'with a coefficient': lambda x, y, z: 3.0 * x.sin() * y.cos() + 3.0 * x.cos() * y.sin(),
}


@pytest.mark.parametrize('name', IDENTITIES)
def test_identity(name):
    graph = Graph()
    symbols = [graph.symbol(letter) for letter in 'xyz']
    numbers = dict(zip(symbols, NUMBERS))
    node = IDENTITIES[name](*symbols)
    simpler, = trigonometry(Program(graph, (node,))).outputs
    assert value_of(simpler, numbers) == pytest.approx(value_of(node, numbers), rel=1e-14)
    assert simpler.kind != SUM


def test_terms_that_no_identity_fits_are_left_alone():
    graph = Graph()
    x, y = graph.symbol('x'), graph.symbol('y')
    node = x.sin() * y.cos() + 2.0 * x.cos() * y.sin()
    kept, = trigonometry(Program(graph, (node,))).outputs
    numbers = {x: 0.4, y: 1.1}
    assert kept.kind == SUM and value_of(kept, numbers) == pytest.approx(value_of(node, numbers))

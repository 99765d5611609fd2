# SPDX-License-Identifier: Apache-2.0
"""Numbers of products; the post-processor's printed examples are validation cases."""

from evaluated_program import evaluate_program
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.passes.factoring import gather_numbers
from flexdyn_ros.symbolic.program import operation_counts, Program
import pytest


def test_products_take_the_numbers_of_their_factors():
    """A shared 2 x saves one product as it stands, and costs one where each user has a number."""
    graph = Graph()
    x, y, z = (graph.symbol(name) for name in 'xyz')
    double = 2.0 * x
    program = Program(graph, (double * y, double * z, double * (3.0 * y) * z))
    gathered = gather_numbers(program)
    point = {'x': 0.3, 'y': -1.7, 'z': 2.9}
    assert evaluate_program(gathered, point) == pytest.approx(
        evaluate_program(program, point), rel=1e-15
    )
    assert operation_counts(program.outputs)['mul'] == 6
    assert operation_counts(gathered.outputs)['mul'] == 7

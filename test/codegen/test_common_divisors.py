# SPDX-License-Identifier: Apache-2.0
"""Common divisors of polynomials, and the search for better ones."""

from evaluated_program import evaluate_program
from flexdyn_ros.codegen.tracing.trace import trace
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import operation_counts, Program
from flexdyn_ros.symbolic.search.divisors import cost
from flexdyn_ros.symbolic.search.extraction import common_divisors, extract, search
from flexdyn_ros.symbolic.search.network import Network
from flexdyn_ros.symbolic.search.refinement import search_divisors
import numpy as np
import pytest

from . import cases

POINT = {'a': 0.3, 'b': -0.7, 'c': 1.9, 'd': 0.45, 'x': 1.3, 'y': -2.1, 'z': 0.8}


def program_of(write) -> Program:
    """Return the result of a function of the symbols of `POINT`."""
    graph = Graph()
    outputs = write(*(graph.symbol(name) for name in POINT))
    return Program(graph, tuple(map(graph.lift, outputs)))


def operations(program: Program) -> int:
    """Return multiplications and additions."""
    counts = operation_counts(program.outputs)
    return counts['mul'] + counts['add']


@pytest.mark.parametrize('write, least', [
    # Multiples of 2 x + y: two operations, and two for each of the other two sums.
    (lambda a, b, c, d, x, y, z: (2.0 * a * x + a * y, 3.0 * b * y + 6.0 * b * x + c), 6),
    # Multiples of x + y + z, of which no part is a node.
    (lambda a, b, c, d, x, y, z: (0.3 * x + 0.3 * y + 0.3 * z + a, x + y + z - b), 5),
    # a b is shared; a (b c + d) and a b d + ... share more without it.
    (lambda a, b, c, d, x, y, z: (a * b + x, a * b * c + a * d * c), 5),
    # The second sum contains a number times the first, but for its first term.
    (lambda a, b, c, d, x, y, z: (
        9.8 * a + b - c + 2.0 * d, 1.9 * a + 0.1 * b - 0.1 * c + 0.2 * d
    ), 8),
    # Squares, and the same atom twice in a term.
    (lambda a, b, c, d, x, y, z: (x * x * a + x * x * b, (a + b) * x), 3),
    # Nothing in common, results that are symbols, numbers and negatives of each other.
    (lambda a, b, c, d, x, y, z: (a, -a, 0.0, 2.5, a * b, -(a * b), x.sin()), 1),
])
def test_small_programs_come_down_to_what_is_possible(write, least):
    """By hand."""
    program = program_of(write)
    for found in (common_divisors(program), search_divisors(program, 40)):
        assert evaluate_program(found, POINT) == pytest.approx(
            evaluate_program(program, POINT), rel=1e-14
        )
        assert operations(found) == least


def test_numbers_that_differ_are_not_taken_for_equal():
    """Twelve equal digits are not enough."""
    program = program_of(lambda a, b, c, d, x, y, z: (
        a * x + a * y, b * x + (1.0 + 1e-12) * b * y
    ))
    found = common_divisors(program)
    # a (x + y) and b (x + 1.000000000001 y); three operations if the sums were one.
    assert operations(found) == 5
    assert evaluate_program(found, POINT) == pytest.approx(
        evaluate_program(program, POINT), rel=1e-15
    )


def test_what_cancels_when_multiplied_out_is_gone():
    """(x + y) (x - y) - x x + y y = 0."""
    program = program_of(lambda a, b, c, d, x, y, z: ((x + y) * (x - y) - x * x + y * y, a * b))
    found = common_divisors(program)
    assert evaluate_program(found, POINT) == [0.0, POINT['a'] * POINT['b']]


@pytest.mark.parametrize('name', ['rigid tree', 'flexible chain', 'floating'])
def test_the_search_keeps_values_and_counts_exactly(name):
    """To 1e-12; the costs of network and program agree."""
    robot = cases.robot(name)
    found = trace(robot, 'inverse_dynamics+mass_matrix')
    network = Network(found.program)
    assert network.total == sum(map(cost, network.polynomials.values()))
    extract(network)
    extracted = network.total
    search(network, 120)
    assert network.total == sum(map(cost, network.polynomials.values())) <= extracted
    searched = network.program()
    # Equal nodes are one in a program.
    assert operations(searched) <= network.total
    values = dict(zip(
        [symbol for each in found.inputs for symbol in each.symbols],
        [x for vector in cases.given(robot, found) for x in vector], strict=True,
    ))
    cases.assert_close(
        np.array(evaluate_program(searched, values)),
        np.array(evaluate_program(found.program, values)),
    )


def test_the_search_gives_the_same_program_each_time():
    """Its random numbers are the same, and nothing depends on the order of sets."""
    counts = []
    for _ in range(2):
        program = trace(cases.robot('rigid tree'), 'inverse_dynamics').program
        found = search_divisors(program, 100)
        counts.append([(node.kind, node.number) for node in found.needed()])
    assert counts[0] == counts[1]


def test_changes_are_taken_back():
    """All polynomials, users, costs and divisors are as before."""
    network = Network(trace(cases.robot('rigid tree'), 'inverse_dynamics').program)
    extract(network)
    before = dict(network.polynomials), {k: set(v) for k, v in network.users.items()}
    total = network.total
    for atom in sorted(network.polynomials)[::7]:
        if network.users[atom]:
            network.begin()
            network.inline(atom)
            network.take_back()
            network.index.settle()
    assert network.total == total
    assert network.polynomials == before[0]
    assert {k: v for k, v in network.users.items() if v} == {
        k: v for k, v in before[1].items() if v
    }
    extract(network)
    assert network.total == total

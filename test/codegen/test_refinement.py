# SPDX-License-Identifier: Apache-2.0
"""The longer search: scales of intermediate polynomials, squares of sines and cosines."""

from random import Random

from evaluated_program import evaluate_program
from flexdyn_ros.codegen.tracing.trace import trace
from flexdyn_ros.symbolic.search.divisors import cost
from flexdyn_ros.symbolic.search.extraction import extract, search
from flexdyn_ros.symbolic.search.network import Network
from flexdyn_ros.symbolic.search.refinement import merge_squares, refine, rescale, search_divisors
import numpy as np
import pytest

from . import cases
from .test_common_divisors import POINT, program_of


def test_another_unit_saves_numbers():
    """Half of y = 2 a + 3 b + 5 x d in c y / 2 and z y / 2 + x: two numbers instead of five."""
    def write(a, b, c, d, x, y, z):
        common = 2.0 * a + 3.0 * b + 5.0 * x * d
        return 0.5 * c * common, 0.5 * z * common + x

    program, totals = program_of(write), set()
    for seed in range(20):
        network = Network(program)
        atom, = (each for each in network.polynomials if each not in network.roots)
        before = network.total
        if rescale(network, atom, Random(seed)):
            totals.add(before - network.total)
        assert evaluate_program(network.program(), POINT) == pytest.approx(
            evaluate_program(program, POINT), rel=1e-14
        )
    # A third and a fifth save one of the numbers and add none.
    assert totals == {1, 3}


def test_results_keep_their_unit():
    """Nothing may change where all polynomials are results."""
    network = Network(program_of(lambda a, b, c, d, x, y, z: (2.0 * a + 3.0 * b, 4.0 * x * y)))
    assert not any(rescale(network, each, Random(1)) for each in list(network.polynomials))


def test_unequal_squares_become_one():
    """With numbers a and b, a s^2 + b c^2 = a + (b - a) c^2 is one product less."""
    program = program_of(lambda a, b, c, d, x, y, z: (
        3.0 * x.sin() * x.sin() + 5.0 * x.cos() * x.cos(), x.sin() * y, x.cos() * z,
    ))
    network = Network(program)
    before = network.total
    for atom in list(network.polynomials):
        merge_squares(network, atom)
    assert network.total == before - 2 == 5
    assert evaluate_program(network.program(), POINT) == pytest.approx(
        evaluate_program(program, POINT), rel=1e-14
    )


@pytest.mark.parametrize('write', [
    # One of the squares alone, squares of other angles, squares with other factors.
    lambda a, b, c, d, x, y, z: (3.0 * x.sin() * x.sin() + a * x.cos(),),
    lambda a, b, c, d, x, y, z: (3.0 * x.sin() * x.sin() + 2.0 * y.cos() * y.cos(),),
    lambda a, b, c, d, x, y, z: (a * x.sin() * x.sin() + b * x.cos() * x.cos(),),
])
def test_other_squares_stay(write):
    """The network stays unchanged."""
    network = Network(program_of(write))
    before = dict(network.polynomials)
    for atom in before:
        merge_squares(network, atom)
    assert network.polynomials == before


def test_squares_that_cancel_leave_the_rest():
    """The terms of a s^2 + a c^2 - a cancel."""
    program = program_of(lambda a, b, c, d, x, y, z: (
        a * x.sin() * x.sin() + a * x.cos() * x.cos() - a, x.sin() + x.cos(),
    ))
    network = Network(program)
    for atom in list(network.polynomials):
        merge_squares(network, atom)
    values = evaluate_program(network.program(), POINT)
    assert values[0] == 0.0
    assert network.total == 1


def test_changes_of_scale_keep_values_and_can_be_taken_back():
    """Each one by itself, accepted or not; results keep their scale."""
    robot = cases.robot('flexible chain')
    found = trace(robot, 'mass_matrix')
    network, random = Network(found.program), Random(3)
    extract(network)
    values = _values(robot, found)
    expected = np.array(evaluate_program(found.program, values))
    before, done = dict(network.polynomials), 0
    for atom in sorted(before):
        network.begin()
        if rescale(network, atom, random):
            done += 1
            assert atom not in network.roots
            if done % 20 == 1:
                changed = np.array(evaluate_program(network.program(), values))
                cases.assert_close(changed, expected)
        network.take_back()
        network.index.settle()
        assert network.polynomials == before
    assert done > 20


@pytest.mark.parametrize('name', ['rigid tree', 'flexible chain', 'floating'])
def test_refinement_keeps_values_and_counts_exactly(name):
    """To 1e-12; it never costs more than the search before it."""
    robot = cases.robot(name)
    found = trace(robot, 'inverse_dynamics+mass_matrix')
    network = Network(found.program)
    search(network, 40)
    before = network.total
    refine(network, 80, 80)
    assert network.total == sum(map(cost, network.polynomials.values())) <= before
    values = _values(robot, found)
    cases.assert_close(
        np.array(evaluate_program(network.program(), values)),
        np.array(evaluate_program(found.program, values)),
    )


def test_refinement_gives_the_same_program_each_time():
    """Its random numbers are the same, and nothing depends on the order of sets."""
    counts = []
    for _ in range(2):
        program = trace(cases.robot('rigid tree'), 'inverse_dynamics').program
        found = search_divisors(program, 20, 60, 60)
        counts.append([(node.kind, node.number) for node in found.needed()])
    assert counts[0] == counts[1]


def test_refinement_ends_without_gains():
    """A sum has no cheaper form: far fewer steps than allowed."""
    network = Network(program_of(lambda a, b, c, d, x, y, z: ((a + b) * (c + d), (a + b) * x)))
    search(network, 5)
    refine(network, 10**9, 20)
    assert network.total == 4


def _values(robot, found):
    """Return numbers for the arguments of a trace."""
    return dict(zip(
        [symbol for each in found.inputs for symbol in each.symbols],
        [x for vector in cases.given(robot, found) for x in vector], strict=True,
    ))

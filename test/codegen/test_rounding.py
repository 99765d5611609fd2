# SPDX-License-Identifier: Apache-2.0
"""Numbers that differ by rounding are one number of a program."""

import math

from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.rounding import NumberTable, SAME
import numpy as np
import pytest


def shifted(number, steps):
    """Return a number so many neighbours away."""
    for _ in range(abs(steps)):
        number = math.nextafter(number, math.copysign(math.inf, steps))
    return number


def product(graph, x, y):
    """Return the product of two nodes."""
    return graph.product((x, y))


@pytest.mark.parametrize('steps', [-3, -1, 1, 3])
def test_numbers_next_to_each_other_are_one(steps):
    """Of any size, in any order."""
    numbers = 10.0 ** np.random.default_rng(0).uniform(-30.0, 30.0, 500)
    known = NumberTable()
    for number in numbers.tolist():
        first = known.of(number)
        assert known.of(shifted(number, steps)) == first
        assert first == pytest.approx(number, rel=SAME)


def test_numbers_that_differ_by_more_stay_apart():
    """Ten times the limit apart, and at zero; code holds no infinity."""
    known = NumberTable()
    for number in (0.1, 1.0, 3.0, 1e-300, 1e300, 5e-324):
        assert known.of(number) != known.of(number * (1.0 + 10.0 * SAME) + 5e-324)
    assert known.of(0.0) == 0.0
    for number in (math.inf, math.nan):
        with pytest.raises(OverflowError):
            known.of(number)


@pytest.mark.parametrize('short', [0.25, 0.1, 4.5e-6, 9.81, 314.58, 1e22])
def test_a_short_number_stands_for_its_neighbours(short):
    """Whichever comes first."""
    for steps in (-2, -1, 1, 2):
        assert NumberTable().of(shifted(short, steps)) == short


def test_equal_expressions_are_one_node():
    """A factor of nearly one vanishes, terms that cancel but for rounding do too."""
    graph = Graph()
    x, y = graph.symbol('x'), graph.symbol('y')
    tenth = graph.constant(0.1)
    assert product(graph, graph.constant(0.1 + 0.2), x) is product(graph, graph.constant(0.3), x)
    assert graph.product((graph.constant(3.0 * 0.1), graph.constant(1.0 / 0.3), x)) is x
    three = graph.sum((product(graph, tenth, x), product(graph, graph.constant(0.2), x)))
    assert graph.sum((three, graph.negate(product(graph, graph.constant(0.3), x)), y)) is y
    assert graph.sum((graph.constant(0.1 + 0.2), graph.constant(-0.3), y)) is y
    weights = (product(graph, graph.constant(1.3), x), product(graph, graph.constant(-0.3), x))
    assert graph.sum(weights) is x


@pytest.mark.parametrize('value', [math.inf, math.nan])
def test_what_is_not_finite_is_refused(value):
    """It is not taken for rounding, and stands in no code."""
    graph = Graph()
    with pytest.raises(OverflowError):
        graph.constant(value)
    large = graph.constant(1e200)
    with pytest.raises(OverflowError):
        graph.product((large, large, graph.symbol('x')))


def test_small_terms_that_do_not_cancel_stay():
    """Only the remainder of larger numbers is rounding."""
    graph = Graph()
    x = graph.symbol('x')
    small = graph.sum((graph.constant(1e-20), x))
    assert small.operands[0].value == 1e-20 or small.operands[1].value == 1e-20
    assert product(graph, graph.constant(1e-20), x).operands[0].value == 1e-20

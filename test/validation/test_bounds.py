# SPDX-License-Identifier: Apache-2.0
"""Lower bounds of operations: known answers, all small programs, and our own code above them."""

from itertools import combinations
from random import Random

from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.optimise import optimise
from flexdyn_ros.symbolic.program import Program
import pytest
from validation.bounds.linear_program import LinearProgram
from validation.bounds.polynomials import (
    input_support,
    operations_outside_calls,
    supports,
    Unsuitable,
)
from validation.bounds.relaxation import least_operations
from validation.bounds.rows import bound_of, traced
from validation.bounds.sharing import contexts, product

FORCE = ('wrench_tool[0]', 'wrench_tool[1]', 'wrench_tool[2]')


def polynomials(*texts):
    """Return supports, such as {ab, ac} of "ab ac", of inputs of one letter."""
    return [frozenset(map(frozenset, text.split())) for text in texts]


@pytest.mark.parametrize('least, texts', [
    (1, ['ab']),
    (2, ['ab ac']),
    (3, ['ac ad bc bd']),
    (6, ['cx sy', 'sx cy']),
    (12, ['cx sy', 'sx cy', 'cz sw', 'sz cw']),
    # A complex product of three factors.
    (12, ['ace adf bcf bde', 'acf ade bce bdf']),
    (3, ['a b c', 'a b d']),
    (4, ['a b c', 'a b d', 'a b c d']),
    (4, ['a b c d', 'a c', 'b d e']),
    (4, ['abx aby', 'abz']),
    # Two turns of a vector in space.
    (12, ['cx sy', 'Csx Ccy Sz', 'Ssx Scy Cz']),
])
def test_known_answers(least, texts):
    """Small functions whose least programs are known."""
    assert least_operations(polynomials(*texts)) == least


def test_three_joints_of_the_stanford_arm():
    """Eleven operations are the least, nine besides those with the offset; we have as many."""
    label = 'Stanford3, external_force_vector'
    found = bound_of(label, traced(label))
    assert (found.ours, found.least, found.besides) == (11, 11, 9)
    assert 'the least' in found.line()


@pytest.mark.parametrize('label, least', [
    ('Puma3, external_force_vector', 20),
    ('Stanford3, gravity_vector', 4),
    ('Puma3, gravity_vector', 3),
])
def test_other_rows_of_three_joints(label, least):
    """The numbers on the page of counts."""
    found = bound_of(label, traced(label))
    assert found.ours == found.least == least


@pytest.mark.parametrize('absent, least', [(FORCE, 21), (FORCE[:2], 30)])
def test_six_joints_without_some_components(absent, least):
    """Moments alone, and with one component of the force."""
    outputs = [
        frozenset(m for m in support if not m & set(absent))
        for support in supports(traced('Stanford6, external_force_vector').outputs)
    ]
    assert least_operations(filter(None, outputs)) == least


def test_never_above_the_least_program():
    """Small functions, for which all programs are tried."""
    random, equal = Random(3), 0
    for _ in range(60):
        outputs, steps = random_program(random, 3 + random.randrange(3), 5, 2)
        least = next(n for n in range(steps + 1) if reached(outputs, n))
        bound = least_operations(outputs)
        assert bound <= least, outputs
        equal += bound == least
    assert equal > 50


def test_never_above_a_program():
    """Larger random programs without cancellation."""
    random = Random(4)
    for _ in range(60):
        outputs, steps = random_program(random, 6, 10, 4)
        assert least_operations(outputs) <= steps, outputs


def test_never_above_our_passes():
    """Random linear maps whose coefficients are a few symbols."""
    random = Random(5)
    for _ in range(12):
        graph = Graph()
        x = [graph.symbol(f'x{i}') for i in range(4)]
        a = [graph.symbol(f'a{i}') for i in range(3)] + [graph.zero, graph.one, graph.constant(2)]
        outputs = tuple(
            graph.sum(random.choice(a) * each for each in x) for _ in range(3)
        )
        program = optimise(Program(graph, outputs))[0]
        ours = operations_outside_calls(program.outputs)
        assert least_operations(supports(outputs)) <= ours, program.outputs


def random_program(random, inputs, steps, outputs):
    """Return results of a random program without cancellation, and the number of its steps."""
    known = [(input_support(name), frozenset()) for name in 'abcdef'[:inputs]]
    while len(known) < inputs + steps:
        (left, a), (right, b) = random.sample(known, 2)
        new = left | right if random.random() < 0.5 else product(left, right)
        if new is None or any(new == support for support, _ in known):
            continue
        if not any(one < other for one in new for other in new):
            known.append((new, a | b | {len(known)}))
    chosen = random.sample(known[inputs:], outputs - 1) + known[-1:]
    results = list(dict.fromkeys(support for support, _ in chosen))
    return results, len(frozenset().union(*(needed for _, needed in chosen)))


def reached(outputs, steps):
    """Whether any program of so many unions and products of supports forms the outputs."""
    allowed = [*contexts(outputs).values(), *outputs]
    names = sorted({name for support in outputs for m in support for name in m})

    def search(known, left, barred):
        missing = [support for support in outputs if support not in known]
        if len(missing) > left or not missing:
            return not missing
        new = {
            support for a, b in combinations(known, 2) for support in (a | b, product(a, b))
            if support is not None and any(support <= each for each in allowed)
        }
        # Divisors tried first at the same point need not come later.
        barred = set(barred)
        for support in new - set(known) - barred:
            if search([*known, support], left - 1, barred):
                return True
            barred.add(support)
        return False

    return search([input_support(name) for name in names], steps, ())


@pytest.mark.parametrize('make, reason', [
    (lambda a, b: a * a * b, 'twice'),
    (lambda a, b: 2.0 * a * b + a * 3.0 * b.sin() * 5.0 * b.cos() * (2.0 + b), 'product of numb'),
    (lambda a, b: a + a * b, 'divides'),
    (lambda a, b: a * b + a, 'divides'),
    (lambda a, b: a / b, 'divides'),
])
def test_functions_that_do_not_suit(make, reason):
    """The message names the obstacle."""
    graph = Graph()
    with pytest.raises(Unsuitable, match=reason):
        supports([make(graph.symbol('a'), graph.symbol('b'))])


def test_numbers_left_out():
    """A number is an input, or a coefficient."""
    graph = Graph()
    a, b = graph.symbol('a'), graph.symbol('b')
    outputs = [0.5 * a * b - a * b.cos(), 2.0 * a, graph.zero, -b]
    assert [len(support) for support in supports(outputs)] == [2, 1]
    assert least_operations(supports(outputs)) == 4
    assert least_operations(supports(outputs, numbers=False)) == 2


def test_a_linear_program_is_bounded_exactly():
    """Least x + y + z with pairs of at least 1 each is 3/2; its bound is just below or equal."""
    program = LinearProgram()
    x, y, z, one = (program.variable(cost) for cost in (1, 1, 1, 0))
    program.equal([one], [], 1)
    for pair in ((x, y), (y, z), (z, x)):
        slack = program.variable()
        program.equal([*pair], [one, slack])
    bound = program.bound()
    assert 1.5 - 1e-6 < bound <= 1.5

# SPDX-License-Identifier: Apache-2.0
"""Instructions: each rounded as generated Python rounds it, and none that could do harm."""

from array import array
from dataclasses import replace
import math
import random

from codegen.compiled import needs_extension
from codegen.programs import as_kernel
from codegen.programs import as_python
from codegen.programs import bits
from codegen.programs import traced_of
from flexdyn_ros.codegen.emitting.instructions import Instructions
from flexdyn_ros.codegen.emitting.instructions import instructions_of
from flexdyn_ros.codegen.emitting.instructions import NUMBERS
from flexdyn_ros.codegen.emitting.instructions import WORD
from flexdyn_ros.codegen.emitting.lowering import lowered
from flexdyn_ros.codegen.emitting.lowering import OPERATIONS
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.native.interpreted_program import loaded
from flexdyn_ros.dynamics.piecewise import monotone_cubic
from flexdyn_ros.symbolic.graph import Graph
import pytest

COUNT = 4


@pytest.fixture(autouse=True)
def with_extension():
    """Skip where there is no extension."""
    needs_extension()


def symbols(graph):
    """Return the names of the inputs, and their nodes."""
    names = [f'given[{k}]' for k in range(COUNT)]
    return names, [graph.symbol(name) for name in names]


TABLE = monotone_cubic([(-1.0, -3.0), (0.0, 0.0), (0.5, 0.25), (2.0, 4.0)])
FORMS = (
    lambda a, b, c: a + b, lambda a, b, c: a - b, lambda a, b, c: a * b,
    lambda a, b, c: -a * b - c, lambda a, b, c: a * b + c, lambda a, b, c: a - b * c,
    lambda a, b, c: a * b - c, lambda a, b, c: a * b - c * a, lambda a, b, c: a * b + b * c,
    lambda a, b, c: a * b * c, lambda a, b, c: a / (1.5 + b * b),
    lambda a, b, c: c - a / (1.5 + b * b) * c, lambda a, b, c: a * (b / (2.5 + c * c)),
    lambda a, b, c: a.sin(), lambda a, b, c: a.cos() * b, lambda a, b, c: (-a * a).exp(),
    lambda a, b, c: a.tanh(), lambda a, b, c: (a * a).stumpff(2) * (a * a).stumpff(3),
    lambda a, b, c: (a * a).stumpff(4) - (a * a).stumpff(5),
    lambda a, b, c: a.piecewise(TABLE), lambda a, b, c: a.piecewise(TABLE.derivative()) - b,
    lambda a, b, c: a.graph.sum((a, -b, c, a * b, -b * c, b)),
    lambda a, b, c: a.graph.product((a, b, c, a)),
)


def random_trace(rng):
    """Return expressions of all operations, nested at random, with shared parts and signs."""
    graph = Graph()
    names, nodes = symbols(graph)
    nodes.append(graph.constant(0.1 * rng.random() + 1.0))
    for _ in range(60):
        made = rng.choice(FORMS)(*(rng.choice(nodes) for _ in range(3)))
        # Bounded, so that no error of Python's ends the comparison.
        nodes.append(made.tanh() if rng.random() < 0.3 else made.sin() * 1.5)
    outputs = [rng.choice(nodes) for _ in range(6)]
    outputs += [-nodes[-1], nodes[-1], graph.constant(-2.5), nodes[0], outputs[0], -nodes[1]]
    return traced_of(graph, names, outputs)


@pytest.mark.parametrize('seed', range(40))
def test_random_expressions_give_the_bits_of_python(seed):
    """Products in products, quotients in products, signs anywhere, results that are inputs."""
    rng = random.Random(seed)
    trace = random_trace(rng)
    kernel, python = as_kernel(trace), as_python(trace)
    for _ in range(20):
        x = [rng.gauss(0.0, 2.0) for _ in range(COUNT)]
        x[rng.randrange(COUNT)] = rng.choice((0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-9, 60.0))
        assert bits(kernel(x)) == bits(python(x))


def test_every_operation_is_used():
    """The random expressions above leave none out."""
    found = {
        operation.name for seed in range(40)
        for operation in lowered(schedule(random_trace(random.Random(seed)))).operations
    }
    # Copies are made when registers are given out.
    assert found | {'copy', 'end'} == {name for name, _, _ in OPERATIONS}


def test_both_sides_name_the_operations_alike():
    """The extension's table is the one that programs are made with."""
    assert needs_extension().OPERATIONS == OPERATIONS


@pytest.mark.parametrize(('function', 'x'), [
    ('stumpff0', 0.0), ('stumpff1', 0.999999), ('stumpff2', 1.0), ('stumpff3', 1.0),
    ('stumpff4', 1e-300), ('stumpff5', 1e6), ('sin', 1e22), ('cos', -1e5), ('exp', -800.0),
    ('tanh', 1e-310), ('tanh', 40.0),
])
def test_functions_where_they_change(function, x):
    """At the limit of Stumpff's series, for large and for tiny arguments."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    trace = traced_of(graph, names, [graph.call(function, first)])
    given = [x, 0.0, 0.0, 0.0]
    assert bits(as_kernel(trace)(given)) == bits(as_python(trace)(given))


def test_tables_at_their_knots():
    """On, just below and just above each knot, and far beyond the ends."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    table = monotone_cubic([(-0.5, -90.0), (0.0, 0.0), (0.3, 40.0), (0.6, 40.0), (0.9, 41.0)])
    trace = traced_of(graph, names, [
        first.piecewise(each) for each in (table, table.derivative(), table.integral())
    ])
    kernel, python = as_kernel(trace), as_python(trace)
    for knot in (*table.knots, -0.0, 100.0, -100.0):
        for x in (knot, math.nextafter(knot, -1e9), math.nextafter(knot, 1e9)):
            given = [x, 0.0, 0.0, 0.0]
            assert bits(kernel(given)) == bits(python(given))


@pytest.mark.parametrize(('make', 'x'), [
    (lambda a, b: 1.0 / (1.0 / (a - b)), 1.0), (lambda a, b: 1.0 / a.exp(), 1000.0),
    (lambda a, b: a * a, 1e200), (lambda a, b: a.sin().tanh(), float('inf')),
])
def test_what_python_refuses_is_refused(make, x):
    """A division by zero, an overflow: an error, also where the result would be finite."""
    graph = Graph()
    names, (a, b, *_) = symbols(graph)
    kernel = as_kernel(traced_of(graph, names, [make(a, b)]))
    with pytest.raises(ArithmeticError):
        kernel([x, 1.0, 0.0, 0.0])


def example():
    """Return the instructions of some expressions."""
    return instructions_of(random_trace(random.Random(1)))


def test_instructions_are_kept_as_they_are():
    """To bytes and back."""
    made = example()
    assert Instructions.from_bytes(made.to_bytes()) == made


def words(made):
    """Return the words of a program."""
    code = array(WORD)
    code.frombytes(made.code)
    return code


def changed(made, place, word):
    """Return a program with another word."""
    code = words(made)
    code[place] = word
    return replace(made, code=code.tobytes())


MALFORMED = {
    'no code': lambda made: replace(made, code=b''),
    'half a word': lambda made: replace(made, code=made.code[:-2]),
    'no end': lambda made: replace(made, code=made.code[:-8]),
    'half an end': lambda made: replace(made, code=made.code[:-4]),
    'more after the end': lambda made: replace(made, code=made.code + made.code),
    'unknown operation': lambda made: changed(made, 0, len(OPERATIONS)),
    'huge operation': lambda made: changed(made, 0, 2**32 - 1),
    'empty run': lambda made: changed(made, 1, 0),
    'huge run': lambda made: changed(made, 1, 2**32 - 1),
    'writes an input': lambda made: changed(made, 2, 0),
    'writes a constant': lambda made: changed(made, 2, made.inputs + made.results),
    'writes beyond': lambda made: changed(made, 2, made.registers),
    'reads beyond': lambda made: changed(made, 3, made.registers),
    'reads what is not there yet': lambda made: changed(made, 3, made.registers - 1),
    'too few registers': lambda made: replace(made, registers=made.inputs),
    'negative registers': lambda made: replace(made, registers=-1),
    'negative inputs': lambda made: replace(made, inputs=-1),
    'a result more': lambda made: replace(made, results=made.results + 1),
    'no functions': lambda made: replace(made, functions=()),
    'a function without numbers': lambda made: replace(
        made, functions=tuple((kind, sizes, ()) for kind, sizes, _ in made.functions)),
    'a function of another kind': lambda made: replace(
        made, functions=tuple((NUMBERS['add'], *rest) for _, *rest in made.functions)),
    'sizes that are too large': lambda made: replace(
        made, functions=tuple((k, tuple(2**62 for _ in s), n) for k, s, n in made.functions)),
}


@pytest.mark.parametrize('kind', MALFORMED)
def test_malformed_programs_are_refused(kind):
    """Before anything runs."""
    made = example()
    loaded(made)
    with pytest.raises(ValueError, match='malformed'):
        loaded(MALFORMED[kind](made))


def test_no_change_of_a_word_can_crash_the_process():
    """What is accepted runs, whatever it computes."""
    rng, made = random.Random(4), example()
    module = needs_extension()
    size, accepted = len(words(made)), 0
    for _ in range(3000):
        word = rng.choice((rng.randrange(40), rng.randrange(made.registers), 2**31, 2**32 - 1))
        try:
            program = loaded(changed(made, rng.randrange(size), word))
        except ValueError:
            continue
        accepted += 1
        kernel = module.Kernel(program, (made.inputs,), (), ((made.results,),), 0, (), 0.0)
        try:
            kernel([rng.gauss(0.0, 1.0) for _ in range(COUNT)])
        except ArithmeticError:
            pass
    assert 100 < accepted < 2900


def test_sizes_must_be_those_of_the_program():
    """A kernel reads and writes as many numbers as its program."""
    made, module = example(), needs_extension()
    for sizes, shapes in (((made.inputs + 1,), ((made.results,),)),
                          ((made.inputs,), ((made.results + 1,),))):
        with pytest.raises(ValueError, match='sizes'):
            module.Kernel(loaded(made), sizes, (), shapes, 0, (), 0.0)


def test_an_unknown_function_is_named():
    """Rather than left out."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    node = graph._node(6, (first,), 'gamma')
    with pytest.raises(ValueError, match='"gamma"'):
        instructions_of(traced_of(graph, names, [node]))

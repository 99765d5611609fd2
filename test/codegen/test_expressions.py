# SPDX-License-Identifier: Apache-2.0
"""Expressions of every operation: exported Python and compiled C give the graph's numbers."""

import math

from codegen.compiled import needs_compiler, QUICK
from codegen.programs import (
    as_python,
    compiled,
    over_samples,
    random_trace,
    random_vectors,
    symbols,
    traced_of,
)
from evaluated_program import evaluate_program
from flexdyn_ros.codegen.export.c import c_program
from flexdyn_ros.dynamics.spring_law import monotone_cubic
from flexdyn_ros.symbolic.graph import CALL, Graph
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Compile without optimising."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)


def expected(trace, rows):
    """Return the results of evaluating the graph, by samples."""
    names = trace.inputs[0].symbols
    return np.array([
        evaluate_program(trace.program, dict(zip(names, row, strict=True))) for row in rows
    ])


def assert_same(trace, key, rows, tolerance):
    """Compare compiled single calls and batches with the graph."""
    values = expected(trace, rows)
    kernel = compiled(trace, key).kernel()
    singles = np.array([kernel(row) for row in rows])
    many, flags = over_samples(trace, key, rows)
    assert not flags.any()
    for found in (singles, many):
        assert np.abs(found - values) == pytest.approx(
            0.0, abs=tolerance * max(1.0, np.abs(values).max())
        )


@pytest.mark.parametrize('seed', range(40))
def test_random_expressions_in_python(seed):
    """Products in products, quotients in products, signs anywhere, results that are inputs."""
    trace, rows = random_trace(seed), random_vectors(seed)
    python = as_python(trace)
    found = np.array([python(row) for row in rows])
    assert found == pytest.approx(expected(trace, rows), rel=1e-9, abs=1e-9)


@needs_compiler
@pytest.mark.parametrize('seed', range(4))
def test_random_expressions_in_c(seed):
    """One by one and many at a time."""
    trace = random_trace(seed, 200)
    assert_same(trace, f'random {seed}', random_vectors(seed, 21), 1e-8)


@needs_compiler
def test_angles_that_need_a_call_are_not_gathered():
    """A sine of a sine is computed where it stands, others before all else."""
    graph = Graph()
    names, (a, b, *_) = symbols(graph)
    trace = traced_of(graph, names, [a.sin().sin() + (a * b).cos(), a.cos() * (a * b).sin()])
    angles = c_program(trace).angles
    assert {node.value for node in angles.places} == {'sin', 'cos'}
    assert len(angles.arguments) == 2
    assert not any(node.operands[0].kind == CALL for node in angles.places)
    assert_same(trace, 'sine of sine', random_vectors(3, 9), 1e-13)


@needs_compiler
def test_functions_where_they_change():
    """At the limit of Stumpff's series, for large and for tiny arguments."""
    graph = Graph()
    names, (first, second, *_) = symbols(graph)
    calls = [graph.call(f'stumpff{order}', first) for order in range(6)]
    trace = traced_of(graph, names, [*calls, second.sin(), second.cos(), (-first).exp(),
                                     second.tanh()])
    rows = [
        [u, x, 0.0, 0.0] for u in (0.0, 0.999999, 1.0, 1.000001, 1e-300, 1e3)
        for x in (0.0, 1e22, -1e5, 1e-310, 40.0, -0.0)
    ]
    assert_same(trace, 'where they change', rows, 1e-14)


@needs_compiler
def test_tables_at_their_knots():
    """On, just below and just above each knot, and far beyond the ends."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    table = monotone_cubic([(-0.5, -90.0), (0.0, 0.0), (0.3, 40.0), (0.6, 40.0), (0.9, 41.0)])
    trace = traced_of(graph, names, [
        first.piecewise(each) for each in (table, table.derivative(), table.integral())
    ])
    rows = [
        [x, 0.0, 0.0, 0.0] for knot in (*table.knots, -0.0, 100.0, -100.0)
        for x in (knot, math.nextafter(knot, -1e9), math.nextafter(knot, 1e9))
    ]
    python = as_python(trace)
    assert np.array([python(row) for row in rows]) == pytest.approx(expected(trace, rows))
    assert_same(trace, 'knots', rows, 1e-14)


@needs_compiler
def test_many_values_at_once():
    """Seven hundred that are needed to the end, in parts that share a work array."""
    graph = Graph()
    names, nodes = symbols(graph)
    made = [(nodes[k % 4] * (k + 0.3)).sin() for k in range(700)]
    total = graph.sum(tuple(a * b for a, b in zip(made, reversed(made))))
    trace = traced_of(graph, names, [total * a for a in made])
    assert len(c_program(trace).parts.parts) > 1
    assert_same(trace, 'many values', random_vectors(1, 3), 1e-12)


@needs_compiler
@pytest.mark.parametrize(('make', 'x'), [
    (lambda a, b: a / (a - b), 1.0), (lambda a, b: a.exp(), 1000.0), (lambda a, b: a * a, 1e200),
])
def test_results_that_are_not_finite_are_refused(make, x):
    """A division by zero, an overflow: an error of single calls, a flag of samples."""
    graph = Graph()
    names, (a, b, *_) = symbols(graph)
    trace = traced_of(graph, names, [make(a, b)])
    key = f'not finite {x!r}'
    with pytest.raises(ArithmeticError):
        compiled(trace, key).kernel()([x, 1.0, 0.0, 0.0])
    with pytest.raises(ArithmeticError):
        if not all(map(math.isfinite, as_python(trace)([x, 1.0, 0.0, 0.0]))):
            raise ArithmeticError
    wrong, sound = [x, 1.0, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0]
    _, flags = over_samples(trace, key, [wrong, sound, sound, wrong, wrong])
    assert flags.astype(bool).tolist() == [True, False, False, True, True]


@needs_compiler
def test_no_results_and_no_inputs():
    """Compiled functions without results, without inputs, and of one quotient."""
    graph = Graph()
    names, (first, *_) = symbols(graph)
    assert compiled(traced_of(graph, names, []), 'none').kernel()([1.0] * 4).shape == (0,)
    constant = compiled(traced_of(graph, [], [graph.constant(-0.5)]), 'constant').kernel()
    assert constant([]).tolist() == [-0.5]
    quotient = compiled(traced_of(graph, names, [1.0 / first]), 'quotient').kernel()
    assert quotient([4.0] * 4).tolist() == [0.25]

# SPDX-License-Identifier: Apache-2.0
"""Machine code against evaluated graphs of random programs, and the reference on robots."""

import ctypes
from functools import partial
import platform
import random

from codegen import cases
from codegen.compiled import needs_compiler
from codegen.compiled import QUICK
from flexdyn_ros.codegen.backends.c_backend import CBackend
from flexdyn_ros.codegen.emitting import emit_kernel
from flexdyn_ros.codegen.emitting.emit_x86 import x86_call
from flexdyn_ros.codegen.emitting.instruction_order import delays_of
from flexdyn_ros.codegen.emitting.operation_order import cycles
from flexdyn_ros.codegen.emitting.operation_order import orders
from flexdyn_ros.codegen.emitting.operations import calls_and_before
from flexdyn_ros.codegen.emitting.operations import operations
from flexdyn_ros.codegen.emitting.operations import STORE
from flexdyn_ros.codegen.emitting.x86_code import FOUR
from flexdyn_ros.codegen.emitting.x86_code import ONE
from flexdyn_ros.codegen.native.compiler import find_compiler
from flexdyn_ros.codegen.tracing.interface import Input
from flexdyn_ros.codegen.tracing.interface import Output
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import evaluate_program
from flexdyn_ros.symbolic.program import Program
import numpy as np
import pytest

pytestmark = needs_compiler
INPUTS, RESULTS = 23, 40


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Make machine code of short programs too; compile the rest without optimising."""
    monkeypatch.setattr(emit_kernel, 'x86_call', partial(x86_call, least=0))
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK + ' -DSHORT')


def step(chosen, pool):
    """Return a combination of nodes of the pool."""
    a, b, c, d = (chosen.choice(pool) for _ in range(4))
    sign = chosen.choice((-1.0, 1.0))
    number = chosen.choice((0.25, 0.5, -0.75, 1.0 / 3.0))
    return chosen.choice((
        0.5 * (a * b + sign * (c * d)), 0.5 * (a - b * c), number * a - b * number,
        a * a * 0.5 - b, a * b * c, a * b + sign * a, 0.3 * (a - b - c + sign * d), -(a * b),
        a / (2.0 + b * b), number * (c * d - a) - b * b,
    ))


def random_trace(seed, steps):
    """Return a trace of every kind of operation, with values of about one."""
    chosen = random.Random(seed)
    graph = Graph()
    names = [f'x[{k}]' for k in range(INPUTS)]
    known = [graph.symbol(name) for name in names]
    calls = [known[k].sin() if k % 2 else known[k].cos() for k in range(9)]
    calls.append((known[0] * known[1] + known[2]).sin())
    known += calls
    for _ in range(steps):
        found = step(chosen, known[-40:] + calls)
        known.append(found / (1.0 + 0.1 * found * found))
    outputs = (known[0], calls[3], graph.lift(0.125), -known[-1], -calls[0],
               *known[-RESULTS + 5:])
    return Trace(
        'robot', 'function', 'function', (Input('x', ('',) * INPUTS),),
        (Output('y', (RESULTS,), ('',) * RESULTS),), Program(graph, outputs), (), (),
    )


def results(trace, samples, folder, *flags):
    """Return the results of some samples one by one, and in a batch."""
    name = f'code{len(flags)}.so'
    answers = []
    for emit in (emit_kernel.emit_call, emit_kernel.emit_batch):
        path = folder / f'{emit.__name__}_{name}'
        path.write_bytes(find_compiler().build(emit(trace), ('-O1', *flags)))
        library = ctypes.CDLL(str(path))
        y = np.full((len(samples), RESULTS), np.nan)
        if emit is emit_kernel.emit_call:
            for x, row in zip(samples, y):
                library.flexdyn_call(pointer(x), pointer(row))
        else:
            told = np.full(len(samples), 9, np.uint8)
            library.flexdyn_batch(
                ctypes.c_long(0), ctypes.c_long(len(samples)),
                (ctypes.c_void_p * 1)(samples.ctypes.data), (ctypes.c_long * 1)(INPUTS),
                (ctypes.c_void_p * 1)(y.ctypes.data), pointer(told),
            )
            assert not told.any()
        answers.append(y)
    return answers


def pointer(array):
    """Return where an array's numbers are."""
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize('seed', range(4))
def test_random_programs(seed, tmp_path):
    """Values that many later operations need come back from where they were put aside."""
    trace = random_trace(seed, 30 + 60 * seed)
    for width in (ONE, FOUR):
        code = x86_call(trace, width, least=0)
        assert code is not None
        if seed:  # more than registers hold
            assert code.size > code.place + 10
    samples = np.random.default_rng(seed).normal(size=(7, INPUTS))
    expected = [
        evaluate_program(trace.program, {f'x[{k}]': value for k, value in enumerate(x)})
        for x in samples.tolist()
    ]
    for flags in ((), ('-DFLEXDYN_PORTABLE',)):
        for found in results(trace, samples, tmp_path, *flags):
            assert np.allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize('size', [0, 1, 40, 700])
def test_orders(size):
    """All steps are there, each behind those whose results it uses; the estimate is sensible."""
    outputs = random_trace(5, size).program.outputs
    known = calls_and_before(outputs)
    steps = operations(outputs, known, delays_of(outputs))
    for order in orders(steps):
        assert sorted(map(id, order)) == sorted(map(id, steps))
        made = set()
        for each in order:
            assert made.issuperset(operand for operand in each.operands
                                   if isinstance(operand, int))
            made.add(each.result if each.kind != STORE else None)
        ends = list(range(2, 2 + len(order)))
        assert len(order) / 4 < cycles(order, ends) < 20 * (len(order) + 1)
        assert cycles(order, [3 * end for end in ends]) >= cycles(order, ends)


def test_it_is_taken_where_the_processor_has_it(tmp_path):
    """The symbol of the machine code is in the library."""
    trace = random_trace(0, 40)
    with_it, without = (
        find_compiler().build(emit_kernel.emit_call(trace), ('-O1', *flags))
        for flags in ((), ('-DFLEXDYN_PORTABLE',))
    )
    assert b'flexdyn_rest' not in without
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            suits = platform.machine() == 'x86_64' and ' fma ' in file.read()
    except OSError:
        pytest.skip('the processor does not say what it is')
    assert (b'flexdyn_rest' in with_it) == suits


def test_calls_that_come_late_stay_in_c():
    """A function of nearly everything leaves nothing for machine code."""
    graph = Graph()
    x = graph.symbol('x')
    for _ in range(50):
        x = (0.5 * x * x + x).sin()
    trace = Trace('robot', 'f', 'f', (Input('x', ('',), scalar=True),), (Output('y', (), ('',)),),
                  Program(graph, (x,)), (), ())
    assert x86_call(trace, least=0) is None
    assert 'flexdyn_rest' not in emit_kernel.emit_call(trace)


@pytest.mark.parametrize('name', ['rigid tree', 'floating', 'flexible chain'])
@pytest.mark.parametrize('function', ['inverse_dynamics', 'forward_dynamics', 'mass_matrix'])
def test_robots(name, function):
    """Short and long functions are the reference's."""
    model = cases.robot(name)
    backend = CBackend(model, list(model.gravity_vector), {})
    cases.assert_close(
        cases.answer(model, function, backend=backend), cases.answer(model, function)
    )

# SPDX-License-Identifier: Apache-2.0
"""One traced program run in all ways of the backend "python", and their bits."""

import random

from codegen.compiled import needs_extension
from flexdyn_ros.codegen.emitting.batch_loop import PIVOTS
from flexdyn_ros.codegen.emitting.emit_python import emit_python
from flexdyn_ros.codegen.emitting.instructions import instructions_of
from flexdyn_ros.codegen.emitting.registers import with_registers
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.emitting.sse2_code import batch_code_of
from flexdyn_ros.codegen.emitting.sse2_code import machine_code_of
from flexdyn_ros.codegen.generate import compile_python
from flexdyn_ros.codegen.native import ctypes_calls
from flexdyn_ros.codegen.native import machine_program
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.native.interpreted_program import loaded
from flexdyn_ros.codegen.tracing.interface import Input
from flexdyn_ros.codegen.tracing.interface import Output
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.dynamics.spring_law import monotone_cubic
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import Program
import numpy as np
import pytest

COUNT = 4
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


def symbols(graph):
    """Return the names of the inputs, and their nodes."""
    names = [f'given[{k}]' for k in range(COUNT)]
    return names, [graph.symbol(name) for name in names]


def random_trace(seed, steps=60):
    """Return expressions of all operations, nested at random, with shared parts and signs."""
    rng = random.Random(seed)
    graph = Graph()
    names, nodes = symbols(graph)
    nodes.append(graph.constant(0.1 * rng.random() + 1.0))
    for _ in range(steps):
        made = rng.choice(FORMS)(*(rng.choice(nodes) for _ in range(3)))
        # Bounded, so that no error of Python's ends the comparison.
        nodes.append(made.tanh() if rng.random() < 0.3 else made.sin() * 1.5)
    outputs = [rng.choice(nodes) for _ in range(6)]
    outputs += [-nodes[-1], nodes[-1], graph.constant(-2.5), nodes[0], outputs[0], -nodes[1]]
    return traced_of(graph, names, outputs)


def random_vectors(seed, count=20):
    """Return vectors for such expressions, with zeros of both signs among other numbers."""
    rng = random.Random(seed)
    vectors = [[rng.gauss(0.0, 2.0) for _ in range(COUNT)] for _ in range(count)]
    for x in vectors:
        x[rng.randrange(COUNT)] = rng.choice((0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-9, 60.0))
    return vectors


def traced_of(graph, names, outputs):
    """Return a function of one vector of symbols given[0], given[1], ... as a trace."""
    entries = tuple(f'number {k}' for k in range(len(names)))
    results = tuple(f'result {k}' for k in range(len(outputs)))
    return Trace(
        'none', 'expressions', 'expressions', (Input('given', entries),),
        (Output('y', (len(outputs),), results),), Program(graph, tuple(outputs)), (), (),
    )


def as_python(trace):
    """Return a trace as a function of straight-line Python."""
    return compile_python(emit_python(with_registers(schedule(trace))), trace.name)


def as_kernel(trace):
    """Return a trace as a kernel of the interpreter; pivots are results among others."""
    made = instructions_of(trace)
    return needs_extension().Kernel(
        loaded(made), tuple(len(each.symbols) for each in trace.inputs), (),
        tuple(output.shape for output in trace.outputs), 0, (), 0.0,
    )


def needs_machine_code():
    """Skip where machine code cannot run."""
    problem = machine_program.problem()
    if problem is not None:
        pytest.skip(f'no machine code: {problem}; Linux on x86-64 runs it')


def as_machine_code(trace):
    """Return a trace as machine code called through ctypes; pivots are results among others."""
    made = machine_code_of(trace)
    return ctypes_calls.Kernel(
        machine_program.loaded(made), tuple(len(each.symbols) for each in trace.inputs), (),
        tuple(output.shape for output in trace.outputs), 0, (), 0.0,
    )


def as_batch(trace):
    """
    Return a trace as machine code over samples: from rows of inputs to rows of results.

    Pivots, which are the last, are left out.
    """
    results = [each for each in trace.outputs if each.name != PIVOTS]
    sizes = [len(each.symbols) for each in trace.inputs]
    address = machine_program.loaded(batch_code_of(trace))

    def call(samples):
        rows = np.array(samples, dtype=float).reshape(len(samples), -1)
        ends = np.cumsum([0, *sizes])
        inputs = tuple(rows[:, a:b].copy() for a, b in zip(ends, ends[1:]))
        outputs = tuple(np.empty((len(rows), *each.shape)) for each in results)
        flags = np.empty(len(rows), dtype=np.uint8)
        ctypes_calls.run_batch(address, len(rows), inputs, tuple(sizes), outputs, flags, 1)
        return np.hstack([each.reshape(len(rows), -1) for each in outputs]), flags

    return call


def kernels(trace):
    """Return a trace in all ways that run here besides CPython, by name."""
    found = {}
    if extension() is not None:
        found['interpreter'] = as_kernel(trace)
    if machine_program.problem() is None:
        found['machine code'] = as_machine_code(trace)
    if not found:
        pytest.skip('neither the extension nor machine code is there')
    return found


def bits(value):
    """Return numbers nested in any way as bytes."""
    if isinstance(value, (list, tuple)):
        return b''.join(bits(item) for item in value)
    return np.asarray(value, dtype=float).tobytes()

# SPDX-License-Identifier: Apache-2.0
"""Programs made at random, with every operation, and their runners."""

import random

from flexdyn_ros.codegen.compile.program import CompiledProgram
from flexdyn_ros.codegen.export.python import emit_python
from flexdyn_ros.codegen.export.schedule import schedule
from flexdyn_ros.codegen.generate import compile_python
from flexdyn_ros.codegen.tracing.interface import Input, Output, Trace
from flexdyn_ros.dynamics.spring_law import monotone_cubic
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import Program
import numpy as np

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
    made = []
    for _ in range(steps):
        made.append(rng.choice(FORMS)(*(rng.choice(nodes) for _ in range(3))))
        # Bounded, so that values stay about one and round-off does.
        nodes.append(made[-1].tanh() if rng.random() < 0.3 else made[-1].sin() * 1.5)
        if len(nodes) > 12:
            del nodes[5]
    outputs = [rng.choice(made) for _ in range(6)]
    outputs += [-nodes[-1], nodes[-1], graph.constant(-2.5), nodes[0], outputs[0], -nodes[1]]
    return traced_of(graph, names, outputs)


def random_vectors(seed, count=20):
    """Return vectors for such expressions, with zeros of both signs among other numbers."""
    rng = random.Random(seed)
    vectors = [[rng.gauss(0.0, 1.0) for _ in range(COUNT)] for _ in range(count)]
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
    return compile_python(emit_python(schedule(trace)), trace.name)


def compiled(trace, key):
    """Return a trace as a program that the backend "c" would run."""
    return CompiledProgram(
        'expressions', ('expressions', key), lambda: trace, trace.inputs, trace.outputs, {}
    )


def over_samples(trace, key, rows):
    """Return the results of a trace over samples by compiled code, and their flags."""
    inputs = np.ascontiguousarray(rows, dtype=float)
    results = np.empty((len(inputs), trace.outputs[0].size))
    flags = np.empty(len(inputs), dtype=np.uint8)
    compiled(trace, key).batch()(len(inputs), [inputs], [inputs.shape[1]], [results], flags, 1)
    return results, flags

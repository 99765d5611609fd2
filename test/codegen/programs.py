# SPDX-License-Identifier: Apache-2.0
"""One traced program run in both ways of the backend "python", and their bits."""

from codegen.compiled import needs_extension
from flexdyn_ros.codegen.emitting.emit_python import emit_python
from flexdyn_ros.codegen.emitting.instructions import instructions_of
from flexdyn_ros.codegen.emitting.registers import with_registers
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.generate import compile_python
from flexdyn_ros.codegen.native.interpreted_program import loaded
from flexdyn_ros.codegen.tracing.interface import Input
from flexdyn_ros.codegen.tracing.interface import Output
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.symbolic.program import Program
import numpy as np


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


def bits(value):
    """Return numbers nested in any way as bytes."""
    if isinstance(value, (list, tuple)):
        return b''.join(bits(item) for item in value)
    return np.asarray(value, dtype=float).tobytes()

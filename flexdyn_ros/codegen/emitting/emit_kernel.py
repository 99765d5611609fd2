# SPDX-License-Identifier: Apache-2.0
"""
C for the compiled backend: the same statements over one sample, or over the lanes of a vector.

Unlike `emit_c`, which writes for people, this writes for the machine: all inputs lie in one
array x and all results in one array y, and sines and cosines are taken several at a time.
`real` is a double or a vector of them (`runtime/lanes.h`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

from flexdyn_ros.codegen.emitting.batch_loop import batch_loop
from flexdyn_ros.codegen.emitting.batch_loop import ROWS
from flexdyn_ros.codegen.emitting.emit_c import helper_functions
from flexdyn_ros.codegen.emitting.emit_x86 import CONDITIONS
from flexdyn_ros.codegen.emitting.emit_x86 import results_of
from flexdyn_ros.codegen.emitting.emit_x86 import x86_call
from flexdyn_ros.codegen.emitting.emit_x86 import X86Call
from flexdyn_ros.codegen.emitting.kernel_functions import functions
from flexdyn_ros.codegen.emitting.kernel_functions import Kernel
from flexdyn_ros.codegen.emitting.kernel_functions import prepare
from flexdyn_ros.codegen.emitting.kernel_functions import run_of_inputs
from flexdyn_ros.codegen.emitting.kernel_functions import sincos
from flexdyn_ros.codegen.emitting.kernel_functions import table
from flexdyn_ros.codegen.emitting.schedule import Schedule
from flexdyn_ros.codegen.emitting.series import closed_form
from flexdyn_ros.codegen.emitting.series import series
from flexdyn_ros.codegen.emitting.series import stumpff_orders
from flexdyn_ros.codegen.emitting.x86_code import FOUR
from flexdyn_ros.codegen.emitting.x86_code import ONE
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.dynamics.scalar import SERIES_LIMIT

RUNTIME = Path(__file__).resolve().parents[1] / 'runtime'
CALL_SYMBOL = 'flexdyn_call'
# Functions with a version for lanes of their own; others are called lane by lane.
LANE_FUNCTIONS = ('exp', 'tanh')


def emit_call(trace: Trace) -> str:
    """Return C that computes one sample: `void flexdyn_call(const double *x, double *y)`."""
    kernel = prepare(trace, batch=False)
    return '\n'.join([
        *_head(trace), 'typedef double real;', '', *helper_functions(kernel.plan),
        *_evaluate(kernel), '',
        f'void {CALL_SYMBOL}(const double *x, double *y)', '{', '    evaluate(x, y);', '}', '',
    ])


def emit_batch(trace: Trace, quaternions: Sequence[int] = ()) -> str:
    """
    Return C that computes the samples from start to stop, LANES at a time.

        void flexdyn_batch(long start, long stop, const double *const *in, const long *strides,
                           double *const *out, unsigned char *flags)

    Each input and result is an array by samples; a stride of zero gives one value to all
    samples. Flags tell samples whose inputs are not finite (1) or whose results cannot be
    relied on (2).

    Args:
        trace: The program; pivots, where it has them, are its last output.
        quaternions: Where quaternions start in q, the first input.
    """
    kernel = prepare(trace, batch=True)
    return '\n'.join([
        *_head(trace), 'typedef lanes real;', '', *helper_functions(kernel.plan),
        *_lane_functions(kernel.plan), *_evaluate(kernel), ROWS,
        *batch_loop(trace, quaternions), '',
    ])


def _evaluate(kernel: Kernel) -> list[str]:
    """Return C that defines `evaluate`: with machine code where that is better."""
    width = FOUR if kernel.batch else ONE
    x86 = x86_call(kernel.trace, width)
    portable = [*table(kernel), *functions(kernel)]
    if x86 is None:
        return portable
    return [CONDITIONS[width], *_around(kernel, x86), '#else', *portable, '#endif', '']


def _around(kernel: Kernel, x86: X86Call) -> list[str]:
    """Return C that calls functions, then machine code."""
    lines, calls = [], [f'    real work[{x86.size}];', '']
    count = len(x86.angles)
    if count:
        start = run_of_inputs(kernel, x86.angles)
        angles = 'angle' if start is None else f'x + {start}'
        if start is None:
            inner = prepare(results_of(kernel.trace, x86.angles), kernel.batch, table=False)
            lines += [*functions(inner, 'take_angles'), '']
            calls = [f'    real angle[{count}];', *calls, '    take_angles(x, angle);']
        calls.append(sincos(kernel, start, count, angles, 'work', f'work + {count}'))
    if x86.first is not None:
        inner = prepare(x86.first, kernel.batch, table=False)
        lines += [*functions(inner, 'first'), '']
        calls.append(f'    first(x, work + {x86.place});')
    return [
        *lines, *x86.table, *x86.code,
        'static inline void evaluate(const real *x, real *restrict y)', '{', *calls,
        f'    {x86.run}', '}',
    ]


def _head(trace: Trace) -> list[str]:
    text = (RUNTIME / 'lanes.h').read_text(encoding='utf-8')
    return [text, f'/* {len(trace.program.outputs)} results of {trace.name}. */']


def _lane_functions(plan: Schedule) -> list[str]:
    """Return the functions over lanes that `lanes.h` does not have."""
    lines: list[str] = []
    limit = repr(SERIES_LIMIT)
    orders = stumpff_orders(plan.functions)
    for order in orders:
        closed = closed_form(order, repr, 'lanes_sqrt', 'lanes_sin', 'lanes_cos')
        closed = closed.replace('lanes_sqrt(u)', 'root').replace('/u', '/bounded')
        lines += [
            f'static inline lanes lanes_stumpff{order}(lanes u)', '{',
            f'    const lanes_mask near = u < {limit};',
            f'    const lanes value = {series(order, repr)};', '',
            '    if (lanes_any(~near)) {',
            f'        const lanes bounded = lanes_select(near, {limit} + (lanes){{0}}, u);',
            '        const lanes root = lanes_sqrt(bounded);',
            f'        return lanes_select(near, value, {closed});',
            '    }', '    return value;', '}', '',
        ]
    known = {'sin', 'cos', *LANE_FUNCTIONS, *(f'stumpff{order}' for order in orders)}
    for name in plan.functions:
        if name not in known:
            lines += [f'static inline lanes lanes_{name}(lanes x)', '{',
                      f'    return lanes_map({name}, x);', '}', '']
    return lines

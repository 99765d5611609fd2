# SPDX-License-Identifier: Apache-2.0
"""
The C that the backend "c" compiles: exported C, and the code that packs its arguments.

One function takes a sample, `flexdyn_call`; another takes many, `flexdyn_batch`, several of them
at a time in the lanes of vectors (`runtime/lanes.h`). Both contain the statements of `emit_c`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Optional, Sequence

from flexdyn_ros.codegen.export.c import (
    c_program,
    CFlavour,
    CProgram,
    emit_c,
    MOST_ON_STACK,
    WIDTH,
    WORK,
)
from flexdyn_ros.codegen.export.defined_functions import closed_form, series, stumpff_orders
from flexdyn_ros.codegen.export.schedule import Schedule
from flexdyn_ros.codegen.export.writer import wrap
from flexdyn_ros.codegen.tracing.interface import Input, Trace
from flexdyn_ros.dynamics.scalar import SERIES_LIMIT

RUNTIME = Path(__file__).resolve().parent / 'runtime'
CALL_SYMBOL, BATCH_SYMBOL = 'flexdyn_call', 'flexdyn_batch'
# Array of two: numbers of pivots, and numbers of type double that the caller provides.
NUMBERS_SYMBOL = 'flexdyn_numbers'
PIVOTS = 'pivots'
# A pivot this far below the largest one may be round-off: the reference backend then decides.
DOUBTFUL_PIVOT = 1e-10
# Lengths of quaternions beyond these are errors; others are brought to unit length.
SHORTEST, LONGEST = 0.5, 2.0
# Functions with a version for lanes of their own; others are called lane by lane.
LANE_FUNCTIONS = ('exp', 'tanh')
# Lanes of a vector at most, of one sample and of many.
FEW_LANES, MOST_LANES = 4, 8
# Numbers of a batch's inputs and results on the stack, 2.5 KiB: the compiler keeps these in
# registers. More of them lie in the caller's memory.
MOST_PACKED = 320
# Samples that a thread takes at least.
SHARE = 8 * MOST_LANES
# Vectors that `read_rows` and `write_rows` take at a time.
ROWS = 4

ONE_SAMPLE = CFlavour(linkage='static inline ', gather='sincos_all', multiple=FEW_LANES)
LANES = CFlavour(
    'lanes', 'static inline ', 'static __attribute__((noinline)) ', 'lanes_sincos_all',
    call=lambda name: f'lanes_{name}', most_on_stack=0, most_angles=MOST_ON_STACK // MOST_LANES,
)


def packed_inputs(trace: Trace, constants: Sequence[str]) -> list[Input]:
    """Return the inputs in the order in which a call packs them: constants last."""
    return sorted(trace.inputs, key=lambda each: each.name in constants)


def call_source(
    trace: Trace, constants: Sequence[str] = (),
    closing: Optional[Callable[[int, int], str]] = None,
) -> str:
    """
    Return C that computes one sample.

        void flexdyn_call(const double *x, double *y, double *work)

    Args:
        trace: The program; pivots, where it has them, are its last output.
        constants: Names of the inputs that stand last in x.
        closing: Returns the C that solves the equations of loops, from the numbers of the inputs
            after q and qd and of the work array.
    """
    program = c_program(trace, ONE_SAMPLE)
    lines = [
        *_lanes(FEW_LANES), emit_c(program),
        f'void {CALL_SYMBOL}(const double *x, double *y, double *{WORK})', '{',
        f'    (void){WORK};',
        *_call(program, packed_inputs(trace, constants)), '}', '',
        *_numbers(sum(each.size for each in trace.outputs if each.name == PIVOTS),
                  program.work_size),
    ]
    if closing is not None:
        loads = sum(len(each.symbols) for each in trace.inputs[2:])
        lines.append(closing(loads, program.work_size))
    return '\n'.join(lines)


def batch_source(trace: Trace, quaternions: Sequence[int] = ()) -> str:
    """
    Return C that computes samples, LANES at a time, shared among threads.

        void flexdyn_batch(long count, const double *const *in, const long *strides,
                           double *const *out, unsigned char *flags, double *memory, long threads)

    Each input and result is an array by samples; a stride of zero gives one value to all
    samples. Flags mark samples whose inputs are not finite (1) or whose results cannot be
    relied on (2). `memory` starts at a multiple of 64 bytes and has room for each thread.

    Args:
        trace: The program; pivots, where it has them, are its last output.
        quaternions: Where quaternions start in q, the first input.
    """
    program = c_program(trace, LANES)
    sizes = [len(each.symbols) for each in trace.inputs]
    n_x = max(sum(sizes), ROWS)
    n_y = max(sum(output.size for output in trace.outputs), ROWS)
    on_stack = MOST_LANES * (n_x + n_y) <= MOST_PACKED
    work = 0 if on_stack else n_x + n_y  # start of the program's own memory
    if on_stack:
        arrays = [f'        lanes x[{n_x}], y[{n_y}];']
    else:
        arrays = [f'        lanes *const x = (lanes *)memory, *const y = x + {n_x};']
    memory = MOST_LANES * (work + program.work_size)
    lines = [
        *_lanes(MOST_LANES), _text('samples.h'), *_lane_functions(program.plan), emit_c(program),
        f'#define SHARE {SHARE}', _text('threads.h'),
        'static void samples(const batch *given, long start, long stop, double *memory)', '{',
        f'    lanes *const {WORK} = (lanes *)memory + {work};', f'    (void){WORK};',
        '    for (long i = start; i < stop; i += LANES) {', *arrays,
        '        lanes_mask bad = {0}, doubtful;',
        '        const double *row[LANES];', '        long row_of[LANES];', '',
        '        for (int k = 0; k < LANES; ++k)',
        '            row_of[k] = i + k < stop ? i + k : stop - 1;',
        *_read(sizes), *_normalised(quaternions),
        *(f'    {line}' for line in _call(program, trace.inputs)), *_checked(trace),
        *_written(trace), '    }', '}', '',
        f'void {BATCH_SYMBOL}(long count, const double *const *in, const long *strides,',
        '                   double *const *out, unsigned char *flags, double *memory,',
        '                   long threads)', '{',
        f'    batch given = {{0, count, threads, 0, 1, {memory}, in, strides, out, flags,',
        '                   memory};', '', '    share_samples(&given);', '}', '',
        *_numbers(0, memory),
    ]
    return '\n'.join(lines)


def _numbers(pivots: int, memory: int) -> list[str]:
    return [f'const long {NUMBERS_SYMBOL}[2] = {{{pivots}, {memory}}};', '']


def _lanes(most: int) -> list[str]:
    return [f'#define MOST_LANES {most}', _text('lanes.h')]


def _text(name: str) -> str:
    return (RUNTIME / name).read_text(encoding='utf-8')


def _call(program: CProgram, packed: Sequence[Input]) -> list[str]:
    """Return the call of a function whose inputs lie packed in x, and its results in y."""
    places, place = {}, 0
    for each in packed:
        places[each.name] = f'x[{place}]' if each.scalar else f'x + {place}'
        place += len(each.symbols)
    given, place = [places[each.name] for each in program.trace.inputs], 0
    for output in program.trace.outputs:
        given.append(f'y + {place}')
        place += output.size
    given += [WORK] if program.work_size else []
    return wrap(f'{program.trace.name}(', ', '.join(given), ');', '    ', WIDTH)


def _read(sizes: Sequence[int]) -> list[str]:
    """Return the statements that read the inputs of as many samples as there are lanes."""
    lines, place = [], 0
    for number, size in enumerate(sizes):
        lines += [
            '        for (int k = 0; k < LANES; ++k)',
            f'            row[k] = given->in[{number}] + given->strides[{number}] * row_of[k];',
            f'        read_rows(row, {size}, x + {place});',
            f'        bad |= not_finite(x + {place}, {size});',
        ]
        place += size
    return lines


def _normalised(quaternions: Sequence[int]) -> list[str]:
    """Return the statements that bring quaternions to unit length."""
    lines: list[str] = []
    for first in quaternions:
        squares = ' + '.join(f'x[{k}] * x[{k}]' for k in range(first, first + 4))
        lines += [
            '        {', f'            const lanes length = lanes_sqrt({squares});',
            f'            bad |= ~((lanes_mask)(length > {SHORTEST})'
            f' & (lanes_mask)(length < {LONGEST}));',
            f'            for (int j = {first}; j < {first + 4}; ++j)',
            '                x[j] = x[j] / length;', '        }',
        ]
    return lines


def _checked(trace: Trace) -> list[str]:
    """Return the statements that set the flags of samples."""
    total = sum(output.size for output in trace.outputs)
    count = sum(output.size for output in trace.outputs if output.name != PIVOTS)
    lines = [f'        doubtful = not_finite(y, {total});']
    if total > count:
        lines += [
            '        {', f'            lanes least = y[{count}], most = y[{count}];',
            f'            for (int j = {count + 1}; j < {total}; ++j) {{',
            '                least = lanes_select(y[j] < least, y[j], least);',
            '                most = lanes_select(y[j] > most, y[j], most);', '            }',
            f'            doubtful |= ~(lanes_mask)(least > {DOUBTFUL_PIVOT!r} * most);',
            '        }',
        ]
    return [
        *lines,
        '        for (int k = 0; k < LANES && i + k < stop; ++k)',
        '            given->flags[i + k] = 0;',
        '        if (lanes_any(bad | doubtful))',
        '            for (int k = 0; k < LANES && i + k < stop; ++k)',
        '                given->flags[i + k] = (bad[k] ? 1 : 0) | (doubtful[k] ? 2 : 0);',
    ]


def _written(trace: Trace) -> list[str]:
    """Return the statements that write the results, pivots left out."""
    lines, place = [], 0
    for number, output in enumerate(trace.outputs):
        if output.name != PIVOTS:
            lines.append(
                f'        write_rows(y + {place}, {output.size}, given->out[{number}], i, stop);'
            )
        place += output.size
    return lines


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
            # A table, which the exported C defines further down.
            lines += [f'static double {name}(double x);',
                      f'static inline lanes lanes_{name}(lanes x)', '{',
                      f'    return lanes_map({name}, x);', '}', '']
    return lines

# SPDX-License-Identifier: Apache-2.0
"""
C for the compiled backend: the same statements over one sample, or over the lanes of a vector.

Unlike `emit_c`, which writes for people, this writes for the machine: all inputs lie in one
array x and all results in one array y, and sines and cosines are taken several at a time.
`real` is a double or a vector of them (`runtime/lanes.h`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.emitting.batch_loop import batch_loop
from flexdyn_ros.codegen.emitting.batch_loop import ROWS
from flexdyn_ros.codegen.emitting.chunks import Part
from flexdyn_ros.codegen.emitting.chunks import Parts
from flexdyn_ros.codegen.emitting.chunks import split
from flexdyn_ros.codegen.emitting.chunks import Statement
from flexdyn_ros.codegen.emitting.chunks import TEMPORARY
from flexdyn_ros.codegen.emitting.emit_c import helper_functions
from flexdyn_ros.codegen.emitting.emit_x86 import CONDITIONS
from flexdyn_ros.codegen.emitting.emit_x86 import results_of
from flexdyn_ros.codegen.emitting.emit_x86 import x86_call
from flexdyn_ros.codegen.emitting.emit_x86 import X86Call
from flexdyn_ros.codegen.emitting.instruction_order import angles_first
from flexdyn_ros.codegen.emitting.instruction_order import delays_of
from flexdyn_ros.codegen.emitting.instruction_order import is_angle
from flexdyn_ros.codegen.emitting.instruction_order import LateLast
from flexdyn_ros.codegen.emitting.instruction_order import urgent_first
from flexdyn_ros.codegen.emitting.schedule import Schedule
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.emitting.series import closed_form
from flexdyn_ros.codegen.emitting.series import series
from flexdyn_ros.codegen.emitting.series import stumpff_orders
from flexdyn_ros.codegen.emitting.writer import Writer
from flexdyn_ros.codegen.emitting.x86_code import FOUR
from flexdyn_ros.codegen.emitting.x86_code import ONE
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.dynamics.scalar import SERIES_LIMIT
from flexdyn_ros.symbolic.expression import CONSTANT
from flexdyn_ros.symbolic.expression import Expression
from flexdyn_ros.symbolic.expression import SYMBOL
from flexdyn_ros.symbolic.program import ordered

RUNTIME = Path(__file__).resolve().parents[1] / 'runtime'
CALL_SYMBOL = 'flexdyn_call'
# Numbers lie in a table that a pointer to its middle reaches: 16 on either side take an address
# of one byte instead of four. Short code counts: it stays in the caches beside the interpreter's.
MIDDLE, MOST_NUMBERS = 16, 96
# Functions with a version for lanes of their own; others are called lane by lane.
LANE_FUNCTIONS = ('exp', 'tanh')


@dataclass(frozen=True)
class _Kernel:
    """What the emitters share: the program, its parts and where each symbol lies in x."""

    plan: Schedule
    parts: Parts
    writer: Writer
    batch: bool
    numbers: tuple[float, ...]

    @property
    def trace(self) -> Trace:
        """The program with its arguments and results."""
        return self.plan.trace


def emit_call(trace: Trace) -> str:
    """Return C that computes one sample: `void flexdyn_call(const double *x, double *y)`."""
    kernel = _prepare(trace, batch=False)
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
    kernel = _prepare(trace, batch=True)
    return '\n'.join([
        *_head(trace), 'typedef lanes real;', '', *helper_functions(kernel.plan),
        *_lane_functions(kernel.plan), *_evaluate(kernel), ROWS,
        *batch_loop(trace, quaternions), '',
    ])


def _evaluate(kernel: _Kernel) -> list[str]:
    """Return C that defines `evaluate`: with machine code where that is better."""
    width = FOUR if kernel.batch else ONE
    x86 = x86_call(kernel.trace, width)
    portable = [*_table(kernel), *_functions(kernel)]
    if x86 is None:
        return portable
    return [CONDITIONS[width], *_around(kernel, x86), '#else', *portable, '#endif', '']


def _around(kernel: _Kernel, x86: X86Call) -> list[str]:
    """Return C that calls functions, then machine code."""
    lines, calls = [], [f'    real work[{x86.size}];', '']
    count = len(x86.angles)
    if count:
        start = _run_of_inputs(kernel, x86.angles)
        angles = 'angle' if start is None else f'x + {start}'
        if start is None:
            inner = _prepare(results_of(kernel.trace, x86.angles), kernel.batch, table=False)
            lines += [*_functions(inner, 'take_angles'), '']
            calls = [f'    real angle[{count}];', *calls, '    take_angles(x, angle);']
        function = _sincos(kernel, start, count)
        calls.append(f'    {function}({angles}, work, work + {count}, {count});')
    if x86.first is not None:
        inner = _prepare(x86.first, kernel.batch, table=False)
        lines += [*_functions(inner, 'first'), '']
        calls.append(f'    first(x, work + {x86.place});')
    return [
        *lines, *x86.table, *x86.code,
        'static inline void evaluate(const real *x, real *restrict y)', '{', *calls,
        f'    {x86.run}', '}',
    ]


def _prepare(trace: Trace, batch: bool, table: bool = True) -> _Kernel:
    plan = angles_first(urgent_first(schedule(trace, store_calls=True)))
    parts = split(plan)
    symbols = [name for each in trace.inputs for name in each.symbols]
    places = {name: f'x[{k}]' for k, name in enumerate(symbols)}
    names = {**plan.names, **{node: f'work[{k}]' for node, k in parts.shared.items()}}
    function = _lane_name if batch else str
    numbers = () if batch or not table else _frequent_numbers(trace)
    known = {value: f'n[{k - MIDDLE}]' for k, value in enumerate(numbers)}
    writer = LateLast(
        names, places.__getitem__, function, delays_of(trace.program.outputs),
        lambda value: known.get(value) or repr(value),
    )
    return _Kernel(plan, parts, writer, batch, numbers)


def _frequent_numbers(trace: Trace) -> tuple[float, ...]:
    """Return the numbers of a program, frequent ones first, or nothing if they are many."""
    uses = Counter(
        operand.value for node in ordered(trace.program.outputs) for operand in node.operands
        if operand.kind == CONSTANT
    )
    return () if len(uses) > MOST_NUMBERS else tuple(value for value, _ in uses.most_common())


def _table(kernel: _Kernel) -> list[str]:
    """Return the table of numbers."""
    if not kernel.numbers:
        return []
    return [f'static const double numbers[] = {{{", ".join(map(repr, kernel.numbers))}}};', '']


def _head(trace: Trace) -> list[str]:
    text = (RUNTIME / 'lanes.h').read_text(encoding='utf-8')
    return [text, f'/* {len(trace.program.outputs)} results of {trace.name}. */']


def _functions(kernel: _Kernel, name: str = 'evaluate') -> list[str]:
    """Return a function of this name and the parts that it calls."""
    parts = kernel.parts
    if len(parts.parts) == 1:
        return [f'static inline void {name}(const real *x, real *restrict y)', '{',
                *_body(kernel, parts.parts[0]), '}']
    lines: list[str] = []
    arguments = 'const real *x, real *restrict work, real *restrict y'
    for number, part in enumerate(parts.parts):
        lines += [f'static __attribute__((noinline)) void {name}{number}({arguments})', '{',
                  *_body(kernel, part), '}', '']
    lines += [f'static void {name}(const real *x, real *restrict y)', '{',
              f'    real work[{max(len(parts.shared), 1)}];', '']
    lines += [f'    {name}{number}(x, work, y);' for number in range(len(parts.parts))]
    return [*lines, '}']


def _body(kernel: _Kernel, part: Part) -> list[str]:
    offsets = [0]
    for output in kernel.trace.outputs:
        offsets.append(offsets[-1] + output.size)
    lines: list[str] = []
    if kernel.numbers:
        # The compiler must not know where it points, or it writes addresses in full.
        lines += [f'    const double *n = numbers + {MIDDLE};',
                  '    __asm__("" : "+r"(n));']
    angles: list[Statement] = []
    for statement in part.statements:
        if statement.output == TEMPORARY and is_angle(statement.node):
            if all(_is_apart(statement.node, other.node) for other in angles):
                angles.append(statement)
                continue
        lines += _angles(kernel, angles, len(lines))
        angles = []
        if statement.output == TEMPORARY and is_angle(statement.node):
            angles = [statement]
        elif statement.output == TEMPORARY:
            lines.append(_assign(kernel, statement.node, kernel.writer.definition(statement.node)))
        else:
            place = offsets[statement.output] + statement.entry
            lines.append(_result(kernel, statement.node, place))
    return [*lines, *_angles(kernel, angles, len(lines))]


def _is_apart(node: Expression, other: Expression) -> bool:
    """Return whether the argument of a call does not depend on another call's value."""
    return node.operands[0].kind == SYMBOL or other not in ordered((node.operands[0],))


def _assign(kernel: _Kernel, node: Expression, text: str) -> str:
    name = kernel.writer.names[node]
    start = name if node in kernel.parts.shared else f'const real {name}'
    return f'    {start} = {text};'


def _result(kernel: _Kernel, node: Expression, place: int) -> str:
    inner = node.operands[0] if node.operands and len(node.operands) == 1 else node
    constant = not inner.operands and inner.kind != SYMBOL
    # A number has to be spread over the lanes.
    text = kernel.writer.text(node)
    return f'    y[{place}] = {f"(real){{0}} + ({text})" if constant else text};'


def _angles(kernel: _Kernel, found: Sequence[Statement], number: int) -> list[str]:
    """Return the sines and cosines of one place in the program."""
    arguments = list(dict.fromkeys(statement.node.operands[0] for statement in found))
    if not arguments:
        return []
    texts = [
        kernel.writer.text(argument) if argument.kind != SYMBOL or kernel.batch
        else f'fresh(&{kernel.writer.text(argument)})'
        for argument in arguments
    ]
    count = len(arguments)
    s, c = f'sine{number}', f'cosine{number}'
    if kernel.batch:
        lines = [f'    real {s}[{count}], {c}[{count}];']
        lines += [f'    lanes_sincos({text}, {s} + {k}, {c} + {k});'
                  for k, text in enumerate(texts)]
    else:
        start = _run_of_inputs(kernel, arguments)
        angles = f'angle{number}' if start is None else f'x + {start}'
        lines = [f'    double {s}[{count}], {c}[{count}];',
                 f'    {_sincos(kernel, start, count)}({angles}, {s}, {c}, {count});']
        if start is None:
            lines.insert(0, f'    const double {angles}[{count}] = {{{", ".join(texts)}}};')
    for statement in found:
        place = arguments.index(statement.node.operands[0])
        array = s if statement.node.value == 'sin' else c
        lines.append(_assign(kernel, statement.node, f'{array}[{place}]'))
    return lines


def _run_of_inputs(kernel: _Kernel, arguments: Sequence[Expression]) -> Optional[int]:
    """Return where arguments lie in x one after the other."""
    symbols = [name for each in kernel.trace.inputs for name in each.symbols]
    start = symbols.index(arguments[0].value) if arguments[0].kind == SYMBOL else len(symbols)
    names = [argument.value for argument in arguments]
    return start if names == symbols[start : start + len(names)] else None


def _sincos(kernel: _Kernel, start: Optional[int], count: int) -> str:
    """Return the function for sines and cosines of angles that lie in x from there on, if any."""
    if kernel.batch:
        return 'lanes_sincos_all'
    first = 0
    for each in kernel.trace.inputs:
        last = first + len(each.symbols)
        # Each input's pairs end with its last number.
        if start is not None and first <= start < last and start + count <= last:
            return 'sincos_all' if count % 2 or (last - start) % 2 else 'sincos_pairs'
        first = last
    return 'sincos_all'


def _lane_name(function: str) -> str:
    return f'lanes_{function}'


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

# SPDX-License-Identifier: Apache-2.0
"""C functions of a program over one sample or over lanes: `real` is a double or a vector."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.emitting.chunks import Part
from flexdyn_ros.codegen.emitting.chunks import Parts
from flexdyn_ros.codegen.emitting.chunks import split
from flexdyn_ros.codegen.emitting.chunks import Statement
from flexdyn_ros.codegen.emitting.chunks import TEMPORARY
from flexdyn_ros.codegen.emitting.instruction_order import angles_first
from flexdyn_ros.codegen.emitting.instruction_order import delays_of
from flexdyn_ros.codegen.emitting.instruction_order import is_angle
from flexdyn_ros.codegen.emitting.instruction_order import LateLast
from flexdyn_ros.codegen.emitting.instruction_order import urgent_first
from flexdyn_ros.codegen.emitting.schedule import Schedule
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.emitting.writer import Writer
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.symbolic.graph import CONSTANT
from flexdyn_ros.symbolic.graph import Expression
from flexdyn_ros.symbolic.graph import SYMBOL
from flexdyn_ros.symbolic.program import ordered

# Numbers lie in a table that a pointer to its middle reaches: 16 on either side take an address
# of one byte instead of four. Short code counts: it stays in the caches beside the interpreter's.
MIDDLE, MOST_NUMBERS = 16, 96


@dataclass(frozen=True)
class Kernel:
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


def prepare(trace: Trace, batch: bool, table: bool = True) -> Kernel:
    """
    Return a program ready to be written.

    Args:
        trace: The program.
        batch: Whether it is written over lanes.
        table: Whether its numbers lie in a table where they are few.
    """
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
    return Kernel(plan, parts, writer, batch, numbers)


def _frequent_numbers(trace: Trace) -> tuple[float, ...]:
    """Return the numbers of a program, frequent ones first, or nothing if they are many."""
    uses = Counter(
        operand.value for node in ordered(trace.program.outputs) for operand in node.operands
        if operand.kind == CONSTANT
    )
    return () if len(uses) > MOST_NUMBERS else tuple(value for value, _ in uses.most_common())


def table(kernel: Kernel) -> list[str]:
    """Return the table of numbers."""
    if not kernel.numbers:
        return []
    size = max(MIDDLE, len(kernel.numbers))
    text = ', '.join(map(repr, kernel.numbers))
    return [f'static const double numbers[{size}] = {{{text}}};', '']


def functions(kernel: Kernel, name: str = 'evaluate') -> list[str]:
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


def _body(kernel: Kernel, part: Part) -> list[str]:
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


def _assign(kernel: Kernel, node: Expression, text: str) -> str:
    name = kernel.writer.names[node]
    start = name if node in kernel.parts.shared else f'const real {name}'
    return f'    {start} = {text};'


def _result(kernel: Kernel, node: Expression, place: int) -> str:
    inner = node.operands[0] if node.operands and len(node.operands) == 1 else node
    constant = not inner.operands and inner.kind != SYMBOL
    # A number has to be spread over the lanes.
    text = kernel.writer.text(node)
    return f'    y[{place}] = {f"(real){{0}} + ({text})" if constant else text};'


def _angles(kernel: Kernel, found: Sequence[Statement], number: int) -> list[str]:
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
        start = run_of_inputs(kernel, arguments)
        angles = f'angle{number}' if start is None else f'x + {start}'
        lines = [f'    double {s}[{count}], {c}[{count}];',
                 sincos(kernel, start, count, angles, s, c)]
        if start is None:
            lines.insert(0, f'    const double {angles}[{count}] = {{{", ".join(texts)}}};')
    for statement in found:
        place = arguments.index(statement.node.operands[0])
        array = s if statement.node.value == 'sin' else c
        lines.append(_assign(kernel, statement.node, f'{array}[{place}]'))
    return lines


def run_of_inputs(kernel: Kernel, arguments: Sequence[Expression]) -> Optional[int]:
    """Return where arguments lie in x one after the other."""
    symbols = [name for each in kernel.trace.inputs for name in each.symbols]
    start = symbols.index(arguments[0].value) if arguments[0].kind == SYMBOL else len(symbols)
    names = [argument.value for argument in arguments]
    return start if names == symbols[start : start + len(names)] else None


def sincos(
    kernel: Kernel, start: Optional[int], count: int, angles: str, sines: str, cosines: str
) -> str:
    """
    Return a statement that takes sines and cosines.

    Args:
        kernel: The program.
        start: Where the angles lie in x, one after the other; None elsewhere.
        count: How many they are.
        angles: Where they are read.
        sines: Where the sines go.
        cosines: Where the cosines go.
    """
    if kernel.batch:
        return f'    lanes_sincos_all({angles}, {sines}, {cosines}, {count});'
    paired = start is not None and _are_paired(kernel, start, count)
    return f'    sincos_all({angles}, {sines}, {cosines}, {count}, {int(paired)});'


def _are_paired(kernel: Kernel, start: int, count: int) -> bool:
    """Return whether numbers of x were stored in pairs: each input's end with its last number."""
    first = 0
    for each in kernel.trace.inputs:
        last = first + len(each.symbols)
        if first <= start < last:
            return start + count <= last and count % 2 == 0 and (last - start) % 2 == 0
        first = last
    return False


def _lane_name(function: str) -> str:
    return f'lanes_{function}'

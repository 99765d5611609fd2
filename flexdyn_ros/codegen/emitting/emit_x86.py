# SPDX-License-Identifier: Apache-2.0
"""
C with machine code in it: functions that are called first, then straight-line machine code.

The machine code takes four pointers, each to the middle of what it reaches: the arguments, the
results, what the calls gave and what it puts aside, and numbers. Sines and cosines lie first
among what the calls gave: all sines, then all cosines.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from dataclasses import replace
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.emitting.instruction_order import delays_of
from flexdyn_ros.codegen.emitting.instruction_order import is_angle
from flexdyn_ros.codegen.emitting.operation_order import cycles
from flexdyn_ros.codegen.emitting.operation_order import orders
from flexdyn_ros.codegen.emitting.operations import calls_and_before
from flexdyn_ros.codegen.emitting.operations import Operation
from flexdyn_ros.codegen.emitting.operations import operations
from flexdyn_ros.codegen.emitting.operations import Value
from flexdyn_ros.codegen.emitting.x86_code import Code
from flexdyn_ros.codegen.emitting.x86_code import FOUR
from flexdyn_ros.codegen.emitting.x86_code import machine_code
from flexdyn_ros.codegen.emitting.x86_code import ONE
from flexdyn_ros.codegen.emitting.x86_code import Width
from flexdyn_ros.codegen.tracing.interface import Output
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.symbolic.graph import CALL
from flexdyn_ros.symbolic.graph import CONSTANT
from flexdyn_ros.symbolic.graph import Expression
from flexdyn_ros.symbolic.graph import SYMBOL
from flexdyn_ros.symbolic.program import ordered

NAME = 'flexdyn_rest'
# With FLEXDYN_PORTABLE defined, all is C. Wider vectors than four numbers are left to C.
_CONDITION = (
    '#if defined(__x86_64__) && defined(__FMA__) && defined(__ELF__) && '
    '!defined(FLEXDYN_PORTABLE)'
)
CONDITIONS = {ONE: _CONDITION, FOUR: f'{_CONDITION} && LANES == 4'}
# Shorter programs are left to the compiler.
LEAST = 100
# Of all operations, those that calls need first; beyond that, C is as good.
MOST_BEFORE_CALLS = 0.25
# Bytes on either side of a pointer that an address of one byte reaches.
REACH = 128


@dataclass(frozen=True)
class X86Call:
    """
    The pieces of a function.

    Attributes:
        angles: Arguments of sines and cosines, which lie at the start of `work`: all sines,
            then all cosines.
        first: A trace whose results follow them in `work`, or None where there is none.
        place: Where they do.
        table: The table of numbers, C.
        code: The machine code, C.
        size: How many numbers `work` holds.
        run: The statement that runs the code.
    """

    angles: tuple[Expression, ...]
    first: Optional[Trace]
    place: int
    table: tuple[str, ...]
    code: tuple[str, ...]
    size: int
    run: str


def x86_call(trace: Trace, width: Width = ONE, least: int = LEAST) -> Optional[X86Call]:
    """
    Return the pieces, or None where C is better: calls come late, or there is little to do.

    Args:
        trace: The function.
        width: How many samples an instruction handles.
        least: The number of operations from which on it is done.
    """
    outputs = trace.program.outputs
    known = calls_and_before(outputs)
    steps = operations(outputs, known, delays_of(outputs))
    before = sum(node.kind != CALL for node in known)
    if len(steps) < least or before > MOST_BEFORE_CALLS * len(steps):
        return None
    shared = _shared(outputs, known)
    simple = [node for node in shared if is_angle(node) and not _calls(node.operands[0])]
    others = [node for node in shared if node not in set(simple)]
    angles = _angles(trace, simple)
    places = {node: angles.index(node.operands[0]) + (0 if node.value == 'sin' else len(angles))
              for node in simple}
    places.update({node: 2 * len(angles) + k for k, node in enumerate(others)})
    numbers = _numbers(outputs, known)
    code, size = _best_code(trace, steps, places, numbers, width)
    middle = _middle(width)
    return X86Call(
        angles, results_of(trace, others) if others else None, 2 * len(angles),
        _table(numbers, width), _function(code.lines), max(size, middle),
        f'{NAME}(x + {middle}, y + {middle}, work + {middle}, '
        f'(const real *)numbers + {middle});',
    )


def _best_code(
    trace: Trace, steps: Sequence[Operation], places: dict[Expression, int],
    numbers: list[float], width: Width,
) -> tuple[Code, int]:
    """Return the code in the order that takes the least time, and the size of its work array."""
    used = max(places.values(), default=-1) + 1
    addresses = _addresses(trace, places, numbers, width)
    found: list[tuple[float, int, Code]] = []
    for order in orders(steps):
        code = machine_code(
            order, addresses.__getitem__, lambda k: _at(used + k, '%rdx', width),
            lambda k: _at(k, '%rsi', width), _at(0, '%rcx', width), width,
        )
        found.append((cycles(order, code.ends), len(found), code))
    code = min(found)[-1]
    return code, used + code.slots


def _table(numbers: list[float], width: Width) -> tuple[str, ...]:
    """Return the table of numbers, -0.0 first, which changes signs."""
    size = max(_middle(width), len(numbers) + 2)
    padded = [-0.0, *numbers, *[0.0] * (size - 1 - len(numbers))]
    text = ', '.join(', '.join([repr(number)] * width.numbers) for number in padded)
    declared = f'static const double numbers[] __attribute__((aligned({max(16, width.size)})))'
    return (f'{declared} = {{{text}}};', '')


def _angles(trace: Trace, nodes: Sequence[Expression]) -> tuple[Expression, ...]:
    """Return the arguments of calls, inputs in their order first."""
    symbols = [name for each in trace.inputs for name in each.symbols]
    found = dict.fromkeys(node.operands[0] for node in nodes)
    return tuple(sorted(found, key=lambda node: (
        symbols.index(node.value) if node.kind == SYMBOL else len(symbols)
    )))


def _calls(node: Expression) -> bool:
    return any(each.kind == CALL for each in ordered((node,)))


def _addresses(
    trace: Trace, places: dict[Expression, int], numbers: list[float], width: Width
) -> dict[Value, str]:
    """Return where all lies that operations find in memory."""
    inputs = [name for each in trace.inputs for name in each.symbols]
    symbols = {name: _at(k, '%rdi', width) for k, name in enumerate(inputs)}
    constants = {value: _at(k + 1, '%rcx', width) for k, value in enumerate(numbers)}
    found: dict[Value, str] = {}
    for node in ordered(trace.program.outputs):
        if node.kind == SYMBOL:
            found[node] = symbols[node.value]
        elif node.kind == CONSTANT and node.value in constants:
            found[node] = constants[node.value]
    return {**found, **{node: _at(k, '%rdx', width) for node, k in places.items()}}


def _function(lines: list[str]) -> tuple[str, ...]:
    """Return C that declares and defines a function of these instructions."""
    return (
        f'extern __attribute__((visibility("hidden"))) void {NAME}(',
        '    const real *x, real *y, real *work, const real *n);', '__asm__(',
        f'    ".text\\n.p2align 6\\n.globl {NAME}\\n.hidden {NAME}\\n"',
        f'    ".type {NAME}, @function\\n{NAME}:\\n"',
        *(f'    "{line}\\n"' for line in lines),
        f'    "ret\\n.size {NAME}, . - {NAME}\\n");', '',
    )


def _middle(width: Width) -> int:
    return REACH // width.size


def _at(place: int, pointer: str, width: Width) -> str:
    return f'{width.size * (place - _middle(width))}({pointer})'


def _shared(outputs: tuple[Expression, ...], known: frozenset[Expression]) -> list[Expression]:
    """Return the known nodes that others use, the oldest first."""
    users = [node for node in ordered(outputs) if node not in known]
    used = [operand for node in users for operand in node.operands]
    found = {node for node in (*outputs, *used) if node in known}
    return sorted(found, key=lambda node: node.number)


def _numbers(outputs: tuple[Expression, ...], known: frozenset[Expression]) -> list[float]:
    """Return the numbers that are not needed before calls alone, frequent ones first."""
    uses = Counter(
        operand.value for node in ordered(outputs) if node not in known
        for operand in node.operands if operand.kind == CONSTANT
    )
    uses.update(node.value for node in outputs if node.kind == CONSTANT)
    return [value for value, _ in uses.most_common()]


def results_of(trace: Trace, nodes: Sequence[Expression]) -> Trace:
    """Return a trace of the same program that gives these numbers alone."""
    program = replace(trace.program, outputs=tuple(nodes), statements=())
    output = Output('work', (len(nodes),), ('',) * len(nodes))
    return replace(trace, program=program, outputs=(output,))

# SPDX-License-Identifier: Apache-2.0
"""
C with machine code in it: functions that are called first, then straight-line machine code.

The machine code takes four pointers, each to the middle of what it reaches: the arguments, the
results, what the calls gave and what it puts aside, and numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from dataclasses import replace
from typing import Optional

from flexdyn_ros.codegen.emitting.instruction_order import delays_of
from flexdyn_ros.codegen.emitting.operations import calls_and_before
from flexdyn_ros.codegen.emitting.operations import operations
from flexdyn_ros.codegen.emitting.operations import Value
from flexdyn_ros.codegen.emitting.x86_code import machine_code
from flexdyn_ros.codegen.tracing.interface import Output
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.symbolic.expression import CALL
from flexdyn_ros.symbolic.expression import CONSTANT
from flexdyn_ros.symbolic.expression import Expression
from flexdyn_ros.symbolic.expression import SYMBOL
from flexdyn_ros.symbolic.program import ordered

NAME = 'flexdyn_rest'
# With FLEXDYN_PORTABLE defined, all is C.
CONDITION = (
    '#if defined(__x86_64__) && defined(__FMA__) && defined(__ELF__) && !defined(FLEXDYN_PORTABLE)'
)
# Shorter programs are left to the compiler: it knows better what a processor does side by side.
LEAST = 500
# Eight bytes each: so many on either side of a pointer are within the reach of one byte.
MIDDLE = 16
# Of all operations, those that calls need first; beyond that, C is as good.
MOST_BEFORE_CALLS = 0.25


@dataclass(frozen=True)
class X86Call:
    """
    The pieces of a function of one sample.

    Attributes:
        first: A trace whose results the machine code takes, or None where it needs none.
        table: The table of numbers, C.
        code: The machine code, C.
        call: Statements that evaluate the first trace, if any, and then run the code.
    """

    first: Optional[Trace]
    table: tuple[str, ...]
    code: tuple[str, ...]
    call: tuple[str, ...]


def x86_call(trace: Trace, least: int = LEAST) -> Optional[X86Call]:
    """
    Return the pieces, or None where C is better: calls come late, or there is little to do.

    Args:
        trace: The function.
        least: The number of operations from which on it is done.
    """
    outputs = trace.program.outputs
    known = calls_and_before(outputs)
    steps = operations(outputs, known, delays_of(outputs))
    before = sum(node.kind != CALL for node in known)
    if len(steps) < least or before > MOST_BEFORE_CALLS * len(steps):
        return None
    shared, numbers = _shared(outputs, known), _numbers(outputs, known)
    lines, slots = machine_code(
        steps, _addresses(trace, shared, numbers).__getitem__,
        lambda k: _at(len(shared) + k, '%rdx'), lambda k: _at(k, '%rsi'), _at(0, '%rcx'),
    )
    size = max(MIDDLE, len(numbers) + 2)
    text = ', '.join(map(repr, [-0.0, *numbers, *[0.0] * (size - 1 - len(numbers))]))
    return X86Call(
        _trace_of(trace, shared) if shared else None,
        (f'static const double numbers[] = {{{text}}};', ''), _function(lines),
        (
            f'    double work[{max(MIDDLE, len(shared) + slots)}];', '',
            *(['    evaluate(x, work);'] if shared else []),
            f'    {NAME}(x + {MIDDLE}, y + {MIDDLE}, work + {MIDDLE}, numbers + {MIDDLE});',
        ),
    )


def _addresses(trace: Trace, shared: list[Expression], numbers: list[float]) -> dict[Value, str]:
    """Return where all lies that operations find in memory."""
    inputs = [name for each in trace.inputs for name in each.symbols]
    symbols = {name: _at(k, '%rdi') for k, name in enumerate(inputs)}
    constants = {value: _at(k + 1, '%rcx') for k, value in enumerate(numbers)}
    found: dict[Value, str] = {}
    for node in ordered(trace.program.outputs):
        if node.kind == SYMBOL:
            found[node] = symbols[node.value]
        elif node.kind == CONSTANT and node.value in constants:
            found[node] = constants[node.value]
    return {**found, **{node: _at(k, '%rdx') for k, node in enumerate(shared)}}


def _function(lines: list[str]) -> tuple[str, ...]:
    """Return C that declares and defines a function of these instructions."""
    return (
        f'extern __attribute__((visibility("hidden"))) void {NAME}(',
        '    const double *x, double *y, double *work, const double *n);', '__asm__(',
        f'    ".text\\n.p2align 6\\n.globl {NAME}\\n.hidden {NAME}\\n"',
        f'    ".type {NAME}, @function\\n{NAME}:\\n"',
        *(f'    "{line}\\n"' for line in lines),
        f'    "ret\\n.size {NAME}, . - {NAME}\\n");', '',
    )


def _at(place: int, pointer: str) -> str:
    return f'{8 * (place - MIDDLE)}({pointer})'


def _shared(outputs: tuple[Expression, ...], known: frozenset[Expression]) -> list[Expression]:
    """Return the known nodes that others use: calls of one function side by side."""
    users = [node for node in ordered(outputs) if node not in known]
    used = [operand for node in users for operand in node.operands]
    found = {node for node in (*outputs, *used) if node in known}
    return sorted(
        found, key=lambda node: (str(node.value) if node.kind == CALL else '', node.number)
    )


def _numbers(outputs: tuple[Expression, ...], known: frozenset[Expression]) -> list[float]:
    """Return the numbers that are not needed before calls alone, frequent ones first."""
    uses = Counter(
        operand.value for node in ordered(outputs) if node not in known
        for operand in node.operands if operand.kind == CONSTANT
    )
    uses.update(node.value for node in outputs if node.kind == CONSTANT)
    return [value for value, _ in uses.most_common()]


def _trace_of(trace: Trace, nodes: list[Expression]) -> Trace:
    """Return a trace with these results."""
    program = replace(trace.program, outputs=tuple(nodes), statements=())
    output = Output('work', (len(nodes),), ('',) * len(nodes))
    return replace(trace, program=program, outputs=(output,))

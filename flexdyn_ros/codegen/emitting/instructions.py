# SPDX-License-Identifier: Apache-2.0
"""
A program as an array of instructions on registers, for `runtime/interpreter.h`.

Registers are the inputs, the results, the constants and the temporaries, in this order;
temporaries share registers as variables of generated Python do (`registers.py`). Making it takes
no compiler, and it depends on no machine but for the order of bytes.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import groupby
import json
from math import factorial

from flexdyn_ros.codegen.emitting.batch_loop import PIVOTS
from flexdyn_ros.codegen.emitting.instruction_runs import in_runs
from flexdyn_ros.codegen.emitting.lowering import INPUT
from flexdyn_ros.codegen.emitting.lowering import Lowered
from flexdyn_ros.codegen.emitting.lowering import lowered
from flexdyn_ros.codegen.emitting.lowering import NUMBER
from flexdyn_ros.codegen.emitting.lowering import Operation
from flexdyn_ros.codegen.emitting.lowering import OPERATIONS
from flexdyn_ros.codegen.emitting.lowering import RESULT
from flexdyn_ros.codegen.emitting.lowering import Value
from flexdyn_ros.codegen.emitting.registers import registers_of
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.emitting.series import series_coefficients
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.dynamics.scalar import PiecewisePolynomial
from flexdyn_ros.dynamics.scalar import SERIES_LIMIT
from flexdyn_ros.symbolic.passes.identities import PREFIX

NUMBERS = {name: number for number, (name, _, _) in enumerate(OPERATIONS)}
# Of 32 bits, which every platform of numpy has.
WORD = next(code for code in 'IL' if array(code).itemsize == 4)

# Operation that calls it, sizes and numbers; see `numeric_function` in runtime/interpreter.h.
NumericFunction = tuple[int, tuple[int, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Instructions:
    """
    A program that can be interpreted.

    Attributes:
        code: Words of 32 bits: runs of instructions, see `runtime/interpreter.h`.
        registers: How many registers it takes.
        inputs: How many of them are inputs.
        results: How many are results, pivots included.
        pivots: How many of these, at the end, are pivots.
        constants: Numbers in registers of their own.
        functions: Functions with numbers of their own.
    """

    code: bytes
    registers: int
    inputs: int
    results: int
    pivots: int
    constants: tuple[float, ...]
    functions: tuple[NumericFunction, ...]

    def to_bytes(self) -> bytes:
        """Return what `from_bytes` reads."""
        head = (
            self.registers, self.inputs, self.results, self.pivots, self.constants, self.functions,
        )
        return json.dumps(head).encode() + b'\n' + self.code

    @staticmethod
    def from_bytes(content: bytes) -> Instructions:
        """Return the instructions that `to_bytes` wrote."""
        head, _, code = content.partition(b'\n')
        registers, inputs, results, pivots, constants, functions = json.loads(head)
        return Instructions(code, registers, inputs, results, pivots, tuple(constants), tuple(
            (operation, tuple(sizes), tuple(numbers)) for operation, sizes, numbers in functions
        ))


def instructions_of(trace: Trace) -> Instructions:
    """
    Return a program as instructions that give the bits of generated Python.

    Raises:
        ValueError: If the program calls a function that no instruction knows.
    """
    program = lowered(schedule(trace))
    operations, constants, registers, count = _placed(program)
    names = sorted({each.function for each in operations if each.function})
    code = array(WORD)
    for name, run in groupby(operations, lambda operation: operation.name):
        members = list(run)
        code.extend((NUMBERS[name], len(members)))
        for each in members:
            code.append(registers[each.result])
            code.extend(registers[read] for read in each.reads)
            if each.function:
                code.append(names.index(each.function))
    code.extend((NUMBERS['end'], 0))
    tables = trace.program.graph.tables
    return Instructions(
        code.tobytes(), count, program.n_inputs, len(program.outputs),
        sum(each.size for each in trace.outputs if each.name == PIVOTS),
        tuple(float(each.text) for each in constants),
        tuple(_piecewise(tables[name]) if name in tables else _stumpff(name) for name in names),
    )


def _placed(
    program: Lowered,
) -> tuple[list[Operation], list[Value], dict[Value, int], int]:
    """Return all operations in order, the constants, each value's register, and how many."""
    operations = in_runs(program.operations)
    # A result is written where it belongs; others are copied there: repeated ones and inputs.
    homes: dict[Value, int] = {}
    number = len(operations)
    for place, value in enumerate(program.outputs, program.n_inputs):
        if value.kind == RESULT and value not in homes:
            homes[value] = place
        else:
            operations.append(Operation('copy', Value(RESULT, number), (value,)))
            homes[Value(RESULT, number)] = place
            number += 1
    reads = [each.reads for each in operations]
    constants = list(dict.fromkeys(x for each in reads for x in each if x.kind == NUMBER))
    registers: dict[Value, int] = {
        value: value.place for each in reads for value in each if value.kind == INPUT
    }
    start = program.n_inputs + len(program.outputs)
    registers.update((constant, start + k) for k, constant in enumerate(constants))
    registers.update(homes)
    start += len(constants)
    inner = [each.result for each in operations if each.result not in homes]
    shared = registers_of(inner, *_reads_between(operations, homes))
    registers.update((value, start + k) for value, k in shared.items())
    return operations, constants, registers, start + len(set(shared.values()))


def _reads_between(
    operations: list[Operation], homes: dict[Value, int]
) -> tuple[list[list[Value]], list[Value]]:
    """
    Return what is read before each result without a home, and what is read after the last.

    What is read for results with a home counts for the next one without: until then nothing else
    is written to its register.
    """
    found: list[list[Value]] = []
    since: list[Value] = []
    for each in operations:
        since += each.reads
        if each.result not in homes:
            found.append(since)
            since = []
    return found, since


def _stumpff(name: str) -> NumericFunction:
    """Return Stumpff's function as `series.py` writes it."""
    order = int(name[len(PREFIX):])
    terms = series_coefficients(order)
    steps = [1.0 / factorial(k) for k in range(order % 2, order, 2)]
    sizes = (order % 2, len(terms), len(steps))
    return NUMBERS['stumpff'], sizes, (SERIES_LIMIT, *terms, *steps)


def _piecewise(table: PiecewisePolynomial) -> NumericFunction:
    numbers = [*table.knots]
    for place, piece in enumerate(table.pieces):
        numbers += (table.origin(place), *piece)
    return NUMBERS['piecewise'], tuple(map(len, table.pieces)), tuple(numbers)

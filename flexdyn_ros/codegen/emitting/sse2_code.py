# SPDX-License-Identifier: Apache-2.0
"""
Machine code for every x86-64, made without a compiler, that gives the bits of generated Python.

Each operation is one of SSE2's with its own rounding; sines, cosines, exponentials and hyperbolic
tangents are calls of the functions that Python's math module calls. Where Python raises an error
(a division by zero, an exponential that overflows) the first result is not a number.

There is code for one sample, and code for two side by side in a loop over samples.
"""

from __future__ import annotations

from dataclasses import dataclass
import json
from typing import Sequence

from flexdyn_ros.codegen.emitting.batch_loop import PIVOTS
from flexdyn_ros.codegen.emitting.instruction_order import angles_first
from flexdyn_ros.codegen.emitting.lowering import lowered
from flexdyn_ros.codegen.emitting.numbers_table import MIDDLE
from flexdyn_ros.codegen.emitting.numbers_table import NumbersTable
from flexdyn_ros.codegen.emitting.numbers_table import POINTER
from flexdyn_ros.codegen.emitting.plain_steps import plain_steps
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.emitting.sse2_assignment import Body
from flexdyn_ros.codegen.emitting.sse2_assignment import INPUTS
from flexdyn_ros.codegen.emitting.sse2_assignment import REACH
from flexdyn_ros.codegen.emitting.sse2_assignment import RESULTS
from flexdyn_ros.codegen.emitting.sse2_assignment import SLOTS
from flexdyn_ros.codegen.emitting.sse2_batch import BatchLoop
from flexdyn_ros.codegen.emitting.sse2_lanes import body_of
from flexdyn_ros.codegen.emitting.x86_encoding import Encoder
from flexdyn_ros.codegen.emitting.x86_encoding import Memory
from flexdyn_ros.codegen.emitting.x86_encoding import RDI
from flexdyn_ros.codegen.emitting.x86_encoding import RSI
from flexdyn_ros.codegen.emitting.x86_encoding import RSP
from flexdyn_ros.codegen.tracing.interface import Trace

# Registers that a function gives back as it found them.
KEPT = (INPUTS, SLOTS, POINTER, RESULTS)


@dataclass(frozen=True)
class MachineCode:
    """
    Code that can be loaded anywhere.

    Attributes:
        content: A table of numbers, and the code; the addresses of `numbers_table.FUNCTIONS`
            belong at its start.
        entry: Where the code begins.
        pivots: How many pivots follow the results.
    """

    content: bytes
    entry: int
    pivots: int

    def to_bytes(self) -> bytes:
        """Return what `from_bytes` reads."""
        head = (self.entry, self.pivots, len(self.content))
        return json.dumps(head).encode() + b'\n' + self.content

    @staticmethod
    def from_bytes(content: bytes) -> MachineCode:
        """
        Return the code that `to_bytes` wrote.

        Raises:
            ValueError: If it is something else.
        """
        head, _, code = content.partition(b'\n')
        entry, pivots, length = map(int, json.loads(head))
        if len(code) != length or not 0 <= entry < length or pivots < 0:
            raise ValueError('this is no machine code')
        return MachineCode(code, entry, pivots)


def machine_code_of(trace: Trace) -> MachineCode:
    """
    Return a program of one sample as machine code that gives the bits of generated Python.

    It is a function `void f(const double *x, double *y)`.

    Raises:
        ValueError: If the program calls a function that no operation knows.
    """
    body, numbers = _body(trace, 1)
    table, code = numbers.bytes(), Encoder()
    _prologue(code, body, len(table))
    return _finished(trace, table, code, body)


def batch_code_of(trace: Trace, quaternions: Sequence[int] = ()) -> MachineCode:
    """
    Return a program over samples, two at a time, with the bits of one at a time.

    It is a function as `emit_kernel.emit_batch` writes it.

    Args:
        trace: The program.
        quaternions: Where quaternions start in the first input.

    Raises:
        ValueError: If the program calls a function that no operation knows.
    """
    body, numbers = _body(trace, 2)
    code = Encoder()
    loop = BatchLoop(trace, quaternions, numbers, code)
    table = numbers.bytes()
    loop.write(len(table))
    code.mark('function')
    _prologue(code, body, len(table))
    return _finished(trace, table, code, body)


def _body(trace: Trace, lanes: int) -> tuple[Body, NumbersTable]:
    program = lowered(angles_first(schedule(trace)))
    steps = plain_steps(program)
    numbers = NumbersTable(steps, lanes)
    tables = trace.program.graph.tables
    return body_of(steps, len(program.outputs), numbers, tables, lanes), numbers


def _finished(trace: Trace, table: bytes, code: Encoder, body: Body) -> MachineCode:
    pivots = sum(each.size for each in trace.outputs if each.name == PIVOTS)
    return MachineCode(table + code.finished() + body.code, len(table), pivots)


def _prologue(code: Encoder, body: Body, table: int) -> None:
    """Write what comes before the body; the table ends where the code begins."""
    for register in KEPT:
        code.push(register)
    code.take_frame(body.frame)
    code.address(Memory(RSP, REACH), SLOTS)
    code.address(Memory(RDI, REACH), INPUTS)
    code.address(Memory(RSI, REACH), RESULTS)
    code.address_of_code(MIDDLE - table, POINTER)

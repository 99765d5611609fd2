# SPDX-License-Identifier: Apache-2.0
"""
Machine code for every x86-64, made without a compiler, that gives the bits of generated Python.

Each operation is one of SSE2's with its own rounding; sines, cosines, exponentials and hyperbolic
tangents are calls of the functions that Python's math module calls. Where Python raises an error
(a division by zero, an exponential that overflows) the first result is not a number.

There is code for one sample, and code for two side by side, which loops over pairs of samples.
"""

from __future__ import annotations

from dataclasses import dataclass
import json

from flexdyn_ros.codegen.emitting.batch_loop import PIVOTS
from flexdyn_ros.codegen.emitting.instruction_order import angles_first
from flexdyn_ros.codegen.emitting.lowering import lowered
from flexdyn_ros.codegen.emitting.numbers_table import ALIGNMENT
from flexdyn_ros.codegen.emitting.numbers_table import MIDDLE
from flexdyn_ros.codegen.emitting.numbers_table import NumbersTable
from flexdyn_ros.codegen.emitting.numbers_table import POINTER
from flexdyn_ros.codegen.emitting.plain_steps import plain_steps
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.emitting.sse2_assignment import Body
from flexdyn_ros.codegen.emitting.sse2_assignment import body_of
from flexdyn_ros.codegen.emitting.sse2_assignment import INPUTS
from flexdyn_ros.codegen.emitting.sse2_assignment import REACH
from flexdyn_ros.codegen.emitting.sse2_assignment import RESULTS
from flexdyn_ros.codegen.emitting.sse2_assignment import SLOTS
from flexdyn_ros.codegen.emitting.x86_encoding import Encoder
from flexdyn_ros.codegen.emitting.x86_encoding import Memory
from flexdyn_ros.codegen.emitting.x86_encoding import R12
from flexdyn_ros.codegen.emitting.x86_encoding import R15
from flexdyn_ros.codegen.emitting.x86_encoding import RBX
from flexdyn_ros.codegen.emitting.x86_encoding import RDI
from flexdyn_ros.codegen.emitting.x86_encoding import RDX
from flexdyn_ros.codegen.emitting.x86_encoding import RSI
from flexdyn_ros.codegen.emitting.x86_encoding import RSP
from flexdyn_ros.codegen.tracing.interface import Trace

# Registers that a function gives back as it found them.
KEPT = (INPUTS, SLOTS, POINTER, RESULTS)
KEPT_BY_LOOP = (R12, RBX, R15)
# A frame is touched page by page, so that a stack that is too small is noticed.
PAGE = 4096


@dataclass(frozen=True)
class MachineCode:
    """
    Code that can be loaded anywhere.

    Attributes:
        content: A table of numbers, and the code; the addresses of `numbers_table.FUNCTIONS`
            belong at its start.
        entry: Where the code begins. For one sample it is `void f(const double *x, double *y)`,
            for pairs `void f(long count, const double *x, double *y)`, count not 0, with the
            samples of a pair side by side and x and y on multiples of 16 bytes.
        inputs: How many numbers a sample has.
        results: How many results, pivots included.
        pivots: How many of these, at the end, are pivots.
    """

    content: bytes
    entry: int
    inputs: int
    results: int
    pivots: int

    def to_bytes(self) -> bytes:
        """Return what `from_bytes` reads."""
        head = (self.entry, self.inputs, self.results, self.pivots, len(self.content))
        return json.dumps(head).encode() + b'\n' + self.content

    @staticmethod
    def from_bytes(content: bytes) -> MachineCode:
        """
        Return the code that `to_bytes` wrote.

        Raises:
            ValueError: If it is something else.
        """
        head, _, code = content.partition(b'\n')
        entry, inputs, results, pivots, length = map(int, json.loads(head))
        if len(code) != length or not 0 <= entry < length or min(inputs, results, pivots) < 0:
            raise ValueError('this is no machine code')
        return MachineCode(code, entry, inputs, results, pivots)


def machine_code_of(trace: Trace, lanes: int = 1) -> MachineCode:
    """
    Return a program as machine code that gives the bits of generated Python.

    Args:
        trace: The program.
        lanes: 1, or 2 for pairs of samples.

    Raises:
        ValueError: If the program calls a function that no operation knows.
    """
    program = lowered(angles_first(schedule(trace)))
    steps = plain_steps(program)
    numbers = NumbersTable(steps, lanes)
    body = body_of(steps, len(program.outputs), numbers, trace.program.graph.tables, lanes)
    table, code = numbers.bytes(), Encoder()
    sizes = program.n_inputs, len(program.outputs)
    if lanes > 1:
        _loop(code, sizes[0] * 8 * lanes, sizes[1] * 8 * lanes)
    code.mark('function')
    _prologue(code, body, len(table))
    return MachineCode(
        table + code.finished() + body.code, len(table), *sizes,
        sum(each.size for each in trace.outputs if each.name == PIVOTS),
    )


def _prologue(code: Encoder, body: Body, table: int) -> None:
    """Write what comes before the body; the table ends where the code begins."""
    for register in KEPT:
        code.push(register)
    code.add_to(RSP, -body.frame)
    for offset in range(body.frame // PAGE * PAGE, 0, -PAGE):
        code.touch(Memory(RSP, offset))
    code.address(Memory(RSP, REACH), SLOTS)
    code.address(Memory(RDI, REACH), INPUTS)
    code.address(Memory(RSI, REACH), RESULTS)
    code.address_of_code(MIDDLE - table, POINTER)


def _loop(code: Encoder, inputs: int, results: int) -> None:
    """Write a loop over samples that calls the function for each; see MachineCode.entry."""
    for register in KEPT_BY_LOOP:
        code.push(register)
    for source, target in zip((RDI, RSI, RDX), KEPT_BY_LOOP):
        code.address(Memory(source, 0), target)
    count, x, y = KEPT_BY_LOOP
    code.mark('next')
    code.address(Memory(x, 0), RDI)
    code.address(Memory(y, 0), RSI)
    code.call('function')
    code.add_to(x, inputs)
    code.add_to(y, results)
    code.add_to(count, -1)
    code.jump_if('jne', 'next')
    for register in reversed(KEPT_BY_LOOP):
        code.pop(register)
    code.back()
    code.code += bytes(-len(code.code) % ALIGNMENT)

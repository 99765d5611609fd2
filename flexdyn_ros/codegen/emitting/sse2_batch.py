# SPDX-License-Identifier: Apache-2.0
"""
The loop over samples of a batch in machine code: two at a time, each in its half of a register.

It does what `batch_loop.py` writes in C: inputs of two samples side by side, checks, quaternions
brought to unit length, the function, and its results and flags.
"""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.codegen.emitting.batch_loop import DOUBTFUL_PIVOT
from flexdyn_ros.codegen.emitting.batch_loop import input_sizes
from flexdyn_ros.codegen.emitting.batch_loop import LONGEST
from flexdyn_ros.codegen.emitting.batch_loop import PIVOTS
from flexdyn_ros.codegen.emitting.batch_loop import SHORTEST
from flexdyn_ros.codegen.emitting.numbers_table import MIDDLE
from flexdyn_ros.codegen.emitting.numbers_table import NumbersTable
from flexdyn_ros.codegen.emitting.x86_encoding import ARGUMENTS
from flexdyn_ros.codegen.emitting.x86_encoding import Encoder
from flexdyn_ros.codegen.emitting.x86_encoding import Memory
from flexdyn_ros.codegen.emitting.x86_encoding import PAIR
from flexdyn_ros.codegen.emitting.x86_encoding import R11
from flexdyn_ros.codegen.emitting.x86_encoding import R12
from flexdyn_ros.codegen.emitting.x86_encoding import R13
from flexdyn_ros.codegen.emitting.x86_encoding import R14
from flexdyn_ros.codegen.emitting.x86_encoding import R15
from flexdyn_ros.codegen.emitting.x86_encoding import RAX
from flexdyn_ros.codegen.emitting.x86_encoding import RBP
from flexdyn_ros.codegen.emitting.x86_encoding import RBX
from flexdyn_ros.codegen.emitting.x86_encoding import RCX
from flexdyn_ros.codegen.emitting.x86_encoding import RDI
from flexdyn_ros.codegen.emitting.x86_encoding import RDX
from flexdyn_ros.codegen.emitting.x86_encoding import RSI
from flexdyn_ros.codegen.emitting.x86_encoding import RSP
from flexdyn_ros.codegen.tracing.interface import Trace

# Eight times the number of the first sample and of the end; arrays of pointers and strides; the
# flag of the first sample.
FIRST, STOP, INPUTS, STRIDES, RESULTS, FLAGS = KEPT = R12, R13, R14, R15, RBX, RBP
# Other registers: eight times the second sample's number, and where both samples' numbers lie.
SECOND, ONE, OTHER, TABLE = RSI, RCX, RDX, R11
# Registers for numbers: what is not a number where something is wrong, and all ones.
WRONG, ONES = 15, 14
# Doubles with the bits of the integers 1 and 2.
BAD, DOUBTFUL = 5e-324, 1e-323
NUMBERS = (BAD, DOUBTFUL, SHORTEST, LONGEST, DOUBTFUL_PIVOT)
# Bytes of a pair of numbers, and before the inputs in the frame: what is wrong with them, flags.
SIZE, HEAD = 16, 32


class BatchLoop:
    """Writes the loop around a function of pairs."""

    def __init__(
        self, trace: Trace, quaternions: Sequence[int], numbers: NumbersTable, code: Encoder
    ):
        """
        Prepare.

        Args:
            trace: The function.
            quaternions: Where quaternions start in the first input.
            numbers: The table of numbers, which gets some more.
            code: Where to; the label "function" is that of the function.
        """
        self._sizes = input_sizes(trace)
        self._results = [each.size for each in trace.outputs if each.name != PIVOTS]
        self._n_y = sum(each.size for each in trace.outputs)
        self._quaternions, self._code = tuple(quaternions), code
        # Where numbers lie, from where TABLE points.
        self._offsets = {value: numbers.number(value).offset for value in NUMBERS}
        self._y = HEAD + SIZE * sum(self._sizes)
        # With what is pushed and the address to return to, a multiple of 16.
        self._frame = self._y + SIZE * self._n_y + 8

    def write(self, table: int) -> None:
        """
        Write `void f(start, stop, in, strides, out, flags)`, as `runtime/kernel.c` calls it.

        Args:
            table: Size of the table of numbers, which ends where the code begins.
        """
        code = self._code
        for register in KEPT:
            code.push(register)
        code.take_frame(self._frame)
        code.add_register(RDI, ARGUMENTS[5])
        for source, target in zip(ARGUMENTS, KEPT):
            code.address(Memory(source, 0), target)
        code.shift_left(FIRST, 3)
        code.shift_left(STOP, 3)
        code.mark('next pair')
        code.address_of_code(MIDDLE - table, TABLE)
        self._read_inputs()
        code.address(Memory(RSP, HEAD), RDI)
        code.address(Memory(RSP, self._y), RSI)
        code.call('function')
        code.address_of_code(MIDDLE - table, TABLE)
        self._check_results()
        self._write_results()
        code.add_to(FLAGS, 2)
        code.add_to(FIRST, SIZE)
        code.compare_registers(FIRST, STOP)
        code.jump_if('jl', 'next pair')
        code.add_to(RSP, self._frame)
        for register in reversed(KEPT):
            code.pop(register)
        code.back()

    def _number(self, value: float) -> Memory:
        return Memory(TABLE, self._offsets[value])

    def _nothing_wrong(self) -> None:
        self._code.pairs('xorpd', WRONG, WRONG)
        self._code.pairs('xorpd', ONES, ONES)
        self._code.compare('equal', ONES, ONES)

    def _check_finite(self, register: int) -> None:
        """Note where a register is not finite; the next register changes."""
        self._code.pairs('movapd', register, register + 1)
        self._code.arithmetic('sub', register, register + 1, PAIR)
        self._code.arithmetic('add', register + 1, WRONG, PAIR)

    def _need(self, register: int) -> None:
        """Note where a register is not all ones."""
        self._code.pairs('andnpd', ONES, register)
        self._code.pairs('orpd', register, WRONG)

    def _read_inputs(self) -> None:
        """Bring inputs to the frame; a last sample without a partner is its own."""
        code = self._code
        self._nothing_wrong()
        code.address(Memory(FIRST, 8), SECOND)
        code.compare_registers(SECOND, STOP)
        code.jump_if('jl', 'two samples')
        code.address(Memory(FIRST, 0), SECOND)
        code.mark('two samples')
        place = HEAD
        for number, size in enumerate(self._sizes):
            for sample, target in ((FIRST, ONE), (SECOND, OTHER)):
                code.address(Memory(sample, 0), target)
                code.multiply_from(Memory(STRIDES, 8 * number), target)
                code.add_from(Memory(INPUTS, 8 * number), target)
            for k in range(size):
                code.load(Memory(ONE, 8 * k), 0)
                code.load_high(Memory(OTHER, 8 * k), 0)
                code.store_pair(0, Memory(RSP, place))
                self._check_finite(0)
                place += SIZE
        for first in self._quaternions:
            self._normalise([Memory(RSP, HEAD + SIZE * (first + k)) for k in range(4)])
        code.store_pair(WRONG, Memory(RSP, 0))

    def _normalise(self, parts: list[Memory]) -> None:
        """Bring a quaternion to unit length; note where it is far from it."""
        code = self._code
        for k, part in enumerate(parts):
            code.pairs('movapd', part, 1)
            code.arithmetic('mul', 1, 1, PAIR)
            if k:
                code.arithmetic('add', 1, 0, PAIR)
            else:
                code.pairs('movapd', 1, 0)
        code.arithmetic('sqrt', 0, 0, PAIR)
        code.pairs('movapd', self._number(SHORTEST), 1)
        code.compare('less', 0, 1)
        self._need(1)
        code.pairs('movapd', 0, 1)
        code.compare('less', self._number(LONGEST), 1)
        self._need(1)
        for part in parts:
            code.pairs('movapd', part, 1)
            code.arithmetic('div', 0, 1, PAIR)
            code.store_pair(1, part)

    def _check_results(self) -> None:
        """Make the flags of both samples."""
        code = self._code
        self._nothing_wrong()
        for k in range(self._n_y):
            code.pairs('movapd', Memory(RSP, self._y + SIZE * k), 0)
            self._check_finite(0)
        first = sum(self._results)
        if first < self._n_y:
            pivots = [Memory(RSP, self._y + SIZE * k) for k in range(first, self._n_y)]
            for name, register in (('min', 2), ('max', 3)):
                code.pairs('movapd', pivots[0], register)
                for pivot in pivots[1:]:
                    code.arithmetic(name, pivot, register, PAIR)
            code.arithmetic('mul', self._number(DOUBTFUL_PIVOT), 3, PAIR)
            code.compare('less', 2, 3)
            self._need(3)
        code.pairs('movapd', Memory(RSP, 0), 0)
        for register, flag in ((0, BAD), (WRONG, DOUBTFUL)):
            code.compare('unordered', register, register)
            code.pairs('andpd', self._number(flag), register)
        code.pairs('orpd', WRONG, 0)
        code.store_pair(0, Memory(RSP, 16))

    def _write_results(self) -> None:
        """Bring results and flags to where they belong; a pair may have one sample only."""
        code = self._code
        code.address(Memory(FIRST, 8), SECOND)
        code.compare_registers(SECOND, STOP)
        code.jump_if('jl', 'store two')
        self._store((0,))
        code.jump('stored')
        code.mark('store two')
        self._store((0, 1))
        code.mark('stored')

    def _store(self, samples: tuple[int, ...]) -> None:
        code, place = self._code, self._y
        for number, size in enumerate(self._results):
            code.multiply(FIRST, size, ONE)
            code.add_from(Memory(RESULTS, 8 * number), ONE)
            for k in range(size):
                code.pairs('movapd', Memory(RSP, place), 0)
                for sample in samples:
                    store = code.store_high if sample else code.store
                    store(0, Memory(ONE, 8 * (size * sample + k)))
                place += SIZE
        for sample in samples:
            code.load_byte(Memory(RSP, 16 + 8 * sample), RAX)
            code.store_byte(RAX, Memory(FLAGS, sample))

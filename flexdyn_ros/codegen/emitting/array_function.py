# SPDX-License-Identifier: Apache-2.0
"""
Machine code that Python calls as a function of its own, with numpy arrays.

It is what `runtime/direct_call.h` is where there is an extension: it reads vectors out of arrays,
calls a function `void f(const double *x, double *y)` and writes the results into arrays. Whatever
is not plain (another type, a wrong shape, a value that is not finite, doubtful results) it leaves
alone, and says so.

Sources: the layout of PyArrayObject_fields in numpy's ndarraytypes.h, which is part of numpy's
binary interface; METH_FASTCALL in the Python/C API reference.
"""

from __future__ import annotations

from math import prod
import struct
from typing import NamedTuple

from flexdyn_ros.codegen.emitting.batch_loop import LONGEST
from flexdyn_ros.codegen.emitting.batch_loop import SHORTEST
from flexdyn_ros.codegen.emitting.x86_encoding import Encoder
from flexdyn_ros.codegen.emitting.x86_encoding import Memory
from flexdyn_ros.codegen.emitting.x86_encoding import Place
from flexdyn_ros.codegen.emitting.x86_encoding import R12
from flexdyn_ros.codegen.emitting.x86_encoding import R14
from flexdyn_ros.codegen.emitting.x86_encoding import RAX
from flexdyn_ros.codegen.emitting.x86_encoding import RBX
from flexdyn_ros.codegen.emitting.x86_encoding import RCX
from flexdyn_ros.codegen.emitting.x86_encoding import RDI
from flexdyn_ros.codegen.emitting.x86_encoding import RDX
from flexdyn_ros.codegen.emitting.x86_encoding import RSI
from flexdyn_ros.codegen.emitting.x86_encoding import RSP

# Where fields of objects and arrays lie [bytes].
TYPE, DATA, RANK, DIMENSIONS, STRIDES, DESCRIPTOR, FLAGS = 8, 16, 24, 32, 40, 56, 64
# Bits of an array's flags: rows one after the other, on multiples of eight bytes, writeable.
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
# The table before the code, in this order: addresses, then numbers.
ADDRESSES = ('function', 'increment', 'array type', 'double type', 'true', 'false')
NUMBERS = ('shortest', 'longest', 'doubtful')
TABLE = 128
# Registers that keep their values during calls: the table, the arguments, the constants.
POINTER, ARGUMENTS, CONSTANTS = KEPT = RBX, R12, R14
REFUSED, DONE = 'refused', 'done'


class ArrayFunction(NamedTuple):
    """
    What a function takes and gives.

    Attributes:
        sizes: Of its vectors, packed into x.
        constants: How many numbers follow them in x.
        shapes: Of its results, packed into y, at most two dimensions each.
        pivots: Number of pivots that follow them in y.
        quaternions: Where quaternions start in the first vector.
    """

    sizes: tuple[int, ...]
    constants: int
    shapes: tuple[tuple[int, ...], ...]
    pivots: int
    quaternions: tuple[int, ...]


def array_function_code(function: ArrayFunction) -> bytes:
    """
    Return code behind a table that `with_table` fills; it begins at TABLE.

    It is a `PyObject *f(PyObject *constants, PyObject *const *arguments, Py_ssize_t count)`. The
    constants are an array, or anything where there are none. The arguments are the vectors, and
    then as many arrays for the results. It returns True if it has written them, else False.
    """
    return bytes(TABLE) + _Writer(function).written()


def with_table(code: bytes, addresses: dict[str, int], doubtful: float) -> bytes:
    """
    Return code with its table filled in.

    Args:
        code: What `array_function_code` returned.
        addresses: By the names in ADDRESSES.
        doubtful: Least ratio of pivots that makes a result sound.
    """
    table = struct.pack(
        f'<{len(ADDRESSES)}Q3d', *(addresses[name] for name in ADDRESSES),
        SHORTEST, LONGEST, doubtful,
    )
    return table + code[len(table):]


def _in_table(name: str) -> Memory:
    return Memory(POINTER, 8 * (*ADDRESSES, *NUMBERS).index(name))


class _Writer:
    """Writes the code of one function."""

    def __init__(self, function: ArrayFunction):
        self._function, self._code, self._labels = function, Encoder(), 0
        self._x = sum(function.sizes) + function.constants
        self._results = sum(map(prod, function.shapes))
        self._y = self._results + function.pivots
        # With the registers kept and the address of return, the stack stands on 16 bytes.
        self._frame = -(-8 * (self._x + self._y) // 16) * 16

    def written(self) -> bytes:
        """Return all of it."""
        code, function = self._code, self._function
        self._enter()
        for k, size in enumerate(function.sizes):
            self._need_array(k, (size,))
            if size > 1:
                code.load_register(Memory(RAX, STRIDES), RCX)
                code.compare_number(Memory(RCX, 0), 8)
                code.jump_if('jne', REFUSED)
            code.load_register(Memory(RAX, DATA), RSI)
            self._copy(size, sum(function.sizes[:k]), checked=True)
        for k, shape in enumerate(function.shapes, len(function.sizes)):
            self._need_array(k, shape)
            for flag in (CONTIGUOUS, ALIGNED, WRITEABLE):
                code.test_short(Memory(RAX, FLAGS), flag)
                code.jump_if('je', REFUSED)
        self._need_finite()
        self._normalise()
        self._compute()
        self._deliver()
        self._leave()
        return code.finished()

    def _enter(self) -> None:
        code = self._code
        for register in KEPT:
            code.push(register)
        code.take_frame(self._frame)
        code.address_of_code(-TABLE, POINTER)
        code.address(Memory(RSI, 0), ARGUMENTS)
        code.address(Memory(RDI, 0), CONSTANTS)
        code.add_to(RDX, -len(self._function.sizes) - len(self._function.shapes))
        code.jump_if('jne', REFUSED)
        self._begin_check()

    def _leave(self) -> None:
        code = self._code
        code.load_register(_in_table('true'), ARGUMENTS)
        code.jump(DONE)
        code.mark(REFUSED)
        code.load_register(_in_table('false'), ARGUMENTS)
        code.mark(DONE)
        code.address(Memory(ARGUMENTS, 0), RDI)
        code.call_address_at(_in_table('increment'))
        code.address(Memory(ARGUMENTS, 0), RAX)
        code.add_to(RSP, self._frame)
        for register in reversed(KEPT):
            code.pop(register)
        code.back()

    def _need_array(self, k: int, shape: tuple[int, ...]) -> None:
        """Refuse an argument unless it is an array of doubles of this shape; RAX points to it."""
        code = self._code
        code.load_register(Memory(ARGUMENTS, 8 * k), RAX)
        for name, field in (('array type', TYPE), ('double type', DESCRIPTOR)):
            # An object of another type may be too small for the field that is looked at next.
            code.load_register(_in_table(name), RCX)
            code.compare_from(Memory(RAX, field), RCX)
            code.jump_if('jne', REFUSED)
        code.compare_short(Memory(RAX, RANK), len(shape))
        code.jump_if('jne', REFUSED)
        if shape:
            code.load_register(Memory(RAX, DIMENSIONS), RCX)
        for axis, size in enumerate(shape):
            code.compare_number(Memory(RCX, 8 * axis), size)
            code.jump_if('jne', REFUSED)

    def _begin_check(self) -> None:
        """Begin a sum of zero times each number, which is zero if all are finite."""
        self._code.pairs('xorpd', 1, 1)
        self._code.pairs('xorpd', 2, 2)

    def _need_finite(self) -> None:
        self._code.pairs('ucomisd', 1, 1)
        self._code.jump_if('jp', REFUSED)

    def _copy(self, count: int, place: int, checked: bool = False) -> None:
        """Copy numbers from where RSI points to a place of the frame."""
        self._code.address(Memory(RSP, 8 * place), RDI)
        self._each(count, moves=True, checked=checked)

    def _each(self, count: int, moves: bool = False, checked: bool = False) -> None:
        """Copy numbers from RSI to RDI, or add them to the check, or both; RSI moves on."""
        if not count:
            return
        code, loop = self._code, self._label()
        code.address(Memory(RSI, 8 * count), RDX)
        code.mark(loop)
        code.load(Memory(RSI, 0), 0)
        code.add_to(RSI, 8)
        if moves:
            code.store(0, Memory(RDI, 0))
            code.add_to(RDI, 8)
        if checked:
            code.arithmetic('mul', 2, 0)
            code.arithmetic('add', 0, 1)
        code.compare_registers(RSI, RDX)
        code.jump_if('jne', loop)

    def _normalise(self) -> None:
        """Bring quaternions to unit length, in the order of the reference; refuse others."""
        code = self._code
        for start in self._function.quaternions:
            parts = [Memory(RSP, 8 * (start + k)) for k in range(4)]
            code.load(parts[0], 3)
            code.arithmetic('mul', 3, 3)
            for part in parts[1:]:
                code.load(part, 0)
                code.arithmetic('mul', 0, 0)
                code.arithmetic('add', 0, 3)
            code.arithmetic('sqrt', 3, 3)
            self._need_above(_in_table('shortest'), 3)
            code.load(_in_table('longest'), 0)
            self._need_above(3, 0)
            for part in parts:
                code.load(part, 0)
                code.arithmetic('div', 3, 0)
                code.store(0, part)

    def _need_above(self, limit: Place, register: int) -> None:
        """Refuse a number that is not above a limit."""
        above = self._label()
        self._code.pairs('ucomisd', limit, register)
        self._code.jump_if('ja', above)
        self._code.jump(REFUSED)
        self._code.mark(above)

    def _label(self) -> str:
        self._labels += 1
        return f'label {self._labels}'

    def _compute(self) -> None:
        """Call the function, and refuse doubtful results."""
        code, function = self._code, self._function
        if function.constants:
            code.load_register(Memory(CONSTANTS, DATA), RSI)
            self._copy(function.constants, sum(function.sizes))
        code.address(Memory(RSP, 0), RDI)
        code.address(Memory(RSP, 8 * self._x), RSI)
        code.call_address_at(_in_table('function'))
        self._begin_check()
        code.address(Memory(RSP, 8 * self._x), RSI)
        self._each(self._y, checked=True)
        self._need_finite()
        pivots = [Memory(RSP, 8 * (self._x + k)) for k in range(self._results, self._y)]
        if pivots:
            code.load(pivots[0], 3)
            code.pairs('movapd', 3, 4)
            for pivot in pivots[1:]:
                code.load(pivot, 0)
                code.arithmetic('min', 0, 3)
                code.arithmetic('max', 0, 4)
            code.arithmetic('mul', _in_table('doubtful'), 4)
            self._need_above(4, 3)

    def _deliver(self) -> None:
        """Copy the results into their arrays."""
        code, function = self._code, self._function
        code.address(Memory(RSP, 8 * self._x), RSI)
        for k, shape in enumerate(function.shapes, len(function.sizes)):
            code.load_register(Memory(ARGUMENTS, 8 * k), RAX)
            code.load_register(Memory(RAX, DATA), RDI)
            self._each(prod(shape), moves=True)

# SPDX-License-Identifier: Apache-2.0
"""
Machine code of straight-line operations for x86-64 with fused products (AVX2, FMA).

One number at a time, or four of them side by side.

Compilers make long straight-line code slowly, and long: they keep what does not fit into
registers at addresses of four bytes, and load what an operation could read. Beside Python's
interpreter, whose loop takes much of the cache of decoded instructions, length is what counts.
Here everything in memory is read where it is used, and all of it lies within one byte's reach of
four pointers where it can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable
from typing import Sequence

from flexdyn_ros.codegen.emitting.operations import DIVIDE
from flexdyn_ros.codegen.emitting.operations import FUSED
from flexdyn_ros.codegen.emitting.operations import NEGATE
from flexdyn_ros.codegen.emitting.operations import Operation
from flexdyn_ros.codegen.emitting.operations import STORE
from flexdyn_ros.codegen.emitting.operations import SUBTRACT
from flexdyn_ros.codegen.emitting.operations import Value
from flexdyn_ros.codegen.emitting.register_assignment import NEVER
from flexdyn_ros.codegen.emitting.register_assignment import RegisterAssignment


@dataclass(frozen=True)
class Width:
    """
    How many numbers an instruction handles.

    Attributes:
        numbers: How many.
        register: What registers are called.
        kind: The end of the names of operations.
        move: The name of loads and stores.
    """

    numbers: int
    register: str
    kind: str
    move: str

    @property
    def size(self) -> int:
        """Bytes of a value."""
        return 8 * self.numbers


ONE = Width(1, 'xmm', 'sd', 'movsd')
FOUR = Width(4, 'ymm', 'pd', 'movapd')


@dataclass(frozen=True)
class Code:
    """
    Straight-line code.

    Attributes:
        lines: Instructions (AT&T syntax).
        slots: How many slots they use for what they put aside.
        ends: Place of the last instruction of each operation.
    """

    lines: list[str]
    slots: int
    ends: list[int]


def machine_code(
    steps: Sequence[Operation],
    address: Callable[[Value], str],
    slot: Callable[[int], str],
    result: Callable[[int], str],
    sign: str,
    width: Width = ONE,
) -> Code:
    """
    Return instructions for operations.

    Args:
        steps: What to do.
        address: Where a value lies that is in memory from the start.
        slot: The address of a slot.
        result: The address of an output.
        sign: The address of -0.0.
        width: Of instructions; more than one number lies where its size divides the address.
    """
    code = _FusedCode(steps, address, slot, result, sign, width)
    slots = code.assign()
    return Code(code.lines, slots, code.ends)


class _FusedCode(RegisterAssignment[str]):
    """Instructions as text."""

    def __init__(
        self, steps: Sequence[Operation], address: Callable[[Value], str],
        slot: Callable[[int], str], result: Callable[[int], str], sign: str, width: Width,
    ):
        super().__init__(steps, address, slot)
        self._result, self._sign, self._width = result, sign, width
        self.lines: list[str] = []
        self.ends: list[int] = []

    def _write_step(self, step: Operation) -> None:
        if step.kind == STORE:
            self._store(step)
        elif step.kind in FUSED:
            self._fused(step)
        elif step.kind == NEGATE:
            self._negate(step)
        else:
            self._binary(step)
        self.ends.append(len(self.lines) - 1)

    def _move(self, source: str, target: str) -> None:
        self._write(self._width.move, source, target)

    def _named(self, register: int) -> str:
        return f'%{self._width.register}{register}'

    def _write(self, name: str, *operands: str) -> None:
        self.lines.append(f'v{name} {", ".join(operands)}')

    def _store(self, step: Operation) -> None:
        value = step.operands[0]
        self._load(value, ())
        self._write(self._width.move, self._place(value), self._result(step.result))

    def _negate(self, step: Operation) -> None:
        value = step.operands[0]
        self._load(value, ())
        source = self._place(value)
        self._release(step.operands)
        register = self._allocate(())
        self._write('xorpd', self._sign, source, self._named(register))
        self._take(step, register)

    def _binary(self, step: Operation) -> None:
        """Write an operation of two values, the second of which may be in memory."""
        first, second = step.operands
        if step.kind not in (SUBTRACT, DIVIDE) and first not in self._register:
            if second in self._register or self._next_use(second) < self._next_use(first):
                first, second = second, first
        self._load(first, step.operands)
        texts = self._place(second), self._place(first)
        self._release(step.operands)
        register = self._allocate(())
        self._write(f'{step.kind}{self._width.kind}', *texts, self._named(register))
        self._take(step, register)

    def _fused(self, step: Operation) -> None:
        """
        Write a product and a sum.

        The result takes the place of one of the three values; one of the others may be in memory.
        """
        a, b, c = step.operands
        apart = [value for value in dict.fromkeys(step.operands) if value not in self._register]
        apart.sort(key=self._next_use)
        must = 0 if len(set(step.operands)) == 3 else len(apart)
        for value in apart[:max(must, len(apart) - 1)]:
            self._load(value, step.operands)
        lost, register = self._destination(step)
        texts = {value: self._place(value) for value in step.operands}
        taken = self._named(register)
        if lost == c:
            if texts[a].startswith('%'):
                a, b = b, a
            order, reads = '231', (texts[a], texts[b])
        else:
            if lost == b:
                a, b = b, a
            if a == b:
                texts[b] = taken
            if texts[b].startswith('%'):
                order, reads = '213', (texts[c], texts[b])
            else:
                order, reads = '132', (texts[b], texts[c])
        self._release(step.operands)
        self._drop(register)
        self._write(f'{step.kind}{order}{self._width.kind}', *reads, taken)
        self._take(step, register)

    def _destination(self, step: Operation) -> tuple[Value, int]:
        """Return the value that the result replaces, and the register with it, or a copy."""
        held = [value for value in dict.fromkeys(step.operands) if value in self._register]
        lost = max(held, key=lambda value: (
            self._next_use(value) == NEVER, self._in_memory(value), self._next_use(value)
        ))
        if self._next_use(lost) == NEVER or self._in_memory(lost):
            return lost, self._register[lost]
        apart = [value for value in step.operands if value not in self._register]
        if apart:
            self._load(apart[0], step.operands)
            return apart[0], self._register[apart[0]]
        lost = step.operands[2]
        source = self._place(lost)
        register = self._allocate(step.operands)
        self._write('movapd', source, self._named(register))
        return lost, register

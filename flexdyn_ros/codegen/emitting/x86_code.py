# SPDX-License-Identifier: Apache-2.0
"""
Machine code of straight-line operations for x86-64 with fused products (AVX2, FMA).

Compilers make long straight-line code slowly, and long: they keep what does not fit into
registers at addresses of four bytes, and load what an operation could read. Beside Python's
interpreter, whose loop takes much of the cache of decoded instructions, length is what counts.
Here a register is given to the value that is needed soonest (Belady 1966, "A study of replacement
algorithms", IBM Systems Journal 5), everything in memory is read where it is used, and all of it
lies within one byte's reach of four pointers where it can.
"""

from __future__ import annotations

from heapq import heappop
from heapq import heappush
from typing import Callable
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.emitting.operations import DIVIDE
from flexdyn_ros.codegen.emitting.operations import FUSED
from flexdyn_ros.codegen.emitting.operations import NEGATE
from flexdyn_ros.codegen.emitting.operations import Operation
from flexdyn_ros.codegen.emitting.operations import STORE
from flexdyn_ros.codegen.emitting.operations import SUBTRACT
from flexdyn_ros.codegen.emitting.operations import Value

REGISTERS = 16
NEVER = 1 << 60


def machine_code(
    steps: Sequence[Operation],
    address: Callable[[Value], str],
    slot: Callable[[int], str],
    result: Callable[[int], str],
    sign: str,
) -> tuple[list[str], int]:
    """
    Return instructions (AT&T syntax), and how many slots they use for what they put aside.

    Args:
        steps: What to do.
        address: Where a value lies that is in memory from the start.
        slot: The address of a slot.
        result: The address of an output.
        sign: The address of -0.0.
    """
    return _Assignment(steps, address, slot, result, sign).run()


class _Assignment:
    """Goes through the operations and gives registers and slots to their values."""

    def __init__(
        self, steps: Sequence[Operation], address: Callable[[Value], str],
        slot: Callable[[int], str], result: Callable[[int], str], sign: str,
    ):
        self._steps, self._address, self._slot_text = steps, address, slot
        self._result, self._sign = result, sign
        self._lines: list[str] = []
        self._holds: list[Optional[Value]] = [None] * REGISTERS
        self._register: dict[Value, int] = {}
        self._slots: dict[Value, int] = {}
        self._free_slots: list[int] = []
        self._n_slots = 0
        self._uses: dict[Value, list[int]] = {}
        for place in range(len(steps) - 1, -1, -1):
            for operand in dict.fromkeys(steps[place].operands):
                self._uses.setdefault(operand, []).append(place)

    def run(self) -> tuple[list[str], int]:
        """Return the instructions and the number of slots."""
        for step in self._steps:
            for operand in dict.fromkeys(step.operands):
                self._uses[operand].pop()  # from now on: the uses after this one
            if step.kind == STORE:
                self._store(step)
            elif step.kind in FUSED:
                self._fused(step)
            elif step.kind == NEGATE:
                self._negate(step)
            else:
                self._binary(step)
            for operand in dict.fromkeys(step.operands):
                self._forget_unused(operand)
        return self._lines, self._n_slots

    def _next_use(self, value: Value) -> int:
        uses = self._uses.get(value)
        return uses[-1] if uses else NEVER

    def _in_memory(self, value: Value) -> bool:
        return not isinstance(value, int) or value in self._slots

    def _memory(self, value: Value) -> str:
        if isinstance(value, int):
            return self._slot_text(self._slots[value])
        return self._address(value)

    def _text(self, value: Value) -> str:
        """Return how an instruction reads a value: in its register, else in memory."""
        register = self._register.get(value)
        return self._memory(value) if register is None else f'%xmm{register}'

    def _write(self, name: str, *operands: str) -> None:
        self._lines.append(f'v{name} {", ".join(operands)}')

    def _drop(self, register: int) -> None:
        value = self._holds[register]
        if value is not None:
            del self._register[value]
            self._holds[register] = None

    def _forget_unused(self, value: Value) -> None:
        if self._next_use(value) != NEVER:
            return
        if value in self._register:
            self._drop(self._register[value])
        if isinstance(value, int) and value in self._slots:
            heappush(self._free_slots, self._slots.pop(value))

    def _allocate(self, kept: Sequence[Value]) -> int:
        """Return a register that holds nothing; what these values hold stays."""
        for register, value in enumerate(self._holds):
            if value is None:
                return register
        candidates = [
            (self._next_use(value), self._in_memory(value), -register, register)
            for register, value in enumerate(self._holds)
            if value is not None and value not in kept
        ]
        register = max(candidates)[-1]
        value = self._holds[register]
        assert value is not None
        if not self._in_memory(value) and self._next_use(value) != NEVER:
            # The lowest one: addresses near the middle are short.
            number = heappop(self._free_slots) if self._free_slots else self._n_slots
            self._n_slots = max(self._n_slots, number + 1)
            assert isinstance(value, int)
            self._slots[value] = number
            self._write('movsd', f'%xmm{register}', self._slot_text(number))
        self._drop(register)
        return register

    def _hold(self, value: Value, register: int) -> None:
        self._holds[register] = value
        self._register[value] = register

    def _load(self, value: Value, kept: Sequence[Value]) -> None:
        """Bring a value into a register."""
        if value not in self._register:
            register = self._allocate(kept)
            self._write('movsd', self._memory(value), f'%xmm{register}')
            self._hold(value, register)

    def _take(self, step: Operation, register: int) -> None:
        """Let a register hold an operation's result."""
        if self._uses.get(step.result):
            self._hold(step.result, register)

    def _release(self, values: Sequence[Value]) -> None:
        """Free the registers of values that nothing needs any more."""
        for value in dict.fromkeys(values):
            if self._next_use(value) == NEVER and value in self._register:
                self._drop(self._register[value])

    def _store(self, step: Operation) -> None:
        value = step.operands[0]
        self._load(value, ())
        self._write('movsd', self._text(value), self._result(step.result))

    def _negate(self, step: Operation) -> None:
        value = step.operands[0]
        self._load(value, ())
        source = self._text(value)
        self._release(step.operands)
        register = self._allocate(())
        self._write('xorpd', self._sign, source, f'%xmm{register}')
        self._take(step, register)

    def _binary(self, step: Operation) -> None:
        """Write an operation of two values, the second of which may be in memory."""
        first, second = step.operands
        if step.kind not in (SUBTRACT, DIVIDE) and first not in self._register:
            if second in self._register or self._next_use(second) < self._next_use(first):
                first, second = second, first
        self._load(first, step.operands)
        texts = self._text(second), self._text(first)
        self._release(step.operands)
        register = self._allocate(())
        self._write(f'{step.kind}sd', *texts, f'%xmm{register}')
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
        texts = {value: self._text(value) for value in step.operands}
        taken = f'%xmm{register}'
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
        self._write(f'{step.kind}{order}sd', *reads, taken)
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
        source = self._text(lost)
        register = self._allocate(step.operands)
        self._write('movapd', source, f'%xmm{register}')
        return lost, register

# SPDX-License-Identifier: Apache-2.0
"""
Values of straight-line code given to a processor's registers.

A register is given to the value that is needed soonest (Belady 1966, "A study of replacement
algorithms", IBM Systems Journal 5); what has to give way is put aside in a slot, unless it lies in
memory anyway. How instructions are written, as text or as bytes, is left to those who inherit it.
"""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from heapq import heappop
from heapq import heappush
from typing import Callable
from typing import Generic
from typing import Optional
from typing import Sequence
from typing import TypeVar

from flexdyn_ros.codegen.emitting.operations import Operation
from flexdyn_ros.codegen.emitting.operations import Value

REGISTERS = 16
NEVER = 1 << 60
# How an instruction names a register or what lies in memory.
Place = TypeVar('Place')


class RegisterAssignment(ABC, Generic[Place]):
    """Goes through operations and gives registers and slots to their values."""

    def __init__(
        self, steps: Sequence[Operation], address: Callable[[Value], Place],
        slot: Callable[[int], Place],
    ):
        """
        Prepare.

        Args:
            steps: What to do.
            address: Where a value lies that is in memory from the start.
            slot: Where a slot lies.
        """
        self._steps, self._address, self._slot = steps, address, slot
        self._holds: list[Optional[Value]] = [None] * REGISTERS
        self._register: dict[Value, int] = {}
        self._slots: dict[Value, int] = {}
        self._free_slots: list[int] = []
        self._n_slots = 0
        self._uses: dict[Value, list[int]] = {}
        for place in range(len(steps) - 1, -1, -1):
            for operand in dict.fromkeys(steps[place].operands):
                self._uses.setdefault(operand, []).append(place)

    def assign(self) -> int:
        """Write all instructions; return how many slots they use."""
        for step in self._steps:
            operands = tuple(dict.fromkeys(step.operands))
            for operand in operands:
                self._uses[operand].pop()  # from now on: the uses after this one
            self._write_step(step)
            for operand in operands:
                self._forget_unused(operand)
        return self._n_slots

    @abstractmethod
    def _write_step(self, step: Operation) -> None:
        """Write the instructions of one operation."""

    @abstractmethod
    def _move(self, source: Place, target: Place) -> None:
        """Write an instruction that copies a number; one of the places is a register."""

    @abstractmethod
    def _named(self, register: int) -> Place:
        """Return how an instruction names a register."""

    def _next_use(self, value: Value) -> int:
        uses = self._uses.get(value)
        return uses[-1] if uses else NEVER

    def _in_memory(self, value: Value) -> bool:
        return not isinstance(value, int) or value in self._slots

    def _memory(self, value: Value) -> Place:
        return self._slot(self._slots[value]) if isinstance(value, int) else self._address(value)

    def _place(self, value: Value) -> Place:
        """Return where an instruction reads a value: in its register, else in memory."""
        register = self._register.get(value)
        return self._memory(value) if register is None else self._named(register)

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
        self._put_aside(register)
        return register

    def _put_aside(self, register: int) -> None:
        """Free a register; a value that is still needed goes to a slot unless it is in memory."""
        value = self._holds[register]
        if value is None:
            return
        if not self._in_memory(value) and self._next_use(value) != NEVER:
            # The lowest one: addresses near the middle are short.
            number = heappop(self._free_slots) if self._free_slots else self._n_slots
            self._n_slots = max(self._n_slots, number + 1)
            self._slots[value] = number
            self._move(self._named(register), self._slot(number))
        self._drop(register)

    def _hold(self, value: Value, register: int) -> None:
        self._holds[register] = value
        self._register[value] = register

    def _load(self, value: Value, kept: Sequence[Value]) -> None:
        """Bring a value into a register."""
        if value not in self._register:
            register = self._allocate(kept)
            self._move(self._memory(value), self._named(register))
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

# SPDX-License-Identifier: Apache-2.0
"""
The body of a function in machine code of SSE2: steps with two operands, and calls.

An operation's result takes the place of its first value. Calls may change every register, so
that what is needed later lies in slots of the stack then.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Mapping
from typing import NamedTuple
from typing import Sequence

from flexdyn_ros.codegen.emitting import lowering
from flexdyn_ros.codegen.emitting.lowering import INPUT
from flexdyn_ros.codegen.emitting.lowering import NUMBER
from flexdyn_ros.codegen.emitting.numbers_table import fixed_place
from flexdyn_ros.codegen.emitting.numbers_table import FUNCTIONS
from flexdyn_ros.codegen.emitting.numbers_table import NumbersTable
from flexdyn_ros.codegen.emitting.numbers_table import POINTER
from flexdyn_ros.codegen.emitting.numbers_table import SIGN
from flexdyn_ros.codegen.emitting.operations import ADD
from flexdyn_ros.codegen.emitting.operations import DIVIDE
from flexdyn_ros.codegen.emitting.operations import MULTIPLY
from flexdyn_ros.codegen.emitting.operations import NEGATE
from flexdyn_ros.codegen.emitting.operations import Operation
from flexdyn_ros.codegen.emitting.operations import STORE
from flexdyn_ros.codegen.emitting.operations import SUBTRACT
from flexdyn_ros.codegen.emitting.operations import Value
from flexdyn_ros.codegen.emitting.register_assignment import NEVER
from flexdyn_ros.codegen.emitting.register_assignment import RegisterAssignment
from flexdyn_ros.codegen.emitting.register_assignment import REGISTERS
from flexdyn_ros.codegen.emitting.x86_encoding import Encoder
from flexdyn_ros.codegen.emitting.x86_encoding import Memory
from flexdyn_ros.codegen.emitting.x86_encoding import Place
from flexdyn_ros.codegen.emitting.x86_encoding import R14
from flexdyn_ros.codegen.emitting.x86_encoding import RBP
from flexdyn_ros.codegen.emitting.x86_encoding import RBX
from flexdyn_ros.codegen.emitting.x86_encoding import RSP
from flexdyn_ros.codegen.emitting.x86_functions import encode_piecewise
from flexdyn_ros.codegen.emitting.x86_functions import encode_stumpff
from flexdyn_ros.dynamics.scalar import PiecewisePolynomial
from flexdyn_ros.symbolic.passes.identities import PREFIX

# They point REACH bytes into the inputs, the slots and the results: what one byte can add.
INPUTS, SLOTS, RESULTS = RBX, RBP, R14
REACH = 128
ARITHMETIC = frozenset((ADD, SUBTRACT, MULTIPLY, DIVIDE))


class Body(NamedTuple):
    """
    Instructions.

    Attributes:
        code: Their bytes, returning included.
        frame: What they take of the stack [bytes].
    """

    code: bytes
    frame: int


class StraightCode(RegisterAssignment[Place]):
    """
    Instructions of steps, for one sample or several.

    Attributes:
        size: Bytes of a number, of each sample one.
        prefix: Of the instructions that compute.
        own_slots: Slots before those of values.
    """

    size: int
    prefix: int
    own_slots: int

    def __init__(self, steps: Sequence[Operation], numbers: NumbersTable):
        super().__init__(steps, self._given, self._slot_place)
        self._numbers = numbers
        self._code = Encoder()
        self._functions = {
            name: fixed_place(8 * place) for place, name in enumerate(FUNCTIONS)
        }
        self._called: list[str] = []

    def body(self, results: int, tables: Mapping[str, PiecewisePolynomial]) -> Body:
        """Return all instructions."""
        self._begin()
        slots = self.assign() + self.own_slots
        frame = slots * self.size // 16 * 16 + 24  # with what was pushed, a multiple of 16
        self._end(results, frame)
        for name in self._called:
            if name in tables:
                encode_piecewise(self._code, name, tables[name], self._numbers.number)
            elif name.startswith(PREFIX):
                encode_stumpff(self._code, name, int(name[len(PREFIX):]), self._numbers.number,
                               self._functions)
            else:
                raise ValueError(f'no machine code calls the function "{name}"')
        return Body(self._code.finished(), frame)

    def _begin(self) -> None:
        """Write what comes before the steps."""

    def _end(self, results: int, frame: int) -> None:
        """Write what comes after the steps."""
        self._code.add_to(RSP, frame)
        for register in (RESULTS, POINTER, SLOTS, INPUTS):
            self._code.pop(register)
        self._code.back()

    def _given(self, value: Value) -> Place:
        assert isinstance(value, lowering.Value)
        if value.kind == INPUT:
            return Memory(INPUTS, self.size * value.place - REACH)
        return self._numbers.value(value)

    def _slot_place(self, slot: int) -> Memory:
        return Memory(SLOTS, self.size * (slot + self.own_slots) - REACH)

    def _own_slot(self, slot: int) -> Memory:
        return Memory(SLOTS, self.size * slot - REACH)

    def _named(self, register: int) -> Place:
        return register

    def _write_step(self, step: Operation) -> None:
        if step.kind == STORE:
            self._load(step.operands[0], ())
            target = Memory(RESULTS, self.size * step.result - REACH)
            self._move(self._register[step.operands[0]], target)
        elif step.kind == NEGATE:
            register = self._first(step.operands[0], ())
            self._code.pairs('xorpd', fixed_place(SIGN), register)
            self._take(step, register)
        elif step.kind in ARITHMETIC:
            self._binary(step)
        else:
            self._call(step)

    def _binary(self, step: Operation) -> None:
        """Write an operation of two values, the second of which may be in memory."""
        first, second = step.operands
        if step.kind == DIVIDE and not _is_number(second):
            self._load(second, step.operands)
            self._check_zero(self._register[second], step.operands)
        if step.kind in (ADD, MULTIPLY) and self._worth(second) > self._worth(first):
            first, second = second, first
        register = self._first(first, step.operands)
        source = register if first == second else self._place(second)
        self._code.arithmetic(step.kind, source, register, self.prefix)
        self._release(step.operands)
        self._take(step, register)

    def _worth(self, value: Value) -> int:
        """Return how good a value is as the one whose place the result takes."""
        if value not in self._register:
            return 1
        return 2 if self._next_use(value) == NEVER else 0

    def _first(self, value: Value, kept: Sequence[Value]) -> int:
        """Return a register with a value that may change, and that holds it no more."""
        register = self._register.get(value)
        if register is not None and self._next_use(value) == NEVER:
            self._drop(register)
            return register
        source = self._place(value)
        register = self._allocate((value, *kept))
        self._move(source, register)
        return register

    def _call(self, step: Operation) -> None:
        """Write a call; its argument and its result are in the first register."""
        argument = step.operands[0]
        for register in range(REGISTERS):
            value = self._holds[register]
            if value is not None and value != argument:
                self._put_aside(register)
        if argument not in self._register or self._next_use(argument) == NEVER:
            source = self._place(argument)
        else:
            source = self._register[argument]
            self._put_aside(source)
        if argument in self._register:
            self._drop(self._register[argument])
        if source != 0:
            self._move(source, 0)
        if step.kind not in FUNCTIONS and step.kind not in self._called:
            self._called.append(step.kind)
        self._call_all(step.kind)
        self._take(step, 0)

    def _call_one(self, function: str) -> None:
        """Write the call of a function of one number."""
        if function in FUNCTIONS:
            self._code.call_address_at(self._functions[function])
        else:
            self._code.call(function)

    @abstractmethod
    def _call_all(self, function: str) -> None:
        """Write the calls of a function for all samples."""

    @abstractmethod
    def _check_zero(self, register: int, kept: Sequence[Value]) -> None:
        """Write what finds out whether a divisor is zero."""


def _is_number(value: Value) -> bool:
    """Return whether it is a number other than zero."""
    return (isinstance(value, lowering.Value) and value.kind == NUMBER
            and float(value.text) != 0.0)

# SPDX-License-Identifier: Apache-2.0
"""
The table before machine code: addresses of functions, signs, limits, and a program's numbers.

A register points into it so that the numbers that are read most often have short addresses.
"""

from __future__ import annotations

from collections import Counter
import struct
import sys
from typing import Iterable

from flexdyn_ros.codegen.emitting.lowering import NUMBER
from flexdyn_ros.codegen.emitting.lowering import Value
from flexdyn_ros.codegen.emitting.operations import Operation
from flexdyn_ros.codegen.emitting.x86_encoding import Memory
from flexdyn_ros.codegen.emitting.x86_encoding import R13

# Whose addresses come first, eight bytes each, filled in where the code is loaded.
FUNCTIONS = ('sin', 'cos', 'exp', 'tanh')
# What follows, each number twice, on multiples of 16 bytes.
SIGN, ZERO, LARGEST, NOT_A_NUMBER = range(32, 96, 16)
START = 96
# Where the register points to: so many bytes on either side have short addresses.
MIDDLE = START + 128
POINTER = R13
ALIGNMENT = 64


class NumbersTable:
    """Gives places to numbers."""

    def __init__(self, steps: Iterable[Operation], lanes: int):
        """
        Take the numbers that steps read, frequent ones first.

        Args:
            steps: A program.
            lanes: How often each number stands there, one after the other.
        """
        self._size = 8 * lanes
        self._lanes = lanes
        self._places: dict[str, int] = {}
        uses = Counter(
            operand.text for step in steps for operand in step.operands
            if isinstance(operand, Value) and operand.kind == NUMBER
        )
        for text, _ in uses.most_common():
            self._place(text)

    def number(self, value: float) -> Memory:
        """Return where a number lies; it is put there if need be."""
        return self._place(repr(value))

    def value(self, value: Value) -> Memory:
        """Return where a program's number lies."""
        return self._place(value.text)

    def bytes(self) -> bytes:
        """Return the table, with zeros where the addresses of functions belong."""
        fixed = (-0.0, 0.0, sys.float_info.max, float('nan'))
        numbers = [each for number in fixed for each in (number, number)]
        numbers += [float(text) for text in self._places for _ in range(self._lanes)]
        table = bytes(SIGN) + struct.pack(f'<{len(numbers)}d', *numbers)
        return table + bytes(-len(table) % ALIGNMENT)

    def _place(self, text: str) -> Memory:
        place = self._places.setdefault(text, START + self._size * len(self._places))
        return fixed_place(place)


def fixed_place(place: int) -> Memory:
    """Return how code names a place of the table."""
    return Memory(POINTER, place - MIDDLE)


def with_addresses(content: bytes, addresses: dict[str, int]) -> bytes:
    """Return a table and what follows it with the addresses of functions filled in."""
    found = struct.pack(f'<{len(FUNCTIONS)}Q', *(addresses[name] for name in FUNCTIONS))
    return found + content[len(found):]

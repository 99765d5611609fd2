# SPDX-License-Identifier: Apache-2.0
"""
Instructions of x86-64 as bytes: those of SSE2, which every such processor has, and a few others.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: prefixes,
REX, opcode, ModR/M, SIB, displacement, in this order.
"""

from __future__ import annotations

from typing import NamedTuple
from typing import Union

# General registers by number.
RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI = range(8)
R8, R9 = 8, 9
R11, R12, R13, R14, R15 = range(11, 16)
# Where a function finds its first six arguments (System V application binary interface, 3.2.3).
ARGUMENTS = RDI, RSI, RDX, RCX, R8, R9

# Opcodes after 0F, of one number (prefix F2) or of a pair (prefix 66).
ARITHMETIC = {
    'add': 0x58, 'mul': 0x59, 'sub': 0x5C, 'div': 0x5E, 'sqrt': 0x51, 'min': 0x5D, 'max': 0x5F,
}
# The same with the prefix 66 only: these read 16 bytes of memory, on a multiple of 16; ucomisd 8.
OF_PAIRS = {
    'movapd': 0x28, 'xorpd': 0x57, 'orpd': 0x56, 'andpd': 0x54, 'andnpd': 0x55, 'ucomisd': 0x2E,
}
# Jumps. After ucomisd: equal or not a number, above, not a number. Of integers: equal (no bit of a
# mask), unequal, less.
JUMPS = {'je': 0x84, 'jne': 0x85, 'ja': 0x87, 'jp': 0x8A, 'jl': 0x8C}
# Of each number of a pair; the first two are false where either is not a number.
COMPARISONS = {'equal': 0, 'less': 1, 'unordered': 3}
SCALAR, PAIR = 0xF2, 0x66
# A frame is touched page by page, so that a stack that is too small is noticed.
PAGE = 4096


class Memory(NamedTuple):
    """
    A place in memory.

    Attributes:
        base: A general register.
        offset: Distance from where it points [bytes].
    """

    base: int
    offset: int


# A register for numbers, or a place in memory.
Place = Union[int, Memory]


class Encoder:
    """Collects instructions; jumps and calls go to labels that may come later."""

    def __init__(self) -> None:
        self.code = bytearray()
        self._labels: dict[str, int] = {}
        self._open: list[tuple[int, str]] = []

    def arithmetic(self, name: str, source: Place, target: int, prefix: int = SCALAR) -> None:
        """Let a register be itself, changed by a source; of a square root, the source's."""
        self._instruct(prefix, ARITHMETIC[name], source, target)

    def pairs(self, name: str, source: Place, target: int) -> None:
        """Let a register change by a source of two numbers; `ucomisd` compares it instead."""
        self._instruct(PAIR, OF_PAIRS[name], source, target)

    def load(self, source: Memory, target: int) -> None:
        """Bring a number into a register."""
        self._instruct(SCALAR, 0x10, source, target)

    def store(self, source: int, target: Memory) -> None:
        """Bring a register's number to memory."""
        self._instruct(SCALAR, 0x11, target, source)

    def load_high(self, source: Memory, target: int) -> None:
        """Bring a number into the other half of a register."""
        self._instruct(PAIR, 0x16, source, target)

    def store_high(self, source: int, target: Memory) -> None:
        """Bring the number of the other half of a register to memory."""
        self._instruct(PAIR, 0x17, target, source)

    def store_pair(self, source: int, target: Memory) -> None:
        """Bring a register's two numbers to memory, on a multiple of 16 bytes."""
        self._instruct(PAIR, 0x29, target, source)

    def compare(self, how: str, source: Place, target: int) -> None:
        """Let a register be all ones where its numbers compare so to the source's, else zero."""
        self._instruct(PAIR, 0xC2, source, target)
        self.code.append(COMPARISONS[how])

    def push(self, register: int) -> None:
        """Put a general register on the stack."""
        self._short(0x50, register)

    def pop(self, register: int) -> None:
        """Take a general register from the stack."""
        self._short(0x58, register)

    def add_to(self, register: int, number: int) -> None:
        """Add a number of 32 bits to a general register."""
        self._registers(0x81, 0, register)
        self.code += _four_bytes(number)

    def add_register(self, source: int, target: int) -> None:
        """Add a general register to another one."""
        self._registers(0x01, source, target)

    def add_from(self, source: Memory, target: int) -> None:
        """Add an integer in memory to a general register."""
        self._general(b'\x03', source, target)

    def multiply_from(self, source: Memory, target: int) -> None:
        """Multiply a general register by an integer in memory."""
        self._general(b'\x0f\xaf', source, target)

    def multiply(self, source: int, number: int, target: int) -> None:
        """Let a general register be another one times a number of 32 bits."""
        self._registers(0x69, target, source)
        self.code += _four_bytes(number)

    def shift_left(self, register: int, count: int) -> None:
        """Multiply a general register by a power of two."""
        self._registers(0xC1, 4, register)
        self.code.append(count)

    def compare_registers(self, first: int, second: int) -> None:
        """Compare two general registers as integers."""
        self._registers(0x39, second, first)

    def compare_from(self, place: Memory, register: int) -> None:
        """Compare a general register with an integer in memory."""
        self._general(b'\x3b', place, register)

    def compare_number(self, place: Memory, number: int) -> None:
        """Compare an integer in memory with a number of 32 bits."""
        self._general(b'\x81', place, 7)
        self.code += _four_bytes(number)

    def compare_short(self, place: Memory, number: int) -> None:
        """Compare an integer of 32 bits in memory with a number."""
        self._short_memory(0x81, place, 7, number)

    def test_short(self, place: Memory, mask: int) -> None:
        """Look whether an integer of 32 bits in memory has bits of a mask."""
        self._short_memory(0xF7, place, 0, mask)

    def load_register(self, source: Memory, target: int) -> None:
        """Bring an integer or an address into a general register."""
        self._general(b'\x8b', source, target)

    def load_byte(self, source: Memory, target: int) -> None:
        """Bring a byte into a general register."""
        self._general(b'\x8a', source, target)

    def store_byte(self, source: int, target: Memory) -> None:
        """Bring the last byte of a general register to memory."""
        self._general(b'\x88', target, source)

    def take_frame(self, size: int) -> None:
        """Take room on the stack."""
        self.add_to(RSP, -size)
        for offset in range(size // PAGE * PAGE, 0, -PAGE):
            self.touch(Memory(RSP, offset))

    def address(self, source: Memory, target: int) -> None:
        """Let a general register point to a place in memory."""
        self._general(b'\x8d', source, target)

    def address_of_code(self, place: int, target: int) -> None:
        """Let a general register point to a place, counted from the code's start."""
        self.code += bytes((0x48 | target >> 3 << 2, 0x8D, target << 3 & 0x38 | 0x05))
        self.code += _four_bytes(place - len(self.code) - 4)

    def touch(self, place: Memory) -> None:
        """Read and write a byte of the stack, which stays as it is."""
        self._general(b'\x83', place, 1)
        self.code.append(0)

    def call_address_at(self, place: Memory) -> None:
        """Call the function whose address lies in memory."""
        if place.base > 7:
            self.code.append(0x41)
        self.code.append(0xFF)
        self._operand(place, 2)

    def call(self, label: str) -> None:
        """Call a part of this code."""
        self.code.append(0xE8)
        self._to(label)

    def jump_if(self, condition: str, label: str) -> None:
        """Go on at a label under one of JUMPS."""
        self.code += bytes((0x0F, JUMPS[condition]))
        self._to(label)

    def jump(self, label: str) -> None:
        """Go on at a label."""
        self.code.append(0xE9)
        self._to(label)

    def back(self) -> None:
        """Return from a function."""
        self.code.append(0xC3)

    def mark(self, label: str) -> None:
        """Put a label here."""
        self._labels[label] = len(self.code)

    def finished(self) -> bytes:
        """Return the code with all labels found."""
        for place, label in self._open:
            distance = self._labels[label] - place - 4
            self.code[place : place + 4] = _four_bytes(distance)
        self._open = []
        return bytes(self.code)

    def _to(self, label: str) -> None:
        self._open.append((len(self.code), label))
        self.code += bytes(4)

    def _instruct(self, prefix: int, opcode: int, operand: Place, register: int) -> None:
        base = operand if isinstance(operand, int) else operand.base
        rex = 0x40 | register >> 3 << 2 | base >> 3
        self.code.append(prefix)
        if rex != 0x40:
            self.code.append(rex)
        self.code += bytes((0x0F, opcode))
        self._operand(operand, register & 7)

    def _general(self, opcode: bytes, operand: Memory, register: int) -> None:
        self.code.append(0x48 | register >> 3 << 2 | operand.base >> 3)
        self.code += opcode
        self._operand(operand, register & 7)

    def _short_memory(self, opcode: int, place: Memory, field: int, number: int) -> None:
        if place.base > 7:
            self.code.append(0x41)
        self.code.append(opcode)
        self._operand(place, field)
        self.code += _four_bytes(number)

    def _registers(self, opcode: int, field: int, register: int) -> None:
        self.code += bytes((0x48 | field >> 3 << 2 | register >> 3, opcode))
        self._operand(register, field & 7)

    def _operand(self, operand: Place, field: int) -> None:
        """Write ModR/M and what follows it; `field` is the other register, or more opcode."""
        if isinstance(operand, int):
            self.code.append(0xC0 | field << 3 | operand & 7)
            return
        base, offset = operand.base & 7, operand.offset
        short = -128 <= offset < 128
        self.code.append((0x40 if short else 0x80) | field << 3 | base)
        if base == RSP:  # its number says that another byte follows, which names it
            self.code.append(0x24)
        self.code += bytes((offset & 0xFF,)) if short else _four_bytes(offset)

    def _short(self, opcode: int, register: int) -> None:
        if register > 7:
            self.code.append(0x41)
        self.code.append(opcode | register & 7)


def _four_bytes(number: int) -> bytes:
    return number.to_bytes(4, 'little', signed=True)

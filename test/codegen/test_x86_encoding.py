# SPDX-License-Identifier: Apache-2.0
"""
Instructions as bytes: those that an assembler writes.

`data/x86_encodings.txt` keeps what GNU as wrote for each form of instruction with each kind of
operand; where there is an assembler, it is asked again.
"""

from functools import partial
from itertools import product
from pathlib import Path
import shutil
import subprocess

from flexdyn_ros.codegen.emitting import x86_encoding
from flexdyn_ros.codegen.emitting.x86_encoding import ARITHMETIC
from flexdyn_ros.codegen.emitting.x86_encoding import COMPARISONS
from flexdyn_ros.codegen.emitting.x86_encoding import Encoder
from flexdyn_ros.codegen.emitting.x86_encoding import JUMPS
from flexdyn_ros.codegen.emitting.x86_encoding import Memory
from flexdyn_ros.codegen.emitting.x86_encoding import OF_PAIRS
from flexdyn_ros.codegen.emitting.x86_encoding import PAIR
import pytest

DATA = Path(__file__).resolve().parent / 'data' / 'x86_encodings.txt'
GENERAL = ('rax', 'rcx', 'rdx', 'rbx', 'rsp', 'rbp', 'rsi', 'rdi',
           *(f'r{k}' for k in range(8, 16)))
BASES = tuple(getattr(x86_encoding, name.upper()) for name in ('rbx', 'rsp', 'rbp', 'r13', 'r14'))
OFFSETS = (0, 8, -128, 127, 128, -4096)
# Enough that no jump is short.
FAR = 200
PADDING = f'.fill {FAR}, 1, 0x90'


def text_of(place):
    """Return how an assembler names a place; short addresses are written so where they are 0."""
    if isinstance(place, int):
        return f'%xmm{place}'
    return f'{place.offset}(%{GENERAL[place.base]})'


def forms():
    """Return each form as a text for an assembler and a call of the encoder."""
    few = (0, 13, Memory(x86_encoding.RBX, 8), Memory(x86_encoding.RSP, -4096))
    places = (5, 8, 15, *(Memory(b, o) for b in BASES for o in OFFSETS))
    found = {}

    def add(text, write, place=None):
        short = isinstance(place, Memory) and not place.offset
        found[('{disp8} ' if short else '') + text] = write

    for place, target in product(few, (3, 12)):
        operands, given = f'{text_of(place)}, %xmm{target}', {'source': place, 'target': target}
        for name in ARITHMETIC:
            add(f'{name}sd {operands}', partial(Encoder.arithmetic, name=name, **given))
            add(f'{name}pd {operands}',
                partial(Encoder.arithmetic, name=name, prefix=PAIR, **given))
        for name in OF_PAIRS:
            add(f'{name} {operands}', partial(Encoder.pairs, name=name, **given))
        for how, number in COMPARISONS.items():
            add(f'cmppd ${number}, {operands}', partial(Encoder.compare, how=how, **given))
    for place, target in product(places, (3, 12)):
        operands, given = f'{text_of(place)}, %xmm{target}', {'source': place, 'target': target}
        add(f'addsd {operands}', partial(Encoder.arithmetic, name='add', **given), place)
        if isinstance(place, Memory):
            back = f'%xmm{target}, {text_of(place)}'
            given_back = {'source': target, 'target': place}
            add(f'movsd {operands}', partial(Encoder.load, **given), place)
            add(f'movsd {back}', partial(Encoder.store, **given_back), place)
            add(f'movapd {back}', partial(Encoder.store_pair, **given_back), place)
            add(f'movhpd {operands}', partial(Encoder.load_high, **given), place)
            add(f'movhpd {back}', partial(Encoder.store_high, **given_back), place)
    for place in places:
        if isinstance(place, Memory):
            add(f'call *{text_of(place)}', partial(Encoder.call_address_at, place=place), place)
            add(f'orq $0, {text_of(place)}', partial(Encoder.touch, place=place), place)
            for size, compare in (('q', Encoder.compare_number), ('l', Encoder.compare_short)):
                add(f'cmp{size} $4096, {text_of(place)}',
                    partial(compare, place=place, number=4096), place)
            add(f'testl $4096, {text_of(place)}',
                partial(Encoder.test_short, place=place, mask=4096), place)
            for number in (3, 12):
                name, given = GENERAL[number], {'source': place, 'target': number}
                add(f'lea {text_of(place)}, %{name}', partial(Encoder.address, **given), place)
                add(f'add {text_of(place)}, %{name}', partial(Encoder.add_from, **given), place)
                add(f'mov {text_of(place)}, %{name}',
                    partial(Encoder.load_register, **given), place)
                add(f'cmp {text_of(place)}, %{name}',
                    partial(Encoder.compare_from, place=place, register=number), place)
                add(f'imul {text_of(place)}, %{name}',
                    partial(Encoder.multiply_from, **given), place)
    for number, name in enumerate(GENERAL):
        add(f'push %{name}', partial(Encoder.push, register=number))
        add(f'pop %{name}', partial(Encoder.pop, register=number))
        if number:  # there is a shorter form for the first
            add(f'add $-4096, %{name}', partial(Encoder.add_to, register=number, number=-4096))
        for other in (3, 12):
            add(f'add %{GENERAL[other]}, %{name}',
                partial(Encoder.add_register, source=other, target=number))
            add(f'cmp %{GENERAL[other]}, %{name}',
                partial(Encoder.compare_registers, first=number, second=other))
            add(f'imul $4096, %{GENERAL[other]}, %{name}',
                partial(Encoder.multiply, source=other, number=4096, target=number))
        add(f'shl $3, %{name}', partial(Encoder.shift_left, register=number, count=3))
        add(f'lea 4096(%rip), %{name}', partial(
            Encoder.address_of_code, place=4096 + 7, target=number))
    for place in (Memory(x86_encoding.RSP, 8), Memory(x86_encoding.RBP, 8)):
        # With the prefix of large registers, which changes nothing here.
        add(f'rex.W movb {text_of(place)}, %al',
            partial(Encoder.load_byte, source=place, target=x86_encoding.RAX))
        add(f'rex.W movb %al, {text_of(place)}',
            partial(Encoder.store_byte, source=x86_encoding.RAX, target=place))
    for condition in (*JUMPS, 'jmp'):
        add(f'{condition} 1f; {PADDING}; 1:', partial(forward, name=condition))
        add(f'1: {PADDING}; {condition} 1b', partial(backward, name=condition))
    add(f'call 1f; {PADDING}; 1:', partial(forward, name='call'))
    add(f'1: {PADDING}; call 1b', partial(backward, name='call'))
    add('ret', Encoder.back)
    return found


def go(code, name):
    """Write a jump or a call to a label."""
    if name in ('call', 'jmp'):
        (code.call if name == 'call' else code.jump)('there')
    else:
        code.jump_if(name, 'there')


def forward(code, name):
    """Go to what comes later."""
    go(code, name)
    code.code += b'\x90' * FAR
    code.mark('there')


def backward(code, name):
    """Go to what came before."""
    code.mark('there')
    code.code += b'\x90' * FAR
    go(code, name)


def encoded(write):
    """Return the bytes of one form; jumps without what lies between."""
    code = Encoder()
    write(code)
    return code.finished()


def as_line(text, code):
    """Return a line of the data file."""
    return f'{code.replace(bytes((0x90,)) * FAR, b"").hex()} {text}'


def test_bytes_are_those_that_were_kept():
    """Each form, and no other."""
    lines = DATA.read_text(encoding='utf-8').splitlines()
    assert [as_line(text, encoded(write)) for text, write in forms().items()] == lines[2:]


def test_an_assembler_writes_the_same(tmp_path):
    """All forms in one file, a label before each."""
    if shutil.which('as') is None or shutil.which('objcopy') is None:
        pytest.skip('no assembler; sudo apt-get install -y binutils runs it')
    found = forms()
    (tmp_path / 'all.s').write_text('\n'.join(found) + '\n')
    run = partial(subprocess.run, check=True, cwd=tmp_path, capture_output=True, text=True)
    run(['as', '--64', 'all.s', '-o', 'all.o'])
    run(['objcopy', '-O', 'binary', '-j', '.text', 'all.o', 'all.bin'])
    expected = b''.join(encoded(write) for write in found.values())
    assert (tmp_path / 'all.bin').read_bytes() == expected


def test_labels_have_to_be_there():
    """A jump to nowhere is an error."""
    code = Encoder()
    code.jump_if('je', 'nowhere')
    with pytest.raises(KeyError, match='nowhere'):
        code.finished()

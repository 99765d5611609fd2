# SPDX-License-Identifier: Apache-2.0
"""The nested text blocks of Standard Input Data (SID), of any content; see sid.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
import re
from typing import Iterable, Optional

import numpy as np

# Bytes of a file; its numbers take up to ten times as much memory while it is read.
LARGEST = 2**26
# Magnitude beyond which a number is no quantity in SI units: products of three stay finite.
LARGEST_NUMBER = 1e100
NUMBER = r'([-+]?(?:\d+\.?\d*|\.\d+))(?:[DdEe]?([-+]\d+)|[DdEe](\d+))?'
_ENTRY = re.compile(r'm([01])\s*\(([\d\s,]{3,40})\)\s*=\s*' + NUMBER)
_VALUE = re.compile(r'(\w+)\s*(?:\(\s*(\d{1,9})\s*\)\s*)?=\s*(.*)')


@dataclass
class Block:
    """A named block: its values by key, its coefficients and the blocks in it."""

    name: str
    label: str = ''
    values: dict[str, str] = field(default_factory=dict)
    entries: dict[tuple[int, ...], float] = field(default_factory=dict)
    blocks: list['Block'] = field(default_factory=list)

    def only(self, name: str) -> 'Block':
        """Return the block of that name, of which there is one."""
        found = [block for block in self.blocks if block.name == name]
        if len(found) != 1:
            raise ValueError(f'holds {len(found) or "no"} block{"s" * (len(found) > 1)} "{name}"')
        return found[0]


def read_blocks(path: Path) -> tuple[int, int, str, Block]:
    """
    Return the numbers of nodes and modes and the comment of the first line, and all blocks.

    Raises:
        ValueError: The file is no SID file; the text continues `file="path"`.
    """
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise ValueError(f'is no file of at most {LARGEST} bytes')
    with open(path, encoding='latin-1') as file:
        lines = iter(file)
        head = re.match(r'\s*(\d{1,9})\s+(\d{1,9})\s*(?::(.*))?$', next(lines, '').rstrip())
        if head is None:
            raise ValueError('is no SID file: the first line is not "nodes modes : comment"')
        root = _parsed(lines)
    return int(head[1]), int(head[2]), (head[3] or '').strip(), root


def _parsed(lines: Iterable[str]) -> Block:
    root = Block('')
    stack = [root]
    for number, line in enumerate(lines, start=2):
        text = line.strip()
        try:
            _take(text, stack)
        except ValueError as error:
            raise ValueError(f'is damaged in line {number}, "{text[:60]}": {error}') from None
    if len(stack) > 1:
        raise ValueError(f'ends within the block "{stack[-1].name}"')
    return root


def _take(text: str, stack: list[Block]) -> None:
    """Put one line where it belongs."""
    block, words = stack[-1], text.split()
    if not words:
        return
    entry, value = _ENTRY.fullmatch(text), _VALUE.fullmatch(text)
    if entry:
        place = (int(entry[1]), *(int(word) for word in entry[2].split(',')))
        if place in block.entries:
            raise ValueError('the coefficient occurs twice')
        block.entries[place] = float(f'{entry[3]}e{entry[4] or entry[5] or 0}')
        if abs(block.entries[place]) > LARGEST_NUMBER:
            raise ValueError('the number is too large for a quantity in SI units')
    elif words[0] == 'end' and len(words) == 2:
        if words[1] != block.name:
            raise ValueError(f'the open block is "{block.name}"')
        stack.pop()
    elif words[0] == 'new' and '=' in text:
        _open(Block(words[1].rstrip('='), text.partition('=')[2].strip()), stack)
    elif value:
        key = value[1] + (f'({int(value[2])})' if value[2] else '')
        if key in block.values:
            raise ValueError(f'{key} occurs twice')
        block.values[key] = value[3].strip()
    elif len(words) == 1:
        _open(Block(text), stack)
    else:
        raise ValueError('neither a block nor a value')


def _open(block: Block, stack: list[Block]) -> None:
    stack[-1].blocks.append(block)
    stack.append(block)
    if len(stack) > 8:
        raise ValueError('blocks are nested too deep')


def trace_parts(each: np.ndarray) -> np.ndarray:
    """Return the traces of matrices (..., 3, 3), on the diagonals."""
    return np.trace(each, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)


def whole_number(block: Block, key: str, default: Optional[int] = None) -> int:
    text = block.values.get(key, '' if default is None else str(default))
    if not re.fullmatch(r'\d{1,9}', text):
        raise ValueError(f'holds {block.name} with {key} = "{text[:40]}", not a whole number')
    return int(text)


def decimal(block: Block, key: str) -> float:
    text = block.values.get(key, '')
    found = re.fullmatch(NUMBER, text)
    if not found:
        raise ValueError(f'holds {block.name} with {key} = "{text[:40]}", not a number')
    return float(f'{found[1]}e{found[2] or found[3] or 0}')

# SPDX-License-Identifier: Apache-2.0
"""Expressions as text, the same in all languages but for numbers, symbols and calls."""

from __future__ import annotations

import textwrap
from typing import Callable, Mapping

from flexdyn_ros.symbolic.graph import (
    CALL,
    CONSTANT,
    Expression,
    NEGATIVE,
    PRODUCT,
    QUOTIENT,
    SUM,
    SYMBOL,
)

WIDTH = 99  # of a line
GO_ON = ' &'  # at the end of a continued line of Fortran
# Precedence of a text: sums need brackets inside products, signs everywhere.
_SUM, _PRODUCT, _ATOM = range(3)


class Writer:
    """Writes expressions of one language."""

    def __init__(
        self,
        names: Mapping[Expression, str],
        symbol: Callable[[str], str],
        number: Callable[[float], str] = repr,
        call: Callable[[str], str] = str,
    ):
        """
        Prepare to write.

        Args:
            names: Text of nodes that are stored.
            symbol: From a symbol's name, such as "q[2]", to its text.
            number: From a number to its text.
            call: From a function's name to its text.
        """
        self.names = names
        self._symbol = symbol
        self._number = number
        self._call = call

    def definition(self, node: Expression) -> str:
        """Return the text that computes a node, stored or not."""
        return self._compute(node)[0]

    def text(self, node: Expression) -> str:
        """Return the text that stands for a node."""
        return self._read(node)[0]

    def _read(self, node: Expression) -> tuple[str, int]:
        name = self.names.get(node)
        return (name, _ATOM) if name is not None else self._compute(node)

    def _compute(self, node: Expression) -> tuple[str, int]:
        kind = node.kind
        if kind == CONSTANT:
            return self._number(node.value), _ATOM
        if kind == SYMBOL:
            return self._symbol(node.value), _ATOM
        if kind == NEGATIVE:
            return f'-{self._bracketed(node.operands[0], _PRODUCT)}', _SUM
        if kind == CALL:
            return f'{self._call(node.value)}({self._read(node.operands[0])[0]})', _ATOM
        if kind == SUM:
            return self._sum(node), _SUM
        if kind == PRODUCT:
            return '*'.join(self._factor(x, k) for k, x in enumerate(node.operands)), _PRODUCT
        if kind == QUOTIENT:
            above, below = node.operands
            return f'{self._factor(above, 0)}/{self._bracketed(below, _ATOM)}', _PRODUCT
        raise ValueError(f'unknown kind of node {kind}')

    def _sum(self, node: Expression) -> str:
        parts = [self._bracketed(node.operands[0], _PRODUCT)]
        for operand in node.operands[1:]:
            if operand.kind == NEGATIVE and operand not in self.names:
                parts.append(f'- {self._bracketed(operand.operands[0], _PRODUCT)}')
            else:
                parts.append(f'+ {self._bracketed(operand, _PRODUCT)}')
        return ' '.join(parts)

    def _factor(self, node: Expression, place: int) -> str:
        """Return a factor; a quotient that is not the first one needs brackets."""
        strength = _ATOM if place and node.kind == QUOTIENT else _PRODUCT
        return self._bracketed(node, strength)

    def _bracketed(self, node: Expression, strength: int) -> str:
        text, held = self._read(node)
        return text if held >= strength else f'({text})'


def bracketed(start: str, text: str, indent: str = '    ') -> list[str]:
    """Return `start text` as Python, in brackets where it takes several lines."""
    plain = f'{indent}{start}{text}'
    if len(plain) <= WIDTH:
        return [plain]
    return [f'{indent}{start}(', *wrap('', text, '', indent + '    ', WIDTH), f'{indent})']


def wrap(start: str, text: str, end: str, indent: str, width: int, join: str = '') -> list[str]:
    """
    Return `start text end` as lines no longer than `width` where spaces allow it.

    Args:
        start: Before the text, such as "double x = ".
        text: Text that may break at its spaces.
        end: After the text, such as ";".
        indent: Before every line; continuation lines get four more spaces.
        width: Of a line.
        join: At the end of a continued line, such as " &".
    """
    if len(indent) + len(start) + len(text) + len(end) <= width:
        return [f'{indent}{start}{text}{end}']
    lines = textwrap.wrap(
        start + text + end, width - len(join), initial_indent=indent,
        subsequent_indent=indent + '    ', break_long_words=False, break_on_hyphens=False,
    )
    return [line + join for line in lines[:-1]] + lines[-1:]

# SPDX-License-Identifier: Apache-2.0
"""
Operation counts by parsing the C that is compiled, independent of the generator's own counts.

Multiplications with divisions, additions with subtractions, and calls of functions that the source
does not define (sin, cos and all others). Operations on constants alone and signs are free. A
function that the source defines counts with its operations at each call. Of a conditional
expression the costlier branch counts; subscripts are free.
"""

from __future__ import annotations

from dataclasses import dataclass
import re
from typing import Optional

KINDS = ('mul', 'add', 'trig')
_TOKEN = re.compile(
    r'(?P<number>(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)'
    r'|(?P<mark><=|>=|==|!=|[-+*/%()\[\]{};,=?:<>&.])'
)
_TYPES = ('double', 'const', 'static', 'void', 'int', 'float', 'inline', 'return')
_COMPARISONS = ('<', '>', '<=', '>=', '==', '!=')


class CountError(ValueError):
    """Source that this small parser of straight-line C does not understand."""


@dataclass
class Cost:
    """
    The cost of a piece of source.

    Attributes:
        counts: Operations of each kind.
        constant: Whether its value is known when compiling.
    """

    counts: dict[str, int]
    constant: bool = False

    def plus(self, other: Cost) -> Cost:
        """Return the sum; constant if both are."""
        total = {kind: self.counts[kind] + other.counts[kind] for kind in KINDS}
        return Cost(total, self.constant and other.constant)

    def with_one(self, kind: str) -> Cost:
        """Return it with one operation more, which is free on constants."""
        if self.constant:
            return self
        return Cost({**self.counts, kind: self.counts[kind] + 1})

    @property
    def total(self) -> int:
        """Number of operations of all kinds."""
        return sum(self.counts.values())


def nothing(constant: bool = False) -> Cost:
    """Return no operations."""
    return Cost(dict.fromkeys(KINDS, 0), constant)


def count_c(source: str, name: Optional[str] = None) -> dict[str, int]:
    """
    Return the operations of one call of a function: "mul", "add" and "trig".

    Args:
        source: C of straight-line functions, each defined before it is called.
        name: The function; the last one that is not static when None.

    Raises:
        CountError: If the source is beyond straight-line C, or has no such function.
    """
    parser = _Parser(source)
    name = parser.last if name is None else name
    if name not in parser.functions:
        raise CountError(f'there is no function "{name}"')
    return dict(parser.functions[name].counts)


class _Parser:
    """Reads a translation unit, function by function."""

    def __init__(self, source: str):
        text = re.sub(r'/\*.*?\*/', ' ', source, flags=re.DOTALL)
        text = re.sub(r'//[^\n]*', ' ', text)
        text = re.sub(r'(?m)^\s*#.*$', ' ', text)
        text = re.sub(r'extern\s+"C"\s*\{', ' ', text)
        self.tokens = self._tokens(text)
        self.place = 0
        self.functions: dict[str, Cost] = {}
        self.constants: set[str] = set()
        self.last: Optional[str] = None
        while self.place < len(self.tokens):
            self._function()

    @staticmethod
    def _tokens(text: str) -> list[str]:
        found, place = [], 0
        for match in _TOKEN.finditer(text):
            if text[place : match.start()].strip():
                raise CountError(f'unknown text {text[place:match.start()].strip()!r:.40}')
            found.append(match.group())
            place = match.end()
        if text[place:].strip():
            raise CountError(f'unknown text {text[place:].strip()!r:.40}')
        return found

    def _peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else ''

    def _take(self, expected: str = '') -> str:
        token = self._peek()
        if expected and token != expected:
            near = ' '.join(self.tokens[max(0, self.place - 5) : self.place + 1])
            raise CountError(f'"{expected}" is missing after "{near}"')
        self.place += 1
        return token

    def _function(self) -> None:
        """Read a definition or a declaration."""
        if self._peek() == '}':
            self._take()  # of an extern "C" block
            return
        static, name = False, ''
        while self._peek() != '(':
            name = self._take()
            static = static or name == 'static'
            if not name:
                raise CountError('a function is missing')
        while self._take() != ')':
            pass
        if self._peek() == ';':
            self._take()
            return
        self._take('{')
        self.constants = set()
        cost = nothing()
        while self._peek() != '}':
            cost = cost.plus(self._statement())
        self._take('}')
        self.functions[name] = Cost(cost.counts)
        if not static:
            self.last = name

    def _statement(self) -> Cost:
        """Read a declaration, an assignment, a call, or return."""
        if self._peek() == ';':
            self._take()
            return nothing()
        if self._peek() == '(' and self._peek(1) == 'void':
            while self._take() != ';':
                pass
            return nothing()
        declared = False
        while self._peek() in _TYPES or (declared and self._peek() == '*'):
            declared = True
            self._take()
        cost = nothing()
        while True:
            cost = cost.plus(self._assignment(declared))
            if self._take() == ';':
                return cost
            if self.tokens[self.place - 1] != ',':
                raise CountError(f'";" is missing before "{self._peek(-1)}"')

    def _assignment(self, declared: bool) -> Cost:
        name = self._peek()
        cost = self._expression()
        if self._peek() != '=':
            return cost
        self._take('=')
        value = self._expression()
        if declared and value.constant:
            self.constants.add(name)
        return Cost(cost.plus(value).counts)

    def _expression(self) -> Cost:
        cost = self._comparison()
        if self._peek() != '?':
            return cost
        self._take('?')
        first = self._expression()
        self._take(':')
        second = self._expression()
        return Cost(cost.plus(max(first, second, key=lambda each: each.total)).counts)

    def _comparison(self) -> Cost:
        cost = self._sum()
        while self._peek() in _COMPARISONS:
            self._take()
            cost = Cost(cost.plus(self._sum()).counts)
        return cost

    def _sum(self) -> Cost:
        cost = self._product()
        while self._peek() in ('+', '-'):
            self._take()
            cost = cost.plus(self._product()).with_one('add')
        return cost

    def _product(self) -> Cost:
        cost = self._signed()
        while self._peek() in ('*', '/'):
            self._take()
            cost = cost.plus(self._signed()).with_one('mul')
        return cost

    def _signed(self) -> Cost:
        if self._peek() in ('-', '+'):
            self._take()
            return self._signed()
        return self._atom()

    def _atom(self) -> Cost:
        token = self._take()
        if token == '(':
            cost = self._expression()
            self._take(')')
            return cost
        if token[:1].isdigit() or token[:1] == '.':
            return nothing(constant=True)
        if not (token[:1].isalpha() or token[:1] == '_'):
            raise CountError(f'"{token}" is not expected')
        if self._peek() == '(':
            return self._call(token)
        while self._peek() == '[':
            while self._take() != ']':
                pass
        return nothing(constant=token in self.constants)

    def _call(self, name: str) -> Cost:
        self._take('(')
        cost = nothing(constant=True)
        while self._peek() != ')':
            cost = cost.plus(self._expression())
            if self._peek() == ',':
                self._take()
        self._take(')')
        if name in self.functions:
            return Cost(cost.plus(self.functions[name]).counts)
        return cost.with_one('trig')

# SPDX-License-Identifier: Apache-2.0
"""
A node of an expression graph.

An `Expression` behaves like a float, so the algorithms of `flexdyn_ros.dynamics` run on it
unchanged. Its graph makes every node; see graph.py.
"""

from __future__ import annotations

from typing import Any
from typing import Optional
from typing import Protocol
from typing import Union

from flexdyn_ros.dynamics.scalar import OuterScalar
from flexdyn_ros.dynamics.scalar import PiecewisePolynomial

# What a node is. A CALL is of sin, cos, exp, tanh, stumpffK (Stumpff's c_K) or piecewiseK (the
# graph's K-th table).
CONSTANT, SYMBOL, SUM, PRODUCT, QUOTIENT, NEGATIVE, CALL = range(7)

Operand = Union['Expression', float, int]


class Factory(Protocol):
    """What makes nodes of one program, each once; see graph.py."""

    def lift(self, value: Operand) -> Expression:
        """Return a number as a node, and a node as it is."""

    def add(self, x: Expression, y: Expression) -> Expression:
        """Return x + y."""

    def multiply(self, x: Expression, y: Expression) -> Expression:
        """Return x * y."""

    def divide(self, x: Expression, y: Expression) -> Expression:
        """Return x / y."""

    def negate(self, x: Expression) -> Expression:
        """Return -x."""

    def call(self, function: str, x: Expression) -> Expression:
        """Return function(x)."""

    def piecewise(self, function: PiecewisePolynomial, x: Expression) -> Expression:
        """Return a piecewise polynomial of x."""


class Expression:
    """
    A node of a graph; made by its graph and by arithmetic, never directly.

    Attributes:
        graph: The graph that owns it.
        kind: CONSTANT, SYMBOL, SUM, PRODUCT, QUOTIENT, NEGATIVE or CALL.
        operands: The nodes that it combines; in a sum, NEGATIVE operands are subtracted.
        value: A constant's float, a symbol's name or a call's function.
        number: Its place in order of creation: operands come before.
    """

    __slots__ = ('graph', 'kind', 'operands', 'value', 'number')

    def __init__(self, graph: Factory, kind: int, operands: tuple, value, number: int):
        self.graph: Any = graph
        self.kind = kind
        self.operands = operands
        self.value = value
        self.number = number

    def __add__(self, other: Operand) -> Expression:
        if isinstance(other, OuterScalar):
            return NotImplemented
        return self.graph.add(self, self.graph.lift(other))

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Expression:
        if isinstance(other, OuterScalar):
            return NotImplemented
        return self.graph.add(self, self.graph.negate(self.graph.lift(other)))

    def __rsub__(self, other: Operand) -> Expression:
        return self.graph.add(self.graph.lift(other), self.graph.negate(self))

    def __mul__(self, other: Operand) -> Expression:
        if isinstance(other, OuterScalar):
            return NotImplemented
        return self.graph.multiply(self, self.graph.lift(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Expression:
        if isinstance(other, OuterScalar):
            return NotImplemented
        return self.graph.divide(self, self.graph.lift(other))

    def __rtruediv__(self, other: Operand) -> Expression:
        return self.graph.divide(self.graph.lift(other), self)

    def __neg__(self) -> Expression:
        return self.graph.negate(self)

    def __bool__(self) -> bool:
        """Refuse to decide: traced code must not branch on a symbol."""
        raise TypeError('a symbol has no truth value: the traced code branches on it')

    def sin(self) -> Expression:
        """Return the sine."""
        return self.graph.call('sin', self)

    def cos(self) -> Expression:
        """Return the cosine."""
        return self.graph.call('cos', self)

    def exp(self) -> Expression:
        """Return the exponential."""
        return self.graph.call('exp', self)

    def tanh(self) -> Expression:
        """Return the hyperbolic tangent."""
        return self.graph.call('tanh', self)

    def stumpff(self, order: int) -> Expression:
        """Return Stumpff's function of this order; see dynamics.scalar.stumpff."""
        return self.graph.call(f'stumpff{order}', self)

    def piecewise(self, function: PiecewisePolynomial) -> Expression:
        """Return a piecewise polynomial of it."""
        return self.graph.piecewise(function, self)

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return self.kind == CONSTANT

    @property
    def is_sum(self) -> bool:
        """Whether it is a sum."""
        return self.kind == SUM

    @property
    def is_product(self) -> bool:
        """Whether it is a product."""
        return self.kind == PRODUCT

    def __repr__(self) -> str:
        if self.kind in (CONSTANT, SYMBOL):
            return str(self.value)
        if self.kind == NEGATIVE:
            return f'-{self.operands[0]!r}'
        if self.kind == CALL:
            return f'{self.value}({self.operands[0]!r})'
        joint = {SUM: ' + ', PRODUCT: '*', QUOTIENT: '/'}[self.kind]
        return '(' + joint.join(repr(operand) for operand in self.operands) + ')'


def split_sign(x: Expression) -> tuple[bool, Expression]:
    """Return whether x is a negative, and x without its sign."""
    return (True, x.operands[0]) if x.kind == NEGATIVE else (False, x)


def constant_value(x: Expression) -> Optional[float]:
    """Return the number that x is, or None."""
    negative, inner = split_sign(x)
    if not inner.is_constant:
        return None
    return -inner.value if negative else inner.value

# SPDX-License-Identifier: Apache-2.0
"""
A hash-consed expression graph: equal expressions, built in any order, are one node.

Building a node applies the rules of El-Rayyes 1990, tables 3.2 and 3.3. Zeros and ones vanish,
constants fold, signs move outward (x - y and y - x are one node), like terms cancel. Numbers that
differ by rounding are one number (`rounding.py`). A node behaves like a float, so that the
algorithms of `flexdyn_ros.dynamics` run on it unchanged.
"""

from __future__ import annotations

import math
from typing import Iterable, Optional, Union

from flexdyn_ros.dynamics.scalar import evaluate, Function, OuterScalar, SmoothScalar, Spline
from flexdyn_ros.symbolic.rounding import is_rounding, NumberTable

# Kinds of nodes. A CALL is of sin, cos, exp, tanh, stumpffK (Stumpff's c_K) or piecewiseK (the
# graph's K-th table).
CONSTANT, SYMBOL, SUM, PRODUCT, QUOTIENT, NEGATIVE, CALL = range(7)

Operand = Union['Expression', float, int]


class Expression(SmoothScalar):
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

    def __init__(self, graph: Graph, kind: int, operands: tuple, value, number: int):
        self.graph = graph
        self.kind = kind
        self.operands = operands
        self.value = value
        self.number = number

    def __add__(self, other: Operand) -> Expression:
        if isinstance(other, OuterScalar):
            return NotImplemented
        return self.graph.sum((self, self.graph.lift(other)))

    def __mul__(self, other: Operand) -> Expression:
        if isinstance(other, OuterScalar):
            return NotImplemented
        return self.graph.product((self, self.graph.lift(other)))

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
        raise TypeError(
            'a symbol has no truth value: the traced code branches on it. Use smooth functions')

    def call(self, function: Function) -> Expression:
        """Return a function of it."""
        if isinstance(function, Spline):
            return self.graph.piecewise(function, self)
        return self.graph.call(function, self)

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
    if inner.kind != CONSTANT:
        return None
    return -inner.value if negative else inner.value


class Graph:
    """
    The nodes of one program, each once.

    Attributes:
        nodes: All nodes in order of creation.
        tables: Piecewise polynomials that nodes call, by the name of the function.
        forms: The cheapest forms that factoring has found, by the node and its opened parts.
        walked: The roots of the last walk through the graph, and the nodes below them in order.
    """

    def __init__(self) -> None:
        self.nodes: list[Expression] = []
        self.tables: dict[str, Spline] = {}
        self.forms: dict[tuple[Expression, frozenset[Expression]], Expression] = {}
        self.walked: tuple[tuple[Expression, ...], tuple[Expression, ...]] = ((), ())
        self._known: dict[tuple, Expression] = {}
        self._numbers = NumberTable()
        self.zero = self.constant(0.0)
        self.one = self.constant(1.0)

    def lift(self, value: Operand) -> Expression:
        """Return a number as a node, and a node as it is."""
        return value if isinstance(value, Expression) else self.constant(value)

    def constant(self, value: float) -> Expression:
        """Return the node of a number; a negative one is the negative of a positive one."""
        number = float(value)
        if number < 0.0:
            return self._node(NEGATIVE, (self.constant(-number),), None)
        return self._node(CONSTANT, (), self._numbers.of(number))

    def symbol(self, name: str) -> Expression:
        """Return the node of a named input."""
        return self._node(SYMBOL, (), name)

    def negate(self, x: Expression) -> Expression:
        """Return -x."""
        if x.kind == NEGATIVE:
            return x.operands[0]
        return x if x is self.zero else self._node(NEGATIVE, (x,), None)

    def call(self, function: str, x: Expression) -> Expression:
        """Return function(x); odd and even functions move a sign outward."""
        negative, inner = split_sign(x)
        if inner.kind == CONSTANT:
            return self.constant(self.value_of(function, constant_value(x)))
        if function in ('sin', 'tanh') and negative:
            return self.negate(self._node(CALL, (inner,), function))
        if function == 'cos':
            x = inner
        return self._node(CALL, (x,), function)

    def piecewise(self, function: Spline, x: Expression) -> Expression:
        """Return a piecewise polynomial of x; equal polynomials are one function."""
        if function.is_zero:
            return self.zero
        known = (name for name, table in self.tables.items() if table == function)
        name = next(known, f'piecewise{len(self.tables) + 1}')
        self.tables[name] = function
        return self.call(name, x)

    def value_of(self, function: str, x: float) -> float:
        """Return the value of a function that nodes call."""
        return evaluate(self.tables.get(function, function), x)

    def divide(self, x: Expression, y: Expression) -> Expression:
        """Return x / y; by a number it is a product."""
        (x_negative, x), (y_negative, y) = split_sign(x), split_sign(y)
        if y.kind == CONSTANT:
            result = self.product((x, self.constant(1.0 / y.value)))
        elif x is self.zero:
            return x
        elif x is y:
            result = self.one
        else:
            result = self._node(QUOTIENT, (x, y), None)
        return self.negate(result) if x_negative != y_negative else result

    def product(self, factors: Iterable[Expression]) -> Expression:
        """Return the product of all factors; a constant factor is folded into one."""
        coefficient, negative, rest = 1.0, False, []
        for factor in factors:
            if factor.kind == NEGATIVE:
                negative = not negative
                factor = factor.operands[0]
            if factor.kind == CONSTANT:
                coefficient *= factor.value
            else:
                rest.append(factor)
        if coefficient == 0.0:
            return self.zero
        if coefficient != 1.0:
            for k, factor in enumerate(rest):
                if factor.kind == PRODUCT and factor.operands[0].kind == CONSTANT:
                    coefficient *= factor.operands[0].value
                    rest[k] = self._rebuild(PRODUCT, factor.operands[1:])
            coefficient = self._numbers.of(coefficient)
        if coefficient != 1.0 or not rest:
            rest.append(self.constant(coefficient))
        result = self._rebuild(PRODUCT, rest)
        return self.negate(result) if negative else result

    def sum(self, terms: Iterable[Expression]) -> Expression:
        """Return the sum of all terms; like terms are gathered, the first one is positive."""
        offset = largest = 0.0
        weights: dict[Expression, float] = {}
        sizes: dict[Expression, float] = {}
        for term in terms:
            sign = 1.0
            if term.kind == NEGATIVE:
                sign, term = -1.0, term.operands[0]
            if term.kind == CONSTANT:
                offset += sign * term.value
                largest = max(largest, term.value)
                continue
            if term.kind == PRODUCT and term.operands[0].kind == CONSTANT:
                sign *= term.operands[0].value
                term = self._rebuild(PRODUCT, term.operands[1:])
            weights[term] = weights.get(term, 0.0) + sign
            sizes[term] = max(sizes.get(term, 0.0), abs(sign))
        parts = [self._weighted(weight, base) for base, weight in weights.items()
                 if not is_rounding(weight, sizes[base])]
        if not is_rounding(offset, largest):
            parts.append(self.constant(offset))
        if not parts:
            return self.zero
        if len(parts) == 1:
            return parts[0]
        parts.sort(key=_sum_order)
        if parts[0].kind == NEGATIVE:
            return self.negate(self._rebuild(SUM, [self.negate(part) for part in parts]))
        return self._rebuild(SUM, parts)

    def _weighted(self, weight: float, base: Expression) -> Expression:
        """Return weight * base of a base without sign and constant factor."""
        if abs(weight) != 1.0:
            weight = math.copysign(self._numbers.of(abs(weight)), weight)
        if weight == 1.0:
            return base
        if weight == -1.0:
            return self.negate(base)
        return self.product((self.constant(weight), base))

    def _rebuild(self, kind: int, operands) -> Expression:
        operands = tuple(operands)
        if len(operands) == 1:
            return operands[0]
        if kind == PRODUCT:
            operands = tuple(sorted(operands, key=_product_order))
        return self._node(kind, operands, None)

    def _node(self, kind: int, operands: tuple, value) -> Expression:
        key = (kind, value, operands)
        found = self._known.get(key)
        if found is None:
            found = Expression(self, kind, operands, value, len(self.nodes))
            self._known[key] = found
            self.nodes.append(found)
        return found


def _product_order(factor: Expression) -> tuple[bool, int]:
    """Order factors: the constant first, then by creation."""
    return (factor.kind != CONSTANT, factor.number)


def _sum_order(term: Expression) -> int:
    """Order terms by creation, regardless of signs."""
    return term.operands[0].number if term.kind == NEGATIVE else term.number

# SPDX-License-Identifier: Apache-2.0
"""
A program as operations of a processor: two operands, or three in a fused product and sum.

A product that one sum alone uses becomes part of it, with one rounding for both, but two products
stay apart where results wait for their sum. Sums take what is known late last, so that little
waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Hashable
from typing import Mapping
from typing import Sequence

from flexdyn_ros.codegen.emitting.instruction_order import spare_of
from flexdyn_ros.symbolic.graph import CALL
from flexdyn_ros.symbolic.graph import CONSTANT
from flexdyn_ros.symbolic.graph import Expression
from flexdyn_ros.symbolic.graph import NEGATIVE
from flexdyn_ros.symbolic.graph import PRODUCT
from flexdyn_ros.symbolic.graph import QUOTIENT
from flexdyn_ros.symbolic.graph import SUM
from flexdyn_ros.symbolic.graph import SYMBOL
from flexdyn_ros.symbolic.program import count_uses
from flexdyn_ros.symbolic.program import ordered

ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, STORE = 'add', 'sub', 'mul', 'div', 'neg', 'store'
# a b + c, a b - c, c - a b.
FUSED_ADD, FUSED_SUBTRACT, FUSED_REVERSED = 'fmadd', 'fmsub', 'fnmadd'
FUSED = (FUSED_ADD, FUSED_SUBTRACT, FUSED_REVERSED)
# A sum that can be late by no more cycles than these holds up the results.
URGENT = 10

# What lies in memory from the start, here a node, or the number of an operation's result.
Value = Hashable


@dataclass(frozen=True)
class Operation:
    """
    One step.

    Attributes:
        kind: What it does.
        operands: Its values: factors before what is added.
        result: The number of its result; of a STORE, the place of the output.
    """

    kind: str
    operands: tuple[Value, ...]
    result: int


def operations(
    outputs: Sequence[Expression], known: frozenset[Expression], delays: Mapping[Expression, int]
) -> list[Operation]:
    """
    Return the operations that compute the outputs, in the order in which the graph needs them.

    Args:
        outputs: The results.
        known: Nodes whose values are in memory; symbols and numbers are as well.
        delays: About when each node is known.
    """
    return _Lowering(outputs, known, delays, spare_of(outputs)).run()


def is_in_memory(node: Expression, known: frozenset[Expression]) -> bool:
    """Return whether a node's value is there before the first operation."""
    return node.kind in (SYMBOL, CONSTANT) or node in known


class _Lowering:
    """Makes operations of nodes, one after the other."""

    def __init__(
        self, outputs: Sequence[Expression], known: frozenset[Expression],
        delays: Mapping[Expression, int], spare: Mapping[Expression, int],
    ):
        self._outputs, self._known, self._delays, self._spare = outputs, known, delays, spare
        self._uses = count_uses(outputs)
        self._found: list[Operation] = []
        self._values: dict[Expression, Value] = {}
        self._count = 0

    def run(self) -> list[Operation]:
        """Return the operations."""
        order = ordered(self._outputs)
        fused = {
            self._product_of(operand) for node in order if node.kind == SUM
            for operand in node.operands
        } - set(self._outputs)
        places: dict[Expression, list[int]] = {}
        for place, node in enumerate(self._outputs):
            places.setdefault(node, []).append(place)
        for node in order:
            if is_in_memory(node, self._known):
                self._values[node] = node
            elif node not in fused and (node.kind != NEGATIVE or node in places):
                self._values[node] = self._lower(node)
            for place in places.get(node, ()):
                self._found.append(Operation(STORE, (self._values[node],), place))
        return self._found

    def _product_of(self, term: Expression) -> Expression | None:
        """Return the product that a sum's term adds and that nothing else needs."""
        inner = term.operands[0] if term.kind == NEGATIVE else term
        alone = inner.kind == PRODUCT and self._uses[inner] == 1
        return inner if alone and inner not in self._known else None

    def _emit(self, kind: str, *operands: Value) -> int:
        self._count += 1
        self._found.append(Operation(kind, operands, self._count))
        return self._count

    def _value(self, node: Expression) -> Value:
        found = self._values.get(node)
        if found is None:  # a sign
            found = self._values[node] = self._lower(node)
        return found

    def _lower(self, node: Expression) -> Value:
        if node.kind == SUM:
            return self._sum(node)
        if node.kind == PRODUCT:
            return self._product(node.operands)
        if node.kind == QUOTIENT:
            return self._emit(DIVIDE, *(self._value(each) for each in node.operands))
        if node.kind == NEGATIVE:
            return self._emit(NEGATE, self._value(node.operands[0]))
        raise ValueError(f'a node of kind {node.kind} is no operation')

    def _product(self, factors: Sequence[Expression]) -> Value:
        first, *rest = sorted(factors, key=self._delays.__getitem__)
        value = self._value(first)
        for factor in rest:
            value = self._emit(MULTIPLY, value, self._value(factor))
        return value

    def _sum(self, node: Expression) -> Value:
        """Return a sum; its first term is added, or the second is and the first is not."""
        terms = sorted(node.operands, key=self._delays.__getitem__)
        negative = {term for term in terms if term.kind == NEGATIVE}
        products = {term for term in terms if self._product_of(term) is not None}
        added = [term for term in terms if term not in negative]
        plain = [term for term in terms if term not in products]
        if any(term in products for term in added):
            # Starting from a term that is no product saves an operation.
            start = min(plain or added, key=lambda term: (term in negative, terms.index(term)))
        else:
            start = added[0]
        rest = [term for term in terms if term is not start]
        if start in negative:
            second = next(term for term in rest if term in products and term not in negative)
            rest = [second, *(term for term in rest if term is not second)]
        if len(products) == len(terms) == 2 and self._spare[node] <= URGENT:
            # Two products side by side and their sum take less time than one after the other.
            kind = SUBTRACT if rest[0] in negative else ADD
            return self._emit(kind, self._start(start, True), self._start(rest[0], True))
        value = self._start(start, start in products)
        subtracted = start in negative
        for term in rest:
            if term in products:
                kind = (FUSED_SUBTRACT if subtracted else
                        FUSED_REVERSED if term in negative else FUSED_ADD)
                product = self._product_of(term)
                assert product is not None
                *first, last = sorted(product.operands, key=self._delays.__getitem__)
                value = self._emit(kind, self._product(first), self._value(last), value)
            else:
                inner = term.operands[0] if term in negative else term
                value = self._emit(SUBTRACT if term in negative else ADD, value,
                                   self._value(inner))
            subtracted = False
        return value

    def _start(self, term: Expression, product: bool) -> Value:
        inner = term.operands[0] if term.kind == NEGATIVE else term
        return self._product(inner.operands) if product else self._value(inner)


def calls_and_before(outputs: Sequence[Expression]) -> frozenset[Expression]:
    """Return all calls, and what has to be computed before they can be made."""
    calls = [node for node in ordered(outputs) if node.kind == CALL]
    return frozenset(
        node for node in ordered(calls) if node.kind not in (SYMBOL, CONSTANT, NEGATIVE)
    )

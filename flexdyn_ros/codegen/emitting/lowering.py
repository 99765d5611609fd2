# SPDX-License-Identifier: Apache-2.0
"""
From a schedule to operations on values, each rounded as generated Python rounds it.

Python evaluates the text that `writer.py` writes: products from the left, factors of an inner
product among those of the outer one, sums from the left. The operations here follow the same
rules on the same temporaries, so that both give the same bits. A product that is added or
subtracted at once is one operation with its sum, of two roundings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from typing import Optional

from flexdyn_ros.codegen.emitting.schedule import Schedule
from flexdyn_ros.symbolic.graph import CALL
from flexdyn_ros.symbolic.graph import CONSTANT
from flexdyn_ros.symbolic.graph import Expression
from flexdyn_ros.symbolic.graph import NEGATIVE
from flexdyn_ros.symbolic.graph import PRODUCT
from flexdyn_ros.symbolic.graph import QUOTIENT
from flexdyn_ros.symbolic.graph import SYMBOL
from flexdyn_ros.symbolic.passes.identities import PREFIX

# What an operation is called, how many values it reads, and whether a function follows them. The
# order is that of `runtime/interpreter.h`; a and b*c stand for the values in order.
OPERATIONS = (
    ('end', 0, 0),
    ('copy', 1, 0), ('negate', 1, 0),
    ('add', 2, 0), ('subtract', 2, 0), ('multiply', 2, 0), ('divide', 2, 0),
    ('add_product', 3, 0), ('subtract_product', 3, 0),  # a + b*c, a - b*c
    ('product_less', 3, 0),  # b*c - a
    ('sum_of_products', 4, 0), ('difference_of_products', 4, 0),  # a*b + c*d, a*b - c*d
    ('sin', 1, 0), ('cos', 1, 0), ('exp', 1, 0), ('tanh', 1, 0),
    ('stumpff', 1, 1), ('piecewise', 1, 1),
)
LIBRARY_FUNCTIONS = frozenset(('sin', 'cos', 'exp', 'tanh'))
MULTIPLY, DIVIDE = 'multiply', 'divide'
INPUT, NUMBER, RESULT = 'input', 'number', 'result'


class Value(NamedTuple):
    """
    What operations read and write.

    Attributes:
        kind: INPUT, NUMBER or RESULT.
        place: Of an input, or of the operation that gives the result.
        text: Of a number: zeros of both signs are two.
    """

    kind: str
    place: int
    text: str = ''


class Operation(NamedTuple):
    """
    An operation whose result is the one of the same number.

    Attributes:
        name: One of OPERATIONS.
        result: Its result.
        reads: What it reads.
        function: Name of the function that it calls, where it has numbers of its own.
    """

    name: str
    result: Value
    reads: tuple[Value, ...]
    function: str = ''


@dataclass(frozen=True)
class Lowered:
    """
    A program as operations.

    Attributes:
        operations: In an order in which they can be done.
        outputs: Values of the program's outputs.
        n_inputs: How many numbers are given.
    """

    operations: tuple[Operation, ...]
    outputs: tuple[Value, ...]
    n_inputs: int


def lowered(plan: Schedule) -> Lowered:
    """
    Return a schedule as operations.

    Raises:
        ValueError: If the program calls a function that no operation knows.
    """
    lowering = _Lowering(plan)
    for node in plan.temporaries:
        lowering.value(node)
    outputs = tuple(lowering.value(node) for node in plan.trace.program.outputs)
    return Lowered(tuple(lowering.operations), outputs, len(lowering.places))


# A factor and how it joins what is left of it; a term of a sum, one factor of it apart.
_Factors = list[tuple[str, Expression]]
_Term = tuple[Value, Optional[Value]]


class _Lowering:
    """What is known while a program is lowered."""

    def __init__(self, plan: Schedule):
        self._stored, self._tables = plan.names, plan.trace.program.graph.tables
        symbols = [name for each in plan.trace.inputs for name in each.symbols]
        self.places = {name: place for place, name in enumerate(symbols)}
        self.operations: list[Operation] = []
        self._values: dict[Expression, Value] = {}

    def value(self, node: Expression) -> Value:
        """Return the value of a node, computed where it is not yet."""
        found = self._values.get(node)
        if found is None:
            found = self._values[node] = self._computed(node)
        return found

    def _computed(self, node: Expression) -> Value:
        kind = node.kind
        if kind == CONSTANT:
            return Value(NUMBER, 0, repr(node.value))
        if kind == SYMBOL:
            return Value(INPUT, self.places[node.value])
        if kind == NEGATIVE:
            inner = node.operands[0]
            if inner.kind == CONSTANT:
                return Value(NUMBER, 0, repr(-inner.value))
            return self._emit('negate', self.value(inner))
        if kind == CALL:
            return self._call(node.value, self.value(node.operands[0]))
        if kind in (PRODUCT, QUOTIENT):
            return self._product(self._factors(node))
        return self._sum(node)

    def _emit(self, name: str, *reads: Value, function: str = '') -> Value:
        result = Value(RESULT, len(self.operations))
        self.operations.append(Operation(name, result, reads, function))
        return result

    def _call(self, function: str, argument: Value) -> Value:
        if function in LIBRARY_FUNCTIONS:
            return self._emit(function, argument)
        if function.startswith(PREFIX):
            return self._emit('stumpff', argument, function=function)
        if function in self._tables:
            return self._emit('piecewise', argument, function=function)
        raise ValueError(f'no instruction calls the function "{function}"')

    def _factors(self, node: Expression) -> _Factors:
        """Return the factors of a product or quotient as its text has them, from the left."""
        if node.kind == QUOTIENT:
            above, below = node.operands
            return [*self._spliced(above, 0), (DIVIDE, below)]
        return [each for k, x in enumerate(node.operands) for each in self._spliced(x, k)]

    def _spliced(self, node: Expression, place: int) -> _Factors:
        """Return the factors that one operand stands for: its own where it has no brackets."""
        bare = node.kind == PRODUCT or (node.kind == QUOTIENT and not place)
        return self._factors(node) if bare and node not in self._stored else [(MULTIPLY, node)]

    def _product(self, factors: _Factors) -> Value:
        value = self.value(factors[0][1])
        for how, factor in factors[1:]:
            value = self._emit(how, value, self.value(factor))
        return value

    def _term(self, node: Expression) -> _Term:
        """Return a term of a sum as two factors, or as one value."""
        if node.kind == PRODUCT and node not in self._stored:
            factors = self._factors(node)
            if factors[-1][0] == MULTIPLY:
                return self._product(factors[:-1]), self.value(factors[-1][1])
            return self._product(factors), None
        return self.value(node), None

    def _sum(self, node: Expression) -> Value:
        terms = []
        for place, operand in enumerate(node.operands):
            minus = place > 0 and operand.kind == NEGATIVE
            terms.append((minus, self._term(operand.operands[0] if minus else operand)))
        (_, (first, factor)), (minus, second) = terms[0], terms[1]
        if factor is None:
            value = self._added(first, minus, second)
        elif second[1] is not None:
            name = 'difference_of_products' if minus else 'sum_of_products'
            value = self._emit(name, first, factor, second[0], second[1])
        else:
            name = 'product_less' if minus else 'add_product'
            value = self._emit(name, second[0], first, factor)
        for minus, term in terms[2:]:
            value = self._added(value, minus, term)
        return value

    def _added(self, value: Value, minus: bool, term: _Term) -> Value:
        """Return a value plus or minus a term."""
        first, factor = term
        if factor is None:
            return self._emit('subtract' if minus else 'add', value, first)
        return self._emit('subtract_product' if minus else 'add_product', value, first, factor)

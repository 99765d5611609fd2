# SPDX-License-Identifier: Apache-2.0
"""
Lowered operations one by one, as processors without fused products do them.

A product that is added is two steps, each with its own rounding, and a result is stored as soon as
it is there.
"""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.codegen.emitting import lowering
from flexdyn_ros.codegen.emitting.lowering import Lowered
from flexdyn_ros.codegen.emitting.lowering import RESULT
from flexdyn_ros.codegen.emitting.operations import ADD
from flexdyn_ros.codegen.emitting.operations import DIVIDE
from flexdyn_ros.codegen.emitting.operations import MULTIPLY
from flexdyn_ros.codegen.emitting.operations import NEGATE
from flexdyn_ros.codegen.emitting.operations import Operation
from flexdyn_ros.codegen.emitting.operations import STORE
from flexdyn_ros.codegen.emitting.operations import SUBTRACT
from flexdyn_ros.codegen.emitting.operations import Value

PLAIN = {
    'add': ADD, 'subtract': SUBTRACT, 'multiply': MULTIPLY, 'divide': DIVIDE, 'negate': NEGATE,
}
# How two products join, and how a product (last) joins a value.
OF_TWO = {'sum_of_products': ADD, 'difference_of_products': SUBTRACT}
OF_ONE = {'add_product': ADD, 'subtract_product': SUBTRACT}


def plain_steps(program: Lowered) -> list[Operation]:
    """
    Return a program's steps; a call's kind is the name of its function.

    What is in memory from the start are `lowering.Value`s of inputs and numbers.
    """
    return _Steps(program).run()


class _Steps:
    """Makes steps of operations, one after the other."""

    def __init__(self, program: Lowered):
        self._program = program
        self._found: list[Operation] = []
        self._count = len(program.operations)

    def run(self) -> list[Operation]:
        """Return the steps."""
        places: dict[lowering.Value, list[int]] = {}
        for place, output in enumerate(self._program.outputs):
            places.setdefault(output, []).append(place)
        for operation in self._program.operations:
            self._add(operation)
            self._store(operation.result, places.pop(operation.result, ()))
        for value, rest in places.items():
            self._store(value, rest)
        return self._found

    def _store(self, value: lowering.Value, places: Sequence[int]) -> None:
        for place in places:
            self._found.append(Operation(STORE, (_value(value),), place))

    def _step(self, kind: str, *operands: Value) -> int:
        self._count += 1
        self._found.append(Operation(kind, operands, self._count))
        return self._count

    def _add(self, operation: lowering.Operation) -> None:
        name, values = operation.name, tuple(map(_value, operation.reads))
        last: tuple[Value, ...]
        if name in OF_TWO:
            first = self._step(MULTIPLY, *values[:2])
            kind, last = OF_TWO[name], (first, self._step(MULTIPLY, *values[2:]))
        elif name in OF_ONE:
            kind, last = OF_ONE[name], (values[0], self._step(MULTIPLY, *values[1:]))
        elif name == 'product_less':
            kind, last = SUBTRACT, (self._step(MULTIPLY, *values[1:]), values[0])
        else:
            kind, last = PLAIN.get(name) or operation.function or name, values
        self._found.append(Operation(kind, last, operation.result.place))


def _value(value: lowering.Value) -> Value:
    return value.place if value.kind == RESULT else value

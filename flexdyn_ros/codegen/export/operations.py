# SPDX-License-Identifier: Apache-2.0
"""Operations of emitted code: those of its program, and those of the functions that it defines."""

from __future__ import annotations

from flexdyn_ros.codegen.export.defined_functions import series_coefficients, stumpff_orders
from flexdyn_ros.codegen.export.schedule import Schedule
from flexdyn_ros.dynamics.scalar import Spline
from flexdyn_ros.symbolic.graph import CALL, CONSTANT, Expression, PRODUCT
from flexdyn_ros.symbolic.program import operation_counts, ordered


def emitted_operations(plan: Schedule) -> dict[str, int]:
    """
    Return the operations of one call: "mul", "add" and "trig".

    Multiplications with divisions, additions with subtractions, and calls of functions that the
    code does not define. Operations on constants alone and signs are free. A function that the
    code defines counts as its costlier branch at each call.

    Args:
        plan: The program in its writing order.
    """
    outputs = plan.trace.program.outputs
    counts, tables = operation_counts(outputs), plan.trace.program.graph.tables
    inner: set[Expression] = set()
    for node in ordered(outputs):
        if node.kind == CALL and node.value not in ('sin', 'cos', 'exp', 'tanh'):
            table = tables.get(node.value)
            mul, add = _stumpff_cost(node.value) if table is None else _table_cost(table)
            counts['mul'], counts['add'] = counts['mul'] + mul, counts['add'] + add
            counts['trig'] -= 1
        if node.kind == PRODUCT:
            inner.update(x for x in node.operands if x.kind == PRODUCT and x not in plan.names)
    for node in ordered(outputs):
        if node.kind == PRODUCT and node not in inner:
            counts['mul'] -= _products_of_constants(node, plan)
    return counts


def _products_of_constants(node: Expression, plan: Schedule) -> int:
    """Return the number of multiplications of constants at the start of a product as written."""
    factors, leading = [node], -1
    while factors:
        first = factors.pop(0)
        if first.kind == PRODUCT and (first is node or first not in plan.names):
            factors = [*first.operands, *factors]
        elif first.kind == CONSTANT:
            leading += 1
        else:
            break
    return max(leading, 0)


def _stumpff_cost(function: str) -> tuple[int, int]:
    """Return the operations of a Stumpff function: its series takes more than its closed form."""
    (order,) = stumpff_orders((function,))
    terms = len(series_coefficients(order))
    return terms - 1, terms - 1


def _table_cost(table: Spline) -> tuple[int, int]:
    """Return the operations of the costliest piece, by Horner's rule from its origin on."""
    degrees = [max(len(piece) - 1, 0) for piece in table.pieces]
    costs = [
        (degree, degree + bool(degree and table.origin(number)))
        for number, degree in enumerate(degrees)
    ]
    return max(costs, key=sum)

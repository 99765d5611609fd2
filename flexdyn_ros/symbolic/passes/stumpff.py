# SPDX-License-Identifier: Apache-2.0
"""
Stumpff's functions of one argument from the two highest orders.

c_k(u) = 1/k! - u c_(k+2)(u), so that of all orders of an argument only the highest even and the
highest odd one are calls: the others cost one multiplication and one addition instead of a
series (Stiefel and Scheifele, Linear and Regular Celestial Mechanics, 1971, section 11).
"""

from __future__ import annotations

from math import factorial

from flexdyn_ros.symbolic.expression import CALL
from flexdyn_ros.symbolic.expression import Expression
from flexdyn_ros.symbolic.graph import Graph
from flexdyn_ros.symbolic.program import Program
from flexdyn_ros.symbolic.program import rebuild
from flexdyn_ros.symbolic.program import remake

PREFIX = 'stumpff'


def descend_stumpff(program: Program) -> Program:
    """Return the program with the lower orders computed from the highest ones."""
    highest: dict[tuple[Expression, int], int] = {}
    for node in program.needed():
        order = _order(node)
        if order is not None:
            key = (node.operands[0], order % 2)
            highest[key] = max(order, highest.get(key, 0))

    def rule(graph: Graph, node: Expression, operands: tuple[Expression, ...]) -> Expression:
        order = _order(node)
        if order is None:
            return remake(graph, node, operands)
        top = highest[node.operands[0], order % 2]
        value = graph.call(f'{PREFIX}{top}', operands[0])
        for k in range(top - 2, order - 1, -2):
            value = graph.constant(1.0 / factorial(k)) - operands[0] * value
        return value

    return rebuild(program, rule) if highest else program


def _order(node: Expression) -> int | None:
    if node.kind == CALL and str(node.value).startswith(PREFIX):
        return int(node.value[len(PREFIX):])
    return None

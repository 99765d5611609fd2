# SPDX-License-Identifier: Apache-2.0
"""
Exact derivatives on the graph, along directions.

A derivative along a direction goes through the nodes once, operands first (the forward mode of
Griewank and Walther, Evaluating Derivatives, 2008, chapter 3). The results are nodes of the same
graph, so that common parts of the function and its derivatives are computed once. Derivatives of
parts that do not depend on the direction are exactly zero and cost no operation.
"""

from __future__ import annotations

from typing import Mapping

from flexdyn_ros.dynamics.scalar import slope
from flexdyn_ros.symbolic.graph import (
    CONSTANT,
    Expression,
    NEGATIVE,
    PRODUCT,
    QUOTIENT,
    SUM,
    SYMBOL,
)


class Direction:
    """A direction in the space of the symbols, and the derivatives along it found so far."""

    def __init__(self, rates: Mapping[Expression, Expression]):
        """
        Choose a direction.

        Args:
            rates: Rates of the symbols along it; the symbols left out stand still.
        """
        self._known = dict(rates)

    def derivative(self, node: Expression) -> Expression:
        """Return the derivative of a node along the direction."""
        known, stack = self._known, [node]
        while stack:
            each = stack[-1]
            missing = [operand for operand in each.operands if operand not in known]
            if each in known or not missing:
                stack.pop()
            if each not in known and not missing:
                known[each] = _derivative(each, known)
            stack += missing
        return known[node]


def _derivative(node: Expression, known: dict[Expression, Expression]) -> Expression:
    """Return the derivative of a node whose operands' derivatives are known."""
    graph = node.graph
    if node.kind in (CONSTANT, SYMBOL):
        return graph.zero
    rates = [known[operand] for operand in node.operands]
    if all(rate is graph.zero for rate in rates):
        return graph.zero
    if node.kind == SUM:
        return graph.sum(rates)
    if node.kind == NEGATIVE:
        return -rates[0]
    if node.kind == PRODUCT:
        factors = list(node.operands)
        return graph.sum(
            graph.product([*factors[:k], rate, *factors[k + 1 :]])
            for k, rate in enumerate(rates) if rate is not graph.zero
        )
    if node.kind == QUOTIENT:
        return (rates[0] - node * rates[1]) / node.operands[1]
    function = graph.tables.get(node.value, node.value)
    return slope(function, node.operands[0]) * rates[0]

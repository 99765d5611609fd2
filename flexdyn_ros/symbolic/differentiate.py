# SPDX-License-Identifier: Apache-2.0
"""Partial derivatives of expressions."""

from __future__ import annotations

from flexdyn_ros.symbolic.expression import CONSTANT
from flexdyn_ros.symbolic.expression import Expression
from flexdyn_ros.symbolic.expression import NEGATIVE
from flexdyn_ros.symbolic.expression import PRODUCT
from flexdyn_ros.symbolic.expression import QUOTIENT
from flexdyn_ros.symbolic.expression import SUM
from flexdyn_ros.symbolic.expression import SYMBOL
from flexdyn_ros.symbolic.program import ordered

STUMPFF = 'stumpff'


def partial(
    node: Expression, symbol: Expression, known: dict[Expression, Expression]
) -> Expression:
    """
    Return the partial derivative of a node by a symbol.

    Args:
        node: What is differentiated.
        symbol: By what.
        known: Derivatives by this symbol found so far; it is added to.
    """
    for each in ordered((node,)):
        if each not in known:
            known[each] = _derivative(each, symbol, known)
    return known[node]


def _derivative(node: Expression, symbol: Expression, known: dict) -> Expression:
    """Return the derivative of a node whose operands' derivatives are known."""
    graph = node.graph
    if node.kind == CONSTANT:
        return graph.zero
    if node.kind == SYMBOL:
        return graph.one if node is symbol else graph.zero
    rates = [known[operand] for operand in node.operands]
    if node.kind == SUM:
        return graph.sum(rates)
    if node.kind == NEGATIVE:
        return -rates[0]
    if node.kind == PRODUCT:
        factors = list(node.operands)
        return graph.sum(
            graph.product([*factors[:k], rate, *factors[k + 1 :]]) for k, rate in enumerate(rates)
        )
    if node.kind == QUOTIENT:
        return (rates[0] - node * rates[1]) / node.operands[1]
    return _slope(node) * rates[0]


def _slope(node: Expression) -> Expression:
    """Return the derivative of a function call by its argument."""
    x = node.operands[0]
    if node.value in node.graph.tables:
        return x.piecewise(node.graph.tables[node.value].derivative())
    if node.value == 'sin':
        return x.cos()
    if node.value == 'cos':
        return -x.sin()
    if node.value == 'exp':
        return node
    if node.value == 'tanh':
        return 1.0 - node * node
    order = int(node.value[len(STUMPFF):])
    if order == 0:
        return -0.5 * x.stumpff(1)
    # c_k' = (k c_(k+2) - c_(k+1)) / 2, see dynamics.scalar.stumpff.
    return 0.5 * (order * x.stumpff(order + 2) - x.stumpff(order + 1))

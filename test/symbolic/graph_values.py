# SPDX-License-Identifier: Apache-2.0
"""The value of an expression at numbers for its symbols, by plain recursion."""

from flexdyn_ros.symbolic.graph import CALL, CONSTANT, NEGATIVE, PRODUCT, QUOTIENT, SUM, SYMBOL
import numpy as np


def value_of(node, numbers):
    """
    Return the number that a node stands for.

    Args:
        node: The expression.
        numbers: From each symbol to its number.
    """
    if node.kind == SYMBOL:
        return numbers[node]
    if node.kind == CONSTANT:
        return node.value
    operands = [value_of(operand, numbers) for operand in node.operands]
    if node.kind == SUM:
        return sum(operands)
    if node.kind == PRODUCT:
        return float(np.prod(operands))
    if node.kind == QUOTIENT:
        return operands[0] / operands[1]
    if node.kind == NEGATIVE:
        return -operands[0]
    assert node.kind == CALL
    return node.graph.value_of(node.value, operands[0])

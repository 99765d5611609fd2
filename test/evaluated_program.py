# SPDX-License-Identifier: Apache-2.0
"""Programs evaluated node by node, without any code."""

from flexdyn_ros.symbolic.graph import CONSTANT, NEGATIVE, PRODUCT, QUOTIENT, SUM, SYMBOL


def evaluate_program(program, inputs):
    """Return the outputs at given inputs, by walking the graph: slow, for checks."""
    values = {}
    for node in program.needed():
        operands = [values[operand] for operand in node.operands]
        if node.kind == CONSTANT:
            value = node.value
        elif node.kind == SYMBOL:
            value = inputs[node.value]
        elif node.kind == SUM:
            value = sum(operands)
        elif node.kind == PRODUCT:
            value = 1.0
            for operand in operands:
                value *= operand
        elif node.kind == QUOTIENT:
            value = operands[0] / operands[1]
        elif node.kind == NEGATIVE:
            value = -operands[0]
        else:
            value = program.graph.value_of(node.value, operands[0])
        values[node] = value
    return [values[output] for output in program.outputs]

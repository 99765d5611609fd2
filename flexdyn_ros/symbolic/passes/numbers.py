# SPDX-License-Identifier: Apache-2.0
"""
Numbers in products and sums: folded where they meet, or moved to the products that use them.

While a program is built, numbers that stand side by side fold at once. `constants` also folds
those that nesting keeps apart, c1 (c2 x) = (c1 c2) x and (x + c1) + (c2 - x) = c1 + c2, with like
terms gathered on the way. While a program is built a factor keeps a number of its own, so that all
its users share c x. Where most users have numbers too, as on arms without right angles, the other
way is cheaper: `gather_numbers` gives every product the numbers of its factors,
(c1 x) (c2 y) = (c1 c2) x y.
"""

from __future__ import annotations

from flexdyn_ros.symbolic.graph import CONSTANT, Expression, Graph, PRODUCT, split_sign, SUM
from flexdyn_ros.symbolic.program import merge_nested, Program, rebuild, remake


def constants(program: Program) -> Program:
    """Return the program with nested sums and products merged and their numbers folded."""
    return merge_nested(merge_nested(program, SUM), PRODUCT)


def gather_numbers(program: Program) -> Program:
    """Return the program with the numbers of factors moved into the products that use them."""
    return rebuild(program, _gathered)


def _gathered(graph: Graph, node: Expression, operands: tuple[Expression, ...]) -> Expression:
    if node.kind != PRODUCT:
        return remake(graph, node, operands)
    coefficient, rest = 1.0, []
    for operand in operands:
        negative, core = split_sign(operand)
        coefficient = -coefficient if negative else coefficient
        if core.kind == PRODUCT and core.operands[0].kind == CONSTANT:
            coefficient *= core.operands[0].value
            core = graph.product(core.operands[1:])
        rest.append(core)
    return graph.product([*rest, graph.constant(coefficient)])

# SPDX-License-Identifier: Apache-2.0
"""
Reuse: a sum is opened further, into parts that others use too, where known sums then serve.

Example: with A = x - k v and B = y + k u computed for c A - s B, the sum s x + c y + k (c u - s v)
becomes s A + c B, although c u - s v stays for others: rotating a sum instead of summing what
has been rotated.
"""

from __future__ import annotations

from flexdyn_ros.symbolic.graph import Expression, Graph, PRODUCT, split_sign, SUM
from flexdyn_ros.symbolic.passes.factoring import single_use_nodes
from flexdyn_ros.symbolic.polynomial import expand, factored, tree_cost
from flexdyn_ros.symbolic.program import Program, remake, total_operations

# Sums that come to more terms than this are left as they are.
TERM_LIMIT = 12
OPENED = (SUM, PRODUCT)


def reuse(program: Program) -> Program:
    """Return the program with sums expressed by what is computed anyway."""
    # Parts of what has just been rewritten may vanish again: they serve where nothing else does.
    before = total_operations(program.outputs)
    found = _rewritten(program, parts=False)
    return found if total_operations(found.outputs) < before else _rewritten(program, parts=True)


def _rewritten(program: Program, parts: bool) -> Program:
    uses, graph = program.uses(), program.graph
    made: dict[Expression, Expression] = {}
    known: set[Expression] = set()
    for node in program.needed():
        operands = tuple(made[operand] for operand in node.operands)
        made[node] = remake(graph, node, operands) if operands else node
        if node.kind == SUM and split_sign(made[node])[1].kind == SUM:
            tree = single_use_nodes(node, uses, OPENED)
            others = [_cores(single_use_nodes(shared, uses, OPENED), made)
                      for shared in _shared_sums(tree, uses)]
            made[node] = _cheapest(graph, made[node], _cores(tree, made), others, known)
        if parts:
            _learn(known, made[node])
        else:
            known.add(split_sign(made[node])[1])
    return Program(graph, tuple(made[output] for output in program.outputs))


def _learn(known: set[Expression], root: Expression) -> None:
    """Add a node and all below it to what is known."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in known:
            known.add(node)
            stack.extend(node.operands)


def _shared_sums(single_use: set[Expression], uses: dict[Expression, int]) -> list[Expression]:
    """Return the sums that the single-use nodes use and others too, in order of creation."""
    found = set()
    for node in single_use:
        for operand in node.operands:
            inner = split_sign(operand)[1]
            if inner.kind == SUM and inner not in single_use and uses[inner] > 1:
                found.add(inner)
    return sorted(found, key=lambda node: node.number)


def _cores(nodes: set[Expression], made: dict[Expression, Expression]) -> set[Expression]:
    return {split_sign(made[node])[1] for node in nodes}


def _cheapest(
    graph: Graph,
    node: Expression,
    single_use: set[Expression],
    trees: list[set[Expression]],
    known: set[Expression],
) -> Expression:
    """Return the node, or a cheaper form with one of the shared trees opened."""
    negative, inner = split_sign(node)
    best, cost = inner, tree_cost(inner, known, single_use)
    for tree in trees:
        polynomial = expand(inner, single_use | tree, TERM_LIMIT)
        if polynomial is None:
            continue
        candidate = factored(polynomial, graph)
        candidate_cost = tree_cost(candidate, known, single_use)
        if candidate_cost < cost:
            best, cost = candidate, candidate_cost
    return graph.negate(best) if negative else best

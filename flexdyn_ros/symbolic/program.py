# SPDX-License-Identifier: Apache-2.0
"""A program: the named outputs of a graph, and how to walk and rebuild their nodes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Callable, Iterable, Mapping

from flexdyn_ros.symbolic.graph import (
    CALL,
    Expression,
    Graph,
    NEGATIVE,
    PRODUCT,
    QUOTIENT,
    split_sign,
    SUM,
)


@dataclass(frozen=True)
class Program:
    """
    The computation of a generated function.

    Attributes:
        graph: The graph of its nodes.
        outputs: Its results, in order.
        statements: Everything that was computed on the way, needed or not; empty where only
            nodes that the outputs need are left.
    """

    graph: Graph
    outputs: tuple[Expression, ...]
    statements: tuple[Expression, ...] = ()

    def needed(self) -> tuple[Expression, ...]:
        """Return the nodes that the outputs need, operands before their users."""
        return ordered(self.outputs)

    def uses(self) -> dict[Expression, int]:
        """Return the number of uses of each needed node; a negation counts for its operand."""
        return count_uses(self.outputs)


def ordered(roots: Iterable[Expression]) -> tuple[Expression, ...]:
    """Return all nodes below the roots, operands before their users."""
    roots = tuple(roots)
    if not roots:
        return ()
    graph = roots[0].graph
    # Each pass walks the program that the one before it has left several times.
    if graph.walked[0] != roots:
        graph.walked = roots, _walked(roots)
    return graph.walked[1]


def _walked(roots: tuple[Expression, ...]) -> tuple[Expression, ...]:
    order: list[Expression] = []
    seen: set[Expression] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(root.operands))]
        while path:
            node, rest = path[-1]
            for operand in rest:
                if operand not in seen:
                    seen.add(operand)
                    if operand.operands:
                        path.append((operand, iter(operand.operands)))
                        break
                    order.append(operand)
            else:
                order.append(node)
                path.pop()
    return tuple(order)


def count_uses(roots: Iterable[Expression]) -> dict[Expression, int]:
    """Return the number of uses of each node by nodes and roots; a sign passes the use on."""
    roots = tuple(roots)
    uses: dict[Expression, int] = {}
    users = [node.operands for node in ordered(roots) if node.kind != NEGATIVE]
    for operand in chain(*users, roots):
        inner = split_sign(operand)[1]
        uses[inner] = uses.get(inner, 0) + 1
    return uses


def rebuild(
    program: Program, rule: Callable[[Graph, Expression, tuple[Expression, ...]], Expression]
) -> Program:
    """
    Return the program with every node made anew by a rule, operands first.

    Args:
        program: The program.
        rule: Called with the graph, the old node and its new operands; `remake` keeps a node.
    """
    made: dict[Expression, Expression] = {}
    for node in program.needed():
        operands = tuple(made[operand] for operand in node.operands)
        made[node] = rule(program.graph, node, operands) if operands else node
    return Program(program.graph, tuple(made[output] for output in program.outputs))


def remake(graph: Graph, node: Expression, operands: tuple[Expression, ...]) -> Expression:
    """Return the same operation on other operands."""
    if operands == node.operands:
        return node
    if node.kind == SUM:
        return graph.sum(operands)
    if node.kind == PRODUCT:
        return graph.product(operands)
    if node.kind == QUOTIENT:
        return graph.divide(*operands)
    if node.kind == NEGATIVE:
        return graph.negate(operands[0])
    return graph.call(node.value, operands[0])


def substitute(
    nodes: Iterable[Expression], values: Mapping[Expression, Expression]
) -> list[Expression]:
    """Return the nodes with symbols replaced by other nodes of the same graph."""
    roots = list(nodes)
    made = dict(values)
    for node in ordered(roots):
        if node not in made:
            operands = tuple(made[operand] for operand in node.operands)
            made[node] = remake(node.graph, node, operands) if operands else node
    return [made[root] for root in roots]


def merge_nested(program: Program, kind: int) -> Program:
    """Return the program with sums in sums (products in products) used once merged."""
    uses = program.uses()

    def rule(graph: Graph, node: Expression, operands: tuple[Expression, ...]) -> Expression:
        if node.kind != kind:
            return remake(graph, node, operands)
        merged: list[Expression] = []
        for old, new in zip(node.operands, operands):
            _, inner = split_sign(old)
            minus, core = split_sign(new)
            nested = inner.kind == core.kind == kind and uses[inner] == 1
            if nested and minus and kind == SUM:
                merged += [graph.negate(part) for part in core.operands]
            elif nested:
                first = graph.negate(core.operands[0]) if minus else core.operands[0]
                merged += [first, *core.operands[1:]]
            else:
                merged.append(new)
        return remake(graph, node, tuple(merged))

    return rebuild(program, rule)


def operation_counts(outputs: Iterable[Expression]) -> dict[str, int]:
    """Return multiplications (with divisions), additions and function calls below outputs."""
    counts = {'mul': 0, 'add': 0, 'trig': 0}
    for node in ordered(outputs):
        if node.kind == SUM:
            counts['add'] += len(node.operands) - 1
        elif node.kind == PRODUCT:
            counts['mul'] += len(node.operands) - 1
        elif node.kind == QUOTIENT:
            counts['mul'] += 1
        elif node.kind == CALL:
            counts['trig'] += 1
    return counts


def total_operations(outputs: Iterable[Expression]) -> int:
    """Return the number of operations below outputs, function calls among them."""
    return sum(operation_counts(outputs).values())

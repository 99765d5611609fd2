# SPDX-License-Identifier: Apache-2.0
"""
Factoring and distribution of the single-use parts of sums, where that saves operations.

What only one sum or product uses is multiplied out and factored anew. Factoring alone takes out a
factor that several terms share, x a + x b = x (a + b). Distribution multiplies out sums in
products, too, which finds what factoring alone cannot, such as c (x - y) + c (x + y) = 2 c x.

While a program is built a factor keeps a number of its own, so that all its users share c x. Where
most users have numbers too, as on arms without right angles, the other way is cheaper:
`gather_numbers` gives every product the numbers of its factors, (c1 x) (c2 y) = (c1 c2) x y.
"""

from __future__ import annotations

from flexdyn_ros.symbolic.graph import (
    CONSTANT,
    Expression,
    Graph,
    NEGATIVE,
    PRODUCT,
    split_sign,
    SUM,
)
from flexdyn_ros.symbolic.polynomial import expand, factored, tree_cost
from flexdyn_ros.symbolic.program import Program, rebuild, remake

# Sums with more terms than this are left as they are.
TERM_LIMIT = 80


def rewrite_single_use(program: Program, opened: tuple[int, ...]) -> Program:
    """
    Return the program with each sum's own parts in their cheapest form found.

    The parts of a sum that nothing else uses are multiplied out, like terms are gathered, and
    the result is factored; it is kept where it takes fewer operations.

    Args:
        program: The program.
        opened: Kinds of nodes that are multiplied out, below the sum itself.
    """
    uses = program.uses()
    graph = program.graph
    made: dict[Expression, Expression] = {}
    inner = _inner_nodes(program, uses, opened)
    for node in program.needed():
        operands = tuple(made[operand] for operand in node.operands)
        made[node] = remake(graph, node, operands) if operands else node
        if node.kind in (SUM, PRODUCT) and node not in inner:
            single_use = {made[n] for n in single_use_nodes(node, uses, opened)}
            made[node] = _cheapest(graph, made[node], single_use)
    return Program(graph, tuple(made[output] for output in program.outputs))


def _inner_nodes(
    program: Program, uses: dict[Expression, int], opened: tuple[int, ...]
) -> set[Expression]:
    """Return the nodes that a larger sum or product alone uses and opens."""
    inner: set[Expression] = set()
    for node in program.needed():
        if node.kind in (SUM, PRODUCT):
            inner.update(child for child in _children(node, opened) if uses[child] == 1)
    return inner


def single_use_nodes(
    root: Expression, uses: dict[Expression, int], opened: tuple[int, ...]
) -> set[Expression]:
    """Return the root and the nodes to open that only its tree uses."""
    single_use = {root}
    stack = [root]
    met: dict[Expression, int] = {}
    while stack:
        for child in _children(stack.pop(), opened):
            met[child] = met.get(child, 0) + 1
            if uses[child] == 1 or (met[child] == uses[child] and _is_multiple(child)):
                single_use.add(child)
                stack.append(child)
    return single_use


def _is_multiple(node: Expression) -> bool:
    """Return whether a node is a number times something."""
    return node.kind == PRODUCT and node.operands[0].kind == CONSTANT


def _children(node: Expression, opened: tuple[int, ...]) -> list[Expression]:
    found = []
    for operand in node.operands:
        child = operand.operands[0] if operand.kind == NEGATIVE else operand
        if child.kind in opened:
            found.append(child)
    return found


def _cheapest(graph: Graph, node: Expression, single_use: set[Expression]) -> Expression:
    negative = node.kind == NEGATIVE
    inner = node.operands[0] if negative else node
    cores = {n.operands[0] if n.kind == NEGATIVE else n for n in single_use}
    polynomial = expand(inner, cores, TERM_LIMIT)
    if polynomial is None:
        return node
    atoms = {factor for monomial in polynomial for factor in monomial}
    best, cost = inner, tree_cost(inner, atoms)
    forms = [factored(polynomial, graph)]
    # A number times a node has one term, opened or not.
    multiples = {atom for atom in atoms if _is_multiple(atom)}
    opened = expand(inner, cores | multiples, TERM_LIMIT) if multiples else None
    if opened is not None:
        forms.append(factored(opened, graph))
    for form in forms:
        form_cost = tree_cost(form, atoms)
        if form_cost < cost:
            best, cost = form, form_cost
    if best is inner:
        return node
    return graph.negate(best) if negative else best


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

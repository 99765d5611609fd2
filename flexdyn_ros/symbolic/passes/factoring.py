# SPDX-License-Identifier: Apache-2.0
"""
Factoring and distribution of the single-use parts of sums, where that saves operations.

Parts that only one sum or product uses are multiplied out and factored anew. Factoring alone takes
out a factor that several terms share, x a + x b = x (a + b). Distribution multiplies out sums in
products, too. It finds forms that factoring alone does not, such as c (x - y) + c (x + y) = 2 c x.

While a program is built a factor keeps a number of its own, so that all its users share c x. Where
most users have numbers too, as on arms without right angles, the other way is cheaper.
`gather_numbers` gives every product the numbers of its factors, (c1 x) (c2 y) = (c1 c2) x y.

Reuse opens a sum further, into parts that others use too, where known sums then serve. Example:
with A = x - k v and B = y + k u computed for c A - s B, the sum s x + c y + k (c u - s v) becomes
s A + c B, although c u - s v stays for others: rotating a sum instead of summing rotated terms.
"""

from __future__ import annotations

from typing import Container

from flexdyn_ros.symbolic.graph import (
    CONSTANT,
    Expression,
    Graph,
    PRODUCT,
    split_sign,
    SUM,
)
from flexdyn_ros.symbolic.polynomial import expand, factored, tree_cost
from flexdyn_ros.symbolic.program import Program, rebuild, remake, total_operations

# Sums with more terms than this are left as they are.
TERM_LIMIT = 80
# For reuse, this.
REUSE_LIMIT = 12


def rewrite_single_use(program: Program, opened: tuple[int, ...]) -> Program:
    """
    Return the program with each sum's own parts in their cheapest form found.

    The parts of a sum that nothing else uses are multiplied out, like terms are gathered, and
    the result is factored. It is kept where it takes fewer operations.

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
            cores = _cores(single_use_nodes(node, uses, opened), made)
            made[node] = _refactored(graph, made[node], cores)
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
        child = split_sign(operand)[1]
        if child.kind in opened:
            found.append(child)
    return found


def _refactored(graph: Graph, node: Expression, cores: set[Expression]) -> Expression:
    """Return the node, or a cheaper form with its own parts opened."""
    negative, inner = split_sign(node)
    # Rounds of passes meet most nodes again, as they have left them.
    key = inner, frozenset(cores)
    if key not in graph.forms:
        graph.forms[key] = _cheapest_opened(graph, inner, cores)
    return graph.negate(graph.forms[key]) if negative else graph.forms[key]


def _cheapest_opened(graph: Graph, node: Expression, cores: set[Expression]) -> Expression:
    polynomial = expand(node, cores, TERM_LIMIT)
    if polynomial is None:
        return node
    atoms = {factor for monomial in polynomial for factor in monomial}
    forms = [factored(polynomial, graph)]
    # A number times a node has one term, opened or not.
    multiples = {atom for atom in atoms if _is_multiple(atom)}
    opened = expand(node, cores | multiples, TERM_LIMIT) if multiples else None
    if opened is not None:
        forms.append(factored(opened, graph))
    return _cheapest(graph, node, forms, atoms)


def _cheapest(
    graph: Graph, node: Expression, forms: list[Expression], atoms: set[Expression],
    opened: Container[Expression] = (),
) -> Expression:
    """Return the cheapest of a node and other forms of it without sign; see `tree_cost`."""
    negative, inner = split_sign(node)
    best = min([inner, *forms], key=lambda form: tree_cost(form, atoms, opened))
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


def reuse(program: Program) -> Program:
    """Return the program with sums expressed by nodes that are computed anyway."""
    # Parts of a node just rewritten may vanish again: they serve only without another candidate.
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
            tree = single_use_nodes(node, uses, (SUM, PRODUCT))
            others = [_cores(single_use_nodes(shared, uses, (SUM, PRODUCT)), made)
                      for shared in _shared_sums(tree, uses)]
            made[node] = _reused(graph, made[node], _cores(tree, made), others, known)
        if parts:
            _learn(known, made[node])
        else:
            known.add(split_sign(made[node])[1])
    return Program(graph, tuple(made[output] for output in program.outputs))


def _learn(known: set[Expression], root: Expression) -> None:
    """Add a node and all below it to the known nodes."""
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


def _reused(
    graph: Graph,
    node: Expression,
    single_use: set[Expression],
    trees: list[set[Expression]],
    known: set[Expression],
) -> Expression:
    """Return the node, or a cheaper form with one of the shared trees opened."""
    inner = split_sign(node)[1]
    polynomials = [expand(inner, single_use | tree, REUSE_LIMIT) for tree in trees]
    forms = [factored(each, graph) for each in polynomials if each is not None]
    return _cheapest(graph, node, forms, known, single_use)

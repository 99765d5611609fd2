# SPDX-License-Identifier: Apache-2.0
"""
Polynomials over nodes: the form of a sum with the parts that only it uses multiplied out.

A polynomial maps monomials, sorted tuples of nodes with repetition, to coefficients.
"""

from __future__ import annotations

from typing import Container, Optional

from flexdyn_ros.symbolic.graph import CONSTANT, Expression, Graph, NEGATIVE, PRODUCT, SUM
from flexdyn_ros.symbolic.rounding import accumulate, is_same

Monomial = tuple[Expression, ...]
Polynomial = dict[Monomial, float]

# Polynomials up to this many terms are factored in several ways, up to this many at each step.
TRIAL_LIMIT = 12
TRIALS = 4


def expand(root: Expression, single_use: set[Expression], limit: int) -> Optional[Polynomial]:
    """
    Return the polynomial of a node with its single-use parts multiplied out.

    Args:
        root: The node.
        single_use: Nodes that nothing but the root's own tree uses; all others are atoms.
        limit: Number of terms above which the result is None.
    """
    if root.kind == CONSTANT:
        return {(): root.value}
    if root.kind == NEGATIVE:
        inner = expand(root.operands[0], single_use, limit)
        return None if inner is None else {m: -c for m, c in inner.items()}
    if root not in single_use or root.kind not in (SUM, PRODUCT):
        return {(root,): 1.0}
    result: Polynomial = {} if root.kind == SUM else {(): 1.0}
    for operand in root.operands:
        part = expand(operand, single_use, limit)
        if part is None:
            return None
        result = _plus(result, part) if root.kind == SUM else _times(result, part)
        if len(result) > limit:
            return None
    return result


def _plus(left: Polynomial, right: Polynomial) -> Polynomial:
    result = dict(left)
    for monomial, coefficient in right.items():
        accumulate(result, monomial, coefficient)
    return result


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for a, x in left.items():
        for b, y in right.items():
            accumulate(result, tuple(sorted(a + b, key=_number)), x * y)
    return result


def _number(node: Expression) -> int:
    return node.number


def factored(polynomial: Polynomial, graph: Graph) -> Expression:
    """
    Return the polynomial as a nested form with few operations.

    Greedy: a factor shared by the most terms (a node, or an equal coefficient) is taken out,
    then both halves are treated alike. Of equally frequent factors of a short polynomial, the
    one that leads to the shortest form is taken.
    """
    if not polynomial:
        return graph.zero
    if len(polynomial) == 1:
        return _product(*next(iter(polynomial.items())), graph)
    candidates = _best_factors(polynomial)
    if not candidates:
        return graph.sum(_product(*term, graph) for term in polynomial.items())
    if len(polynomial) > TRIAL_LIMIT:
        candidates = candidates[:1]
    forms = [_taken_out(factor, polynomial, graph) for factor in candidates[:TRIALS]]
    atoms = {factor for monomial in polynomial for factor in monomial}
    return min(forms, key=lambda form: tree_cost(form, atoms))


def _product(monomial: Monomial, coefficient: float, graph: Graph) -> Expression:
    return graph.product((*monomial, graph.constant(coefficient)))


def _taken_out(factor, polynomial: Polynomial, graph: Graph) -> Expression:
    """Return factor * quotient + rest, with quotient and rest factored."""
    inside: Polynomial = {}
    outside: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        if isinstance(factor, float):
            if is_same(abs(coefficient), factor):
                inside[monomial] = 1.0 if coefficient > 0.0 else -1.0
            else:
                outside[monomial] = coefficient
        elif factor in monomial:
            rest = list(monomial)
            rest.remove(factor)
            inside[tuple(rest)] = coefficient
        else:
            outside[monomial] = coefficient
    taken = graph.product((graph.lift(factor), factored(inside, graph)))
    return graph.sum((taken, factored(outside, graph))) if outside else taken


def _best_factors(polynomial: Polynomial) -> list:
    """Return the nodes and coefficients that the most terms share, the earliest node first."""
    shared: dict[Expression, int] = {}
    sizes: dict[float, int] = {}
    for monomial, coefficient in polynomial.items():
        for node in set(monomial):
            shared[node] = shared.get(node, 0) + 1
        size = abs(coefficient)
        if not is_same(size, 1.0) and monomial:
            known = next((other for other in sizes if is_same(other, size)), size)
            sizes[known] = sizes.get(known, 0) + 1
    most = max([*shared.values(), *sizes.values()], default=0)
    if most < 2:
        return []
    nodes = sorted((n for n, count in shared.items() if count == most), key=_number)
    return [*nodes, *(size for size, count in sizes.items() if count == most)]


def tree_cost(
    root: Expression, atoms: Container[Expression], opened: Container[Expression] = ()
) -> int:
    """
    Return the operations of an expression down to its atoms, each node once.

    Args:
        root: The expression.
        atoms: Nodes that cost nothing.
        opened: Nodes that cost their operations, though they are among the atoms.
    """
    total, stack, seen = 0, [root], set()
    while stack:
        node = stack.pop()
        if node in seen or (node in atoms and node not in opened):
            continue
        seen.add(node)
        if node.kind == SUM or node.kind == PRODUCT:
            total += len(node.operands) - 1
            stack.extend(node.operands)
        elif node.kind == NEGATIVE:
            stack.extend(node.operands)
    return total

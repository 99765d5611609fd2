# SPDX-License-Identifier: Apache-2.0
"""
Polynomials over nodes: what a sum becomes when the parts that only it uses are multiplied out.

A polynomial maps monomials, sorted tuples of nodes with repetition, to coefficients.
"""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.symbolic.expression import CONSTANT
from flexdyn_ros.symbolic.expression import Expression
from flexdyn_ros.symbolic.expression import Graph
from flexdyn_ros.symbolic.expression import NEGATIVE
from flexdyn_ros.symbolic.expression import PRODUCT
from flexdyn_ros.symbolic.expression import SUM

Monomial = tuple[Expression, ...]
Polynomial = dict[Monomial, float]

# Coefficients whose ratio differs from one by less than this are the same number.
SAME = 1e-14


def expand(root: Expression, private: set[Expression], limit: int) -> Optional[Polynomial]:
    """
    Return the polynomial of a node with its private parts multiplied out.

    Args:
        root: The node.
        private: Nodes that nothing but the root's own tree uses; all others are atoms.
        limit: Number of terms above which the result is None.
    """
    if root.kind == CONSTANT:
        return {(): root.value}
    if root.kind == NEGATIVE:
        inner = expand(root.operands[0], private, limit)
        return None if inner is None else {m: -c for m, c in inner.items()}
    if root not in private or root.kind not in (SUM, PRODUCT):
        return {(root,): 1.0}
    result: Polynomial = {} if root.kind == SUM else {(): 1.0}
    for operand in root.operands:
        part = expand(operand, private, limit)
        if part is None:
            return None
        result = _plus(result, part) if root.kind == SUM else _times(result, part)
        if len(result) > limit:
            return None
    return result


def _plus(left: Polynomial, right: Polynomial) -> Polynomial:
    result = dict(left)
    for monomial, coefficient in right.items():
        _accumulate(result, monomial, coefficient)
    return result


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for a, x in left.items():
        for b, y in right.items():
            _accumulate(result, tuple(sorted(a + b, key=_number)), x * y)
    return result


def _accumulate(result: Polynomial, monomial: Monomial, coefficient: float) -> None:
    total = result.get(monomial, 0.0) + coefficient
    if abs(total) <= SAME * abs(coefficient):
        result.pop(monomial, None)
    else:
        result[monomial] = total


def _number(node: Expression) -> int:
    return node.number


def factored(polynomial: Polynomial, graph: Graph) -> Expression:
    """
    Return the polynomial as a nested form with few operations.

    Greedy: the factor shared by the most terms (a node, or an equal coefficient) is taken out,
    then both halves are treated alike.
    """
    if not polynomial:
        return graph.zero
    if len(polynomial) == 1:
        (monomial, coefficient), = polynomial.items()
        return graph.product((*monomial, graph.constant(coefficient)))
    factor = _best_factor(polynomial)
    if factor is None:
        return graph.sum(
            graph.product((*monomial, graph.constant(coefficient)))
            for monomial, coefficient in polynomial.items()
        )
    inside: Polynomial = {}
    outside: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        if isinstance(factor, float):
            if _same(abs(coefficient), factor):
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


def _best_factor(polynomial: Polynomial):
    """Return the node or the coefficient that most terms share, or None."""
    shared: dict[Expression, int] = {}
    sizes: dict[float, int] = {}
    for monomial, coefficient in polynomial.items():
        for node in set(monomial):
            shared[node] = shared.get(node, 0) + 1
        size = abs(coefficient)
        if not _same(size, 1.0) and monomial:
            known = next((other for other in sizes if _same(other, size)), size)
            sizes[known] = sizes.get(known, 0) + 1
    candidates: list[tuple] = [
        (count, 1, -node.number, node) for node, count in shared.items() if count > 1
    ]
    candidates += [(count, 0, 0, size) for size, count in sizes.items() if count > 1]
    if not candidates:
        return None
    return max(candidates, key=lambda candidate: candidate[:3])[3]


def _same(a: float, b: float) -> bool:
    return abs(a - b) <= SAME * abs(b)

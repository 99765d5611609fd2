# SPDX-License-Identifier: Apache-2.0
"""
Identities between functions of one argument: sines and cosines in sums, Stumpff's functions.

One is x sin^2 a + x cos^2 a = x. Others are sums of parallel axes, such as x cos a cos b - x sin a
sin b = x cos(a + b) (CLEAR's second pass, El-Rayyes 1990, section 3.2.2). The factors of a term
are looked up through products, so that shared products do not hide an identity.

As c_k(u) = 1/k! - u c_(k+2)(u), only the highest even and the highest odd order of an argument
are calls. The others cost one multiplication and one addition instead of a
series (Stiefel and Scheifele, Linear and Regular Celestial Mechanics, 1971, section 11).
"""

from __future__ import annotations

from collections import Counter
from math import factorial
from typing import Optional

from flexdyn_ros.dynamics.scalar import STUMPFF, stumpff_order
from flexdyn_ros.symbolic.graph import (
    CALL,
    CONSTANT,
    Expression,
    Graph,
    PRODUCT,
    split_sign,
    SUM,
)
from flexdyn_ros.symbolic.program import merge_nested, Program, rebuild, remake


def trigonometry(program: Program) -> Program:
    """Return the program with the identities applied to each sum, flattened first."""

    def rule(graph: Graph, node: Expression, operands: tuple[Expression, ...]) -> Expression:
        new = remake(graph, node, operands)
        negative, inner = split_sign(new)
        if not node.kind == inner.kind == SUM:
            return new
        simpler = _simplify(inner, graph)
        return graph.negate(simpler) if negative else simpler

    return rebuild(merge_nested(program, SUM), rule)


def _simplify(node: Expression, graph: Graph) -> Expression:
    """Return the sum with pairs of terms merged while any identity applies."""
    terms = list(node.operands)
    merged = True
    while merged:
        merged = False
        factors = [_factors(term) for term in terms]
        for i in range(len(terms)):
            for j in range(i + 1, len(terms)):
                result = _merge(factors[i], factors[j], graph)
                if result is not None:
                    terms = [t for k, t in enumerate(terms) if k not in (i, j)] + [result]
                    merged = True
                    break
            if merged:
                break
    return graph.sum(terms)


def _factors(term: Expression) -> tuple[float, Counter]:
    """Return sign times coefficient, and the other factors, those of products included."""
    negative, inner = split_sign(term)
    weight = -1.0 if negative else 1.0
    found: Counter = Counter()
    stack = [inner]
    while stack:
        node = stack.pop()
        if node.kind == PRODUCT:
            stack.extend(node.operands)
        elif node.kind == CONSTANT:
            weight *= node.value
        else:
            found[node] += 1
    return weight, found


def _merge(
    first: tuple[float, Counter], second: tuple[float, Counter], graph: Graph
) -> Optional[Expression]:
    """Return one term for two, or None where no identity fits."""
    (a, left), (b, right) = first, second
    if abs(a) != abs(b):
        return None
    common = left & right
    first_waves, second_waves = _waves(left - common), _waves(right - common)
    if first_waves is None or second_waves is None:
        return None
    replacement = _identity(first_waves, second_waves, a * b > 0.0, graph)
    if replacement is None:
        return None
    return graph.product((graph.constant(a), *common.elements(), replacement))


def _waves(factors: Counter) -> Optional[list[Expression]]:
    """Return the two sines or cosines that a term has beside the common factors, or None."""
    nodes = list(factors.elements())
    if len(nodes) != 2 or any(n.kind != CALL or n.value not in ('sin', 'cos') for n in nodes):
        return None
    return nodes


def _identity(
    first: list[Expression], second: list[Expression], same: bool, graph: Graph
) -> Optional[Expression]:
    """Return the simplified own + other (same sign) or own - other, or None."""
    kinds = sorted(n.value for n in first), sorted(n.value for n in second)
    angles = sorted(n.operands[0].number for n in first)
    if angles != sorted(n.operands[0].number for n in second):
        return None
    x, y = first[0].operands[0], first[1].operands[0]
    if kinds in ((['sin', 'sin'], ['cos', 'cos']), (['cos', 'cos'], ['sin', 'sin'])):
        if x is y:
            # cos^2 a + sin^2 a = 1
            return graph.one if same else None
        if same:
            return graph.call('cos', x - y)
        result = graph.call('cos', x + y)
        return result if kinds[0][0] == 'cos' else graph.negate(result)
    if kinds == (['cos', 'sin'], ['cos', 'sin']) and x is not y:
        sine = first[0] if first[0].value == 'sin' else first[1]
        cosine = first[1] if sine is first[0] else first[0]
        if same:
            return graph.call('sin', x + y)
        return graph.call('sin', sine.operands[0] - cosine.operands[0])
    return None


def descend_stumpff(program: Program) -> Program:
    """Return the program with the lower orders computed from the highest ones."""
    highest: dict[tuple[Expression, int], int] = {}
    for node in program.needed():
        order = _order(node)
        if order is not None:
            key = (node.operands[0], order % 2)
            highest[key] = max(order, highest.get(key, 0))

    def rule(graph: Graph, node: Expression, operands: tuple[Expression, ...]) -> Expression:
        order = _order(node)
        if order is None:
            return remake(graph, node, operands)
        top = highest[node.operands[0], order % 2]
        value = graph.call(f'{STUMPFF}{top}', operands[0])
        for k in range(top - 2, order - 1, -2):
            value = graph.constant(1.0 / factorial(k)) - operands[0] * value
        return value

    return rebuild(program, rule) if highest else program


def _order(node: Expression) -> Optional[int]:
    return stumpff_order(node.value) if node.kind == CALL else None

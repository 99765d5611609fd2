# SPDX-License-Identifier: Apache-2.0
"""A program's outputs as sets of monomials of its inputs, and whether the bound suits them."""

from __future__ import annotations

from collections import Counter
from typing import Iterable, Sequence

from flexdyn_ros.symbolic.graph import CALL, CONSTANT, Expression, NEGATIVE, PRODUCT, SUM, SYMBOL
from flexdyn_ros.symbolic.program import ordered

# A monomial without repeated inputs, and the monomials of a polynomial.
Monomial = frozenset[str]
Support = frozenset[Monomial]
# Terms with repetition, sorted, and their coefficients.
Terms = dict[tuple[str, ...], int]

ONE: Monomial = frozenset()
# Names of numbers start so; no input's name does.
NUMBER = '#'
TERM_LIMIT = 2000


class Unsuitable(ValueError):
    """A function that the bound does not apply to, with the reason."""


def supports(outputs: Sequence[Expression], numbers: bool = True) -> list[Support]:
    """
    Return the supports of outputs, equal ones once, without those that take no operation.

    Args:
        outputs: The outputs.
        numbers: Whether numbers other than 0, 1 and -1 are inputs, the same one for the same
            magnitude, or are left out of the monomials.

    Raises:
        Unsuitable: If a precondition of the bound fails (see the package).
    """
    found: list[Support] = []
    for number, terms in enumerate(_expanded(outputs)):
        support = _checked(terms, numbers, f'output {number}')
        if support not in found and not is_input(support) and support not in ({ONE}, set()):
            found.append(support)
    return found


def is_input(support: Support) -> bool:
    """Whether a support is that of an input."""
    return len(support) == 1 and len(next(iter(support))) == 1


def input_support(name: str) -> Support:
    """Return the support of an input."""
    return frozenset([frozenset([name])])


def operations_outside_calls(outputs: Sequence[Expression]) -> int:
    """Return the multiplications and additions apart from the arguments of functions."""
    seen: set[Expression] = set()
    stack, total = list(outputs), 0
    while stack:
        node = stack.pop()
        if node in seen or node.kind == CALL:
            continue
        seen.add(node)
        stack.extend(node.operands)
        total += len(node.operands) - 1 if node.kind in (SUM, PRODUCT) else 0
    return total


def _expanded(outputs: Sequence[Expression]) -> list[Terms]:
    known: dict[Expression, Terms] = {}
    for node in ordered(outputs):
        known[node] = _terms(node, known)
        if len(known[node]) > TERM_LIMIT:
            raise Unsuitable(f'too large: over {TERM_LIMIT} monomials')
    return [known[node] for node in outputs]


def _terms(node: Expression, known: dict[Expression, Terms]) -> Terms:
    parts = [known[operand] for operand in node.operands]
    if node.kind == NEGATIVE:
        return {monomial: -c for monomial, c in parts[0].items()}
    if node.kind == SUM:
        total: Counter = Counter()
        for part in parts:
            total.update(part)
        return {monomial: c for monomial, c in total.items() if c}
    if node.kind == PRODUCT:
        result: Terms = {(): 1}
        for part in parts:
            result = _times(result, part)
        return result
    if node.kind == CONSTANT:
        plain: dict[float, Terms] = {0.0: {}, 1.0: {(): 1}}
        return plain.get(node.value, {(f'{NUMBER}{node.value:.12g}',): 1})
    if node.kind in (SYMBOL, CALL):
        return {(_name(node),): 1}
    raise Unsuitable('it divides')


def _times(left: Terms, right: Terms) -> Terms:
    result: Counter = Counter()
    for a, x in left.items():
        for b, y in right.items():
            result[tuple(sorted(a + b))] += x * y
    return {monomial: c for monomial, c in result.items() if c}


def _name(node: Expression) -> str:
    if node.kind == SYMBOL:
        return str(node.value)
    argument = node.operands[0]
    inner = _name(argument) if argument.kind == SYMBOL else f'node {argument.number}'
    return f'{node.value}({inner})'


def _checked(terms: Terms, numbers: bool, where: str) -> Support:
    """Return the support of a polynomial that suits."""
    for monomial, coefficient in terms.items():
        text = f'{where} has {coefficient} {" ".join(monomial) or 1}'
        if len(set(monomial)) < len(monomial):
            raise Unsuitable(f'{text}, with an input twice')
        if abs(coefficient) != 1:
            raise Unsuitable(f'{text}, whose coefficient is neither 1 nor -1')
        if sum(map(_is_number, monomial)) > 1:
            raise Unsuitable(f'{text}, a product of numbers')
    bare = frozenset(frozenset(n for n in m if not _is_number(n)) for m in terms)
    if len(bare) < len(terms):
        raise Unsuitable(f'{where} has two monomials that differ in a number alone')
    support = frozenset(map(frozenset, terms)) if numbers else bare
    for divisor in support:
        if any(divisor < other for other in support):
            name = ' '.join(sorted(divisor)) or '1'
            raise Unsuitable(f'{where} has {name} as a monomial, which divides another one')
    return support


def has_numbers(found: Iterable[Support]) -> bool:
    """Whether any support has a number as an input."""
    return any(_is_number(name) for support in found for m in support for name in m)


def _is_number(name: str) -> bool:
    return name.startswith(NUMBER)

# SPDX-License-Identifier: Apache-2.0
"""Supports that a program may use twice: those that two contexts allow."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator, Optional, Sequence

from validation.bounds.polynomials import is_input, Monomial, Support, Unsuitable

# Sets of monomials that two contexts allow, above which the program would not be solved.
LARGEST_SET = 12
MOST_NODES = 1500


def shareable(outputs: Sequence[Support]) -> list[Support]:
    """
    Return all supports but inputs' that two contexts allow: candidates for nodes.

    A context (k, mu) allows v where mu v is contained in output k. Two contexts therefore allow
    all subsets of the intersection of the sets that they multiply.

    Raises:
        Unsuitable: If there are too many.
    """
    both = {a & b for a, b in combinations(contexts(outputs).values(), 2) if a & b}
    largest = [one for one in both if not any(one < other for other in both)]
    if any(len(one) > LARGEST_SET for one in largest):
        raise Unsuitable(f'too large: two contexts have over {LARGEST_SET} monomials in common')
    found = {part for one in largest for part in _parts(one)}
    found = {support for support in found if not is_input(support)}
    if len(found) > MOST_NODES:
        raise Unsuitable(f'too large: {len(found)} supports may be shared')
    return sorted(found, key=lambda s: (len(s), sorted(map(sorted, s))))


def contexts(outputs: Sequence[Support]) -> dict[tuple[int, Monomial], Support]:
    """Return, for each context (k, mu), the monomials n with mu n in output k, without 1."""
    found: dict[tuple[int, Monomial], set[Monomial]] = {}
    for k, output in enumerate(outputs):
        for monomial in output:
            for part in _divisors(monomial):
                if part != monomial:
                    found.setdefault((k, part), set()).add(monomial - part)
    return {context: frozenset(rest) for context, rest in found.items()}


def product(left: Support, right: Support) -> Optional[Support]:
    """Return the product of two supports, None where they have an input in common."""
    if frozenset().union(*left) & frozenset().union(*right):
        return None
    return frozenset(a | b for a in left for b in right)


def quotient(support: Support, place: Support) -> Support:
    """Return the monomials whose products with all of `place` are in `support`."""
    parts = [frozenset(m - c for m in support if c <= m) for c in place]
    return parts[0].intersection(*parts[1:])


def _divisors(monomial: Monomial) -> Iterator[Monomial]:
    names = sorted(monomial)
    for size in range(len(names) + 1):
        yield from map(frozenset, combinations(names, size))


def _parts(support: Support) -> Iterator[Support]:
    monomials = sorted(support, key=sorted)
    for size in range(1, len(monomials) + 1):
        yield from map(frozenset, combinations(monomials, size))

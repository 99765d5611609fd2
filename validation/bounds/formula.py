# SPDX-License-Identifier: Apache-2.0
"""The leaves that formulas of one node may have, and the ways of its monomials through them."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Optional, Sequence

from validation.bounds.polynomials import Monomial, ONE, Support
from validation.bounds.sharing import product, quotient

TOP: Support = frozenset([ONE])


class Leaf(NamedTuple):
    """
    A leaf v at a place C.

    Attributes:
        place: C, its multiplier between the node and here.
        support: v.
        below: C v where it is a factor of more to come, None where it is a term.
    """

    place: Support
    support: Support
    below: Optional[Support]


class Branch(NamedTuple):
    """
    A step of a monomial's way: from one place to the next, or to the end.

    Attributes:
        leaf: The leaf that is taken.
        start: Place and the monomial of it that the way has taken until here.
        end: The same behind the leaf; None at the end.
        part: The monomial of the leaf that is taken.
    """

    leaf: Leaf
    start: tuple[Support, Monomial]
    end: Optional[tuple[Support, Monomial]]
    part: Monomial


class Formula:
    """
    All formulas of a node.

    Attributes:
        node: The node p.
        leaves: All leaves that they may have.
    """

    def __init__(self, node: Support, supports: Sequence[Support]) -> None:
        """Find the leaves among supports: nodes and inputs."""
        self.node = node
        self.leaves: list[Leaf] = []
        self._rest: dict[Support, Support] = {}
        fitting = [
            v for v in supports
            if v != node and all(any(n <= m for m in node) for n in v)
        ]
        places, known = [TOP], {TOP}
        for place in places:
            for leaf in self._leaves_at(place, fitting):
                self.leaves.append(leaf)
                if leaf.below is not None and leaf.below not in known:
                    known.add(leaf.below)
                    places.append(leaf.below)

    def _leaves_at(self, place: Support, supports: Sequence[Support]) -> Iterator[Leaf]:
        rest = quotient(self.node, place)
        for v in supports:
            if len(v) * len(place) > len(self.node):
                continue
            below = product(place, v)
            if below is None:
                continue
            if v <= rest:
                yield Leaf(place, v, None)
            more = quotient(self.node, below) - {ONE}
            if more:
                self._rest[below] = more
                yield Leaf(place, v, below)

    def branches(self, monomial: Monomial) -> list[Branch]:
        """Return all branches of the ways of one of the node's monomials."""
        found: list[Branch] = []
        for leaf in self.leaves:
            for taken in leaf.place:
                if taken <= monomial:
                    found += self._branches_at(leaf, taken, monomial)
        return found

    def _branches_at(self, leaf: Leaf, taken: Monomial, monomial: Monomial) -> Iterator[Branch]:
        start, rest = (leaf.place, taken), monomial - taken
        if leaf.below is None:
            if rest in leaf.support:
                yield Branch(leaf, start, None, rest)
            return
        for part in leaf.support:
            if part <= rest and rest - part in self._rest[leaf.below]:
                yield Branch(leaf, start, (leaf.below, taken | part), part)

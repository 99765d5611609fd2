# SPDX-License-Identifier: Apache-2.0
"""
Common divisors of polynomials, and the operations saved by computing them once.

Two kinds of divisors are enough, as longer ones grow from them. One kind is pairs of factors (of a
number and a factor, too). The other is pairs of terms up to a common multiple. So 2 a x + a y and
3 b y + 6 b x are multiples of 2 x + y (J. Rajski and J. Vasudevamurthy, The testability-preserving
concurrent decomposition and factorization of Boolean expressions, IEEE Transactions on
Computer-Aided Design, 1992; for polynomials A. Hosangadi, F. Fallah and R. Kastner, Optimizing
polynomial expressions by algebraic factorization and common subexpression elimination, 2006).
"""

from __future__ import annotations

from functools import lru_cache
from heapq import heappop, heappush
from itertools import combinations
from math import frexp, ldexp
from random import Random
from typing import cast, NamedTuple, Optional, Union

# Factors are numbers of atoms, in order.
Monomial = tuple[int, ...]
Term = tuple[Monomial, float]
Polynomial = tuple[Term, ...]
# Two factors; a number stands behind the factor that it multiplies, as a negative float.
FactorPair = tuple[int, Union[int, float]]
# Two monomials without common factor, and the second's coefficient over the first's, rounded.
TermPair = tuple[Monomial, Monomial, float]
Divisor = Union[FactorPair, TermPair]

# Polynomials whose divisors are remembered, before all are forgotten.
MEMORY = 100_000


class Multiple(NamedTuple):
    """
    A multiple of a pair of terms in a polynomial.

    Attributes:
        quotient: The factors that both terms have in common.
        places: Of the two terms.
        coefficients: Of the two terms, in the pair's order.
        savings: Operations that the polynomial saves when the pair is an atom whose first, or
            second, coefficient is one.
    """

    quotient: Monomial
    places: tuple[int, int]
    coefficients: tuple[float, float]
    savings: tuple[int, int]


class Divisors(NamedTuple):
    """
    The divisors of one polynomial.

    Attributes:
        factors: Pairs of factors, and the number of terms of each.
        terms: Pairs of terms, and the places of their multiples.
        promising: Pairs of terms that may save something without other polynomials.
    """

    factors: dict[FactorPair, int]
    terms: dict[TermPair, list[Multiple]]
    promising: list[TermPair]


class DivisorIndex:
    """
    The divisors of a set of polynomials, ordered by value.

    Attributes:
        barred: A divisor that is passed over.
        random: Decides between divisors of equal value, the order of atoms where it is None.
    """

    def __init__(self) -> None:
        self.barred: Optional[Divisor] = None
        self.random: Optional[Random] = None
        self._factors: dict[FactorPair, dict[int, int]] = {}
        self._terms: dict[TermPair, dict[int, list[Multiple]]] = {}
        self._memory: dict[Polynomial, Divisors] = {}
        self._entered: dict[int, Divisors] = {}
        self._heap: list[tuple[int, float, int, Divisor]] = []
        self._changed: set[Divisor] = set()

    def _divisors(self, polynomial: Polynomial) -> Divisors:
        found = self._memory.get(polynomial)
        if found is None:
            if len(self._memory) > MEMORY:
                self._memory.clear()
            found = self._memory[polynomial] = divisors_of(polynomial)
        return found

    def enter(self, atom: int, polynomial: Polynomial) -> None:
        """Add the divisors of a polynomial."""
        divisors = self._entered[atom] = self._divisors(polynomial)
        for pair, count in divisors.factors.items():
            owners = self._factors.setdefault(pair, {})
            owners[atom] = count
            if count > 1 or len(owners) > 1:
                self._changed.add(pair)
        for key, multiples in divisors.terms.items():
            holders = self._terms.setdefault(key, {})
            holders[atom] = multiples
            if len(holders) > 1:
                self._changed.add(key)
        self._changed.update(divisors.promising)

    def leave(self, atom: int) -> None:
        """Take the divisors of a polynomial away."""
        divisors = self._entered.pop(atom)
        for pair in divisors.factors:
            owners = self._factors[pair]
            del owners[atom]
            if not owners:
                del self._factors[pair]
            elif len(owners) > 1:
                self._changed.add(pair)
        for key in divisors.terms:
            holders = self._terms[key]
            del holders[atom]
            if not holders:
                del self._terms[key]
            else:
                self._changed.add(key)

    def settle(self) -> None:
        """Set the value of all divisors to zero, as at the start of a search."""
        self._heap.clear()
        self._changed.clear()

    def bar(self, divisor: Optional[Divisor]) -> None:
        """Pass over one divisor, or over none any more."""
        if self.barred is not None:
            self._changed.add(self.barred)
        self.barred = divisor

    def best(self) -> Optional[Divisor]:
        """Return the divisor that saves the most operations, None where none saves any."""
        worthy = [(-self.value(divisor)[0], len(divisor), divisor) for divisor in self._changed]
        worthy = [entry for entry in worthy if entry[0] < 0]
        self._changed.clear()
        # Sets have an order of their own, and random numbers are to fall alike each time.
        for value, length, divisor in sorted(worthy):
            rank = 0.0 if self.random is None else self.random.random()
            heappush(self._heap, (value, rank, length, divisor))
        while self._heap:
            value, _, _, divisor = heappop(self._heap)
            # One that has changed since has been pushed anew.
            if self.value(divisor)[0] == -value:
                return divisor
        return None

    def value(self, divisor: Divisor) -> tuple[int, int]:
        """Return the savings of a divisor, and the place of the coefficient that becomes one."""
        if divisor == self.barred:
            return 0, 0
        if len(divisor) == 2:
            owners = self._factors.get(divisor)
            return (sum(owners.values()) - 1, 0) if owners else (0, 0)
        first, second = _price(divisor)
        first, second = -first, -second
        for _, multiple in self.multiples(divisor):
            first += multiple.savings[0]
            second += multiple.savings[1]
        return (first, 0) if first >= second else (second, 1)

    def owners(self, pair: FactorPair) -> list[int]:
        """Return the polynomials with a pair of factors."""
        return list(self._factors.get(pair, ()))

    def multiples(self, pair: TermPair) -> list[tuple[int, Multiple]]:
        """Return the multiples of a pair of terms, no term in two of them."""
        found = []
        for atom, multiples in self._terms.get(pair, {}).items():
            if len(multiples) == 1:
                found.append((atom, multiples[0]))
                continue
            taken: set[int] = set()
            for multiple in multiples:
                if taken.isdisjoint(multiple.places):
                    taken.update(multiple.places)
                    found.append((atom, multiple))
        return found


@lru_cache(maxsize=MEMORY)
def rounded(number: float) -> float:
    """Return the number to 44 binary digits, by which equal ones are known."""
    if number == 1.0 or number == -1.0:
        return number
    mantissa, exponent = frexp(number)
    return ldexp(round(ldexp(mantissa, 44)), exponent - 44)


def cost(polynomial: Polynomial) -> int:
    """Return the multiplications and additions of a polynomial."""
    return sum(map(term_cost, polynomial)) + max(len(polynomial) - 1, 0)


def term_cost(term: Term) -> int:
    """Return the multiplications of a term."""
    monomial, coefficient = term
    return len(monomial) - 1 + (not is_unit(coefficient)) if monomial else 0


def factors_of(term: Term) -> tuple[Union[int, float], ...]:
    """Return the factors of a term, the size of a number as a negative one behind the others."""
    monomial, coefficient = term
    return monomial if is_unit(coefficient) else (*monomial, -abs(coefficient))


def divisors_of(polynomial: Polynomial) -> Divisors:
    """Return the divisors of a polynomial."""
    factors: dict[FactorPair, int] = {}
    for term in polynomial:
        factors_of_term = factors_of(term)
        if len(factors_of_term) > 1:
            for pair in set(combinations(factors_of_term, 2)):
                known = cast(FactorPair, pair)
                factors[known] = factors.get(known, 0) + 1
    terms: dict[TermPair, list[Multiple]] = {}
    costs = list(map(term_cost, polynomial))
    for i, j in combinations(range(len(polynomial)), 2):
        key, quotient, (a, b) = split_pair(polynomial[i], polynomial[j])
        before = costs[i] + costs[j] + 1 - len(quotient)
        savings = (before - (not is_unit(a)), before - (not is_unit(b)))
        terms.setdefault(key, []).append(Multiple(quotient, (i, j), (a, b), savings))
    # Without a common factor or number, a pair in one place saves no operation.
    promising = [
        key for key, multiples in terms.items()
        if len(multiples) > 1 or (
            (multiples[0].quotient or is_unit(key[2])) and _alone(key, multiples[0]) > 0
        )
    ]
    return Divisors(factors, terms, promising)


def split_pair(left: Term, right: Term) -> tuple[TermPair, Monomial, tuple[float, float]]:
    """Return two terms as a multiple of a pair: the pair, the quotient, the coefficients."""
    (first, a), (second, b) = left, right
    quotient: Monomial = ()
    for factor in first:
        if factor in second:
            place = second.index(factor)
            second = second[:place] + second[place + 1:]
            quotient = (*quotient, factor)
    if quotient:
        rest = list(first)
        for factor in quotient:
            rest.remove(factor)
        first = tuple(rest)
    if second < first:
        first, second, a, b = second, first, b, a
    return (first, second, rounded(b / a)), quotient, (a, b)


def is_unit(coefficient: float) -> bool:
    """Return whether a product with a coefficient costs nothing but a sign."""
    return coefficient == 1.0 or coefficient == -1.0


@lru_cache(maxsize=MEMORY)
def _price(pair: TermPair) -> tuple[int, int]:
    """Return the operations of a pair of terms whose first, or second, coefficient is one."""
    first, second, ratio = pair
    both = 1 + max(len(first) - 1, 0) + max(len(second) - 1, 0)
    weighted = not is_unit(ratio)
    return both + (weighted and bool(second)), both + (weighted and bool(first))


def _alone(pair: TermPair, multiple: Multiple) -> int:
    """Return the savings of a pair of terms that is in one place only."""
    first, second = _price(pair)
    return max(multiple.savings[0] - first, multiple.savings[1] - second)

# SPDX-License-Identifier: Apache-2.0
"""
A longer search for a cheaper network, which also changes scales and merges squares.

Most numbers in a program come from the units of intermediate results. A polynomial that is
no result may be computed as any multiple of itself. Its terms then have other numbers, and so
have those that it is a factor of. With y = 2 a + 3 b + 5 c, z = d y / 2 and w = e y / 2, half of
y takes three of the five numbers away: a + 1.5 b + 2.5 c, d y and e y. Polynomials that terms
without a number connect change together, so that these stay without. Such changes are made
between any two steps of the search, at first without a gain, until common parts show.

Of the squares of the sine and the cosine of one angle in a polynomial, one is enough. So a x s^2 +
b x c^2 = a x + (b - a) x c^2, for any a and b. Where they are equal, a x remains, as in CLEAR's
second pass (El-Rayyes 1990, section 3.2.2). Where they are not, as in an inertia seen from turned
axes, this still is one product less.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Optional

from flexdyn_ros.symbolic.program import Program
from flexdyn_ros.symbolic.rounding import accumulate
from flexdyn_ros.symbolic.search.divisors import is_unit, Monomial, Polynomial, rounded, Term
from flexdyn_ros.symbolic.search.extraction import attempt, drawn, open_about, search
from flexdyn_ros.symbolic.search.network import Network

# Share of the changes that are of one polynomial alone, and others that go with it at most.
ALONE = 0.3
WIDTH = 3
# Numbers that a change may add, as common parts may save them again.
SLACK = 3


def search_divisors(
    program: Program, steps: int, refinement: int = 0, patience: int = 0
) -> Program:
    """
    Return the program after a search for better divisors, step by step.

    Args:
        program: The program.
        steps: Of `search`, which takes divisors out in other orders.
        refinement: Steps of `refine`, which changes scales too, at most.
        patience: Steps of `refine` without a gain after which it ends.
    """
    network = Network(program)
    search(network, steps)
    refine(network, refinement, patience)
    return network.program()


def rescale(network: Network, atom: int, random: Random) -> bool:
    """
    Compute a polynomial and some that are connected with it in another unit.

    Args:
        network: The network; changed in place where the result is True.
        atom: The polynomial.
        random: Chooses the ones that go with it, and the term that loses its number.

    Returns:
        Whether that was possible without many more numbers.
    """
    if atom in network.roots:
        return False
    group = {atom}
    if random.random() >= ALONE:
        for _ in range(random.randint(1, WIDTH)):
            near = _connected(network, group)
            if not near:
                break
            group.add(random.choice(near))
    touched = group.union(*(network.users[each] for each in group))
    scales = _scales(network, group, touched)
    if not scales:
        return False
    scale = random.choice(scales)
    if _more_numbers(network, group, touched, scale) > SLACK:
        return False
    for each in sorted(touched):
        network.put(each, _scaled(network, each, group, scale))
    for each in sorted(touched):
        network.unify(each)
    return True


def _connected(network: Network, group: set[int]) -> list[int]:
    """Return polynomials, no results, that a term without a number joins to the group."""
    found: set[int] = set()
    for atom in group:
        for monomial, coefficient in network.polynomials[atom]:
            if is_unit(coefficient):
                found.update(factor for factor in monomial if factor in network.polynomials)
        for user in network.users[atom]:
            for monomial, coefficient in network.polynomials[user]:
                if is_unit(coefficient) and atom in monomial:
                    found.add(user)
                    break
    return sorted(found - group - network.roots)


def _scales(network: Network, group: set[int], touched: set[int]) -> list[float]:
    """Return the scales of the group with which a term about it loses its number."""
    found = set()
    for atom in touched:
        inside_group = atom in group
        for monomial, coefficient in network.polynomials[atom]:
            if is_unit(coefficient):
                continue
            inside = 0
            for factor in monomial:
                if factor in group:
                    inside += 1
            if inside_group and not inside:
                found.add(1.0 / abs(coefficient))
            elif not inside_group and inside == 1:
                found.add(abs(coefficient))
    return sorted(found)


def _more_numbers(
    network: Network, group: set[int], touched: set[int], scale: float
) -> int:
    """Return the increase of the number of terms with a number where the group is scaled."""
    more = 0
    for atom in touched:
        inside_group = atom in group
        for monomial, coefficient in network.polynomials[atom]:
            power = int(inside_group)
            for factor in monomial:
                if factor in group:
                    power -= 1
            if power and monomial:
                size = rounded(abs(coefficient * scale**power))
                more += (size != 1.0) - (not is_unit(coefficient))
    return more


def _scaled(network: Network, atom: int, group: set[int], scale: float) -> Polynomial:
    """Return the polynomial of an atom where the group is scaled."""
    result: list[Term] = []
    for term in network.polynomials[atom]:
        monomial, coefficient = term
        power = int(atom in group)
        for factor in monomial:
            if factor in group:
                power -= 1
        if power:
            term = (monomial, network.canonical(coefficient * scale**power))
        result.append(term)
    return tuple(result)


def merge_squares(network: Network, atom: int) -> None:
    """Let a polynomial of a network have one square, where it has both with one other factor."""
    polynomial = network.polynomials.get(atom)
    while polynomial is not None:
        polynomial = _merged(network, polynomial)
        if polynomial is not None:
            network.put(atom, polynomial)
    network.unify(atom)


def _merged(network: Network, polynomial: Polynomial) -> Optional[Polynomial]:
    """Return a polynomial with one square for two, None where it has no such two."""
    for monomial, value in polynomial:
        for factor in network.partners.keys() & set(monomial):
            if monomial.count(factor) < 2:
                continue
            rest = list(monomial)
            rest.remove(factor)
            rest.remove(factor)
            other = tuple(sorted([*rest, *2 * [network.partners[factor]]]))
            if any(each == other for each, _ in polynomial):
                return _without(network, polynomial, monomial, other, tuple(rest), value)
    return None


def _without(
    network: Network, polynomial: Polynomial, gone: Monomial, other: Monomial, rest: Monomial,
    value: float,
) -> Polynomial:
    """Return a polynomial with value (rest - other) for the term that is to go."""
    terms = {monomial: each for monomial, each in polynomial if monomial != gone}
    accumulate(terms, rest, value)
    accumulate(terms, other, -value)
    return tuple((monomial, network.canonical(each)) for monomial, each in terms.items())


# Changes of scales that are tried before each step.
RESCALINGS = 10


def refine(network: Network, steps: int, patience: int) -> None:
    """
    Look for a cheaper network, step by step; see `extraction.search`, which comes before.

    Args:
        network: The network; changed in place.
        steps: Number of steps to try.
        patience: Steps without a gain after which the search ends.
    """
    random = network.index.random = Random(1)
    least, since = network.total, 0
    for atom in drawn(network, steps, random):
        for other in random.choices(list(network.polynomials), k=RESCALINGS):
            if other in network.polynomials:
                attempt(network, partial(rescale, network, other, random))
        if network.users.get(atom) and atom in network.polynomials:
            attempt(network, partial(_open, network, atom, random))
        since += 1
        if network.total < least:
            least, since = network.total, 0
        elif since >= patience:
            return


def _open(network: Network, atom: int, random: Random) -> bool:
    """Multiply out a polynomial and some near it, without two squares where one is enough."""
    done = open_about(network, atom, random)
    if done and network.partners:
        for each in network.changed:
            merge_squares(network, each)
    return done

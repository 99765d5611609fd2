# SPDX-License-Identifier: Apache-2.0
"""
Scales of intermediate results: a number less where a polynomial is computed in another unit.

A polynomial that is no result may be computed as any multiple of itself; its terms then have
other numbers, and so have those that it is a factor of. With y = 2 a + 3 b + 5 c, z = d y / 2 and
w = e y / 2, half of y takes three of the five numbers away: a + 1.5 b + 2.5 c, d y and e y.
Polynomials that terms without a number connect change together, so that these stay without.
"""

from __future__ import annotations

from random import Random

from flexdyn_ros.symbolic.divisors import Polynomial
from flexdyn_ros.symbolic.divisors import rounded
from flexdyn_ros.symbolic.divisors import Term
from flexdyn_ros.symbolic.network import Network

# Share of the changes that are of one polynomial alone, and others that go with it at most.
ALONE = 0.3
WIDTH = 3
# Numbers that a change may add, as what is then in common may save them again.
SLACK = 3


def rescale(network: Network, atom: int, random: Random) -> bool:
    """
    Compute a polynomial and some that hang together with it in another unit.

    Args:
        network: The network; changed in place where the result is True.
        atom: The polynomial.
        random: Decides which ones go with it, and which term loses its number.

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
            if _is_unit(coefficient):
                found.update(factor for factor in monomial if factor in network.polynomials)
        for user in network.users[atom]:
            for monomial, coefficient in network.polynomials[user]:
                if _is_unit(coefficient) and atom in monomial:
                    found.add(user)
                    break
    return sorted(found - group - network.roots)


def _scales(network: Network, group: set[int], touched: set[int]) -> list[float]:
    """Return the scales of the group with which a term about it loses its number."""
    found = set()
    for atom in touched:
        own = atom in group
        for monomial, coefficient in network.polynomials[atom]:
            if _is_unit(coefficient):
                continue
            inside = 0
            for factor in monomial:
                if factor in group:
                    inside += 1
            if own and not inside:
                found.add(1.0 / abs(coefficient))
            elif not own and inside == 1:
                found.add(abs(coefficient))
    return sorted(found)


def _more_numbers(
    network: Network, group: set[int], touched: set[int], scale: float
) -> int:
    """Return how many more terms have a number where the group is scaled."""
    more = 0
    for atom in touched:
        own = atom in group
        for monomial, coefficient in network.polynomials[atom]:
            power = int(own)
            for factor in monomial:
                if factor in group:
                    power -= 1
            if power and monomial:
                size = rounded(abs(coefficient * scale**power))
                more += (size != 1.0) - (not _is_unit(coefficient))
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
            term = (monomial, network.snapped(coefficient * scale**power))
        result.append(term)
    return tuple(result)


def _is_unit(coefficient: float) -> bool:
    return coefficient == 1.0 or coefficient == -1.0

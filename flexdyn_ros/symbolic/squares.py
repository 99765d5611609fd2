# SPDX-License-Identifier: Apache-2.0
"""
Squares of the sine and the cosine of one angle in a polynomial: one of them is enough.

a x s^2 + b x c^2 = a x + (b - a) x c^2, whatever a and b are. Where they are equal nothing is
left but a x, as in CLEAR's second pass (El-Rayyes 1990, section 3.2.2); where they are not, as in
an inertia seen from turned axes, this still is one product less.
"""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.symbolic.divisors import Monomial
from flexdyn_ros.symbolic.divisors import Polynomial
from flexdyn_ros.symbolic.known_numbers import accumulate
from flexdyn_ros.symbolic.network import Network


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
    return tuple((monomial, network.snapped(each)) for monomial, each in terms.items())

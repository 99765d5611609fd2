# SPDX-License-Identifier: Apache-2.0
"""
Taking common divisors out of a network of polynomials, and searching for a cheaper one.

Parts that products and sums share up to a multiple are computed once. Products are taken apart,
shared or not, and parts that one node uses alone are multiplied out. Of all pairs of factors, and
of all pairs of terms in any multiple, the one that saves most becomes a node, repeatedly. For
example x y + 2 x z and 3 a y + 6 a z are multiples of y + 2 z.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Callable, cast, Iterator, Optional

from flexdyn_ros.symbolic.program import Program
from flexdyn_ros.symbolic.search.divisors import (
    Divisor,
    FactorPair,
    factors_of,
    Multiple,
    Polynomial,
    split_pair,
    Term,
    TermPair,
)
from flexdyn_ros.symbolic.search.network import Network

# Polynomials that one step multiplies out, at most.
WIDTH = 3
# Share of the steps that multiply a polynomial out in one place only.
SINGLE = 0.3


def common_divisors(program: Program) -> Program:
    """Return the program with the most valuable divisors made nodes, again and again."""
    network = Network(program)
    extract(network)
    return network.program()


def extract(network: Network) -> None:
    """Make the most valuable divisor a polynomial of its own, again and again."""
    while True:
        divisor = network.index.best()
        if divisor is None:
            return
        if len(divisor) == 2:
            _extract_factors(network, divisor)
        else:
            _extract_terms(network, divisor)


def _extract_factors(network: Network, pair: FactorPair) -> None:
    first, second = pair
    term: Term = ((first,), -second) if isinstance(second, float) else ((first, second), 1.0)
    owners = network.index.owners(pair)
    atom = next((each for each in owners if network.polynomials[each] == (term,)), None)
    if atom is None:
        atom = network.new_atom()
        network.put(atom, (term,))
    for owner in owners:
        if owner != atom:
            network.put(owner, tuple(
                _replaced(each, pair, atom) for each in network.polynomials[owner]
            ))
            network.unify(owner)


def _replaced(term: Term, pair: FactorPair, atom: int) -> Term:
    """Return a term with an atom in place of a pair of factors, as often as it has the pair."""
    monomial, coefficient = term
    first, second = pair
    factors = list(monomial)
    if isinstance(second, float):
        if abs(coefficient) != -second or first not in factors:
            return term
        factors.remove(first)
        return tuple(sorted([*factors, atom])), 1.0 if coefficient > 0.0 else -1.0
    count = factors.count(first) // 2 if first == second else min(
        factors.count(first), factors.count(second)
    )
    for _ in range(count):
        factors.remove(first)
        factors.remove(second)
    return (tuple(sorted([*factors, *[atom] * count])), coefficient) if count else term


def _extract_terms(network: Network, pair: TermPair) -> None:
    multiples = network.index.multiples(pair)
    one = network.index.value(pair)[1]
    first, second = multiples[0][1].coefficients
    weights = (first / second, 1.0) if one else (1.0, second / first)
    atom = network.new_atom()
    network.put(atom, tuple(
        (monomial, network.canonical(weight)) for monomial, weight in zip(pair[:2], weights)
    ))
    owners: dict[int, list[Multiple]] = {}
    for owner, multiple in multiples:
        owners.setdefault(owner, []).append(multiple)
    for owner, of_owner in owners.items():
        gone = {place for multiple in of_owner for place in multiple.places}
        kept = [each for k, each in enumerate(network.polynomials[owner]) if k not in gone]
        kept += [
            (tuple(sorted((*multiple.quotient, atom))), multiple.coefficients[one])
            for multiple in of_owner
        ]
        network.put(owner, tuple(kept))
    for owner in owners:
        network.unify(owner)


def search(network: Network, steps: int, seed: int = 1) -> None:
    """
    Look for a cheaper network, step by step.

    A step multiplies a polynomial, or a few near each other, out in their users, and takes
    divisors out anew, another one first. It is kept where it costs no more: so the network
    drifts through forms of equal cost, until one of them allows a cheaper one.

    Args:
        network: The network; changed in place.
        steps: Number of steps to try.
        seed: Of the random numbers; the same one gives the same result.
    """
    extract(network)
    random = network.index.random = Random(seed)
    for atom in drawn(network, steps, random):
        attempt(network, partial(open_about, network, atom, random))


def drawn(network: Network, steps: int, random: Random) -> Iterator[int]:
    """
    Draw polynomials that others use, all of them before one comes again.

    Args:
        network: The network, which may change between two draws.
        steps: Number of draws; polynomials that are gone by then are left out.
        random: Decides their order.
    """
    tried = 0
    while tried < steps:
        atoms = [atom for atom in network.polynomials if network.users[atom]]
        if not atoms:
            return
        for atom in random.sample(atoms, min(len(atoms), steps - tried)):
            tried += 1
            if atom in network.polynomials and network.users[atom]:
                yield atom


def attempt(network: Network, change: Callable[[], bool]) -> None:
    """
    Change a network and take divisors out anew, or leave it as it was if that costs more.

    Args:
        network: The network.
        change: Changes it; returns whether it could. A divisor that it bars is barred at first.
    """
    before = network.total
    network.begin()
    done = change()
    if done:
        extract(network)
        network.index.bar(None)
        extract(network)
        network.drop_unused(network.changed)
    if not done or network.total > before:
        network.index.bar(None)
        network.take_back()
        network.index.settle()


def open_about(network: Network, atom: int, random: Random) -> bool:
    """Multiply out a polynomial and some near it; return whether they were short enough."""
    users = sorted(network.users[atom])
    if len(users) > 1 and random.random() < SINGLE:
        return network.inline(atom, [random.choice(users)])
    network.index.bar(_divisor_of(network.polynomials[atom]))
    if not network.inline(atom):
        return False
    for _ in range(random.randrange(WIDTH)):
        near = sorted({
            factor
            for each in network.changed for monomial, _ in network.polynomials.get(each, ())
            for factor in monomial if factor in network.polynomials
        })
        if near:
            network.inline(random.choice(near))
    return True


def _divisor_of(polynomial: Polynomial) -> Optional[Divisor]:
    """Return a polynomial as a divisor, None if it is longer than one."""
    if len(polynomial) == 2:
        return split_pair(*polynomial)[0]
    if len(polynomial) == 1:
        factors = factors_of(polynomial[0])
        return cast(FactorPair, factors) if len(factors) == 2 else None
    return None

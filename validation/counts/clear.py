# SPDX-License-Identifier: Apache-2.0
"""
The steps of the post-processor CLEAR, on a listing of the published form.

El-Rayyes 1990, 3.2: statements that no result needs, trigonometry, constants, duplicate products
and factors. Names of constants start with a lower-case letter or are a number. The products of
constants in a term are one constant x, and so are the constants of terms that have the same
variables. Of a term's factors the pair that stands together most often from there to the end
becomes a statement Y. This repeats as long as a pair stands in more than one place. A place holds
a pair once (figure 3.6 keeps "-Y003 * QD1 * S2").
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import prod
from types import MappingProxyType
from typing import Mapping, Optional, Sequence

from validation.counts.dh_chain import DhRow
from validation.counts.published_form import (
    inverse_dynamics,
    Listing,
    PublishedStatement,
    Term,
    ZERO,
)
from validation.counts.robots import stanford_rows

_ZERO = 1e-12
# The constant of the Stanford arm's link 4 that has the value of another in the thesis.
EQUAL = {'j34': 'j24'}


def is_constant(name: str) -> bool:
    """Return whether a name is that of a constant."""
    return name[0].islower() or name[0].isdigit()


def without_unused(listing: Listing) -> Listing:
    """Return the statements that a result needs."""
    needed = {name for each in listing.results for term in each.terms for name in term.atoms}
    kept: list[PublishedStatement] = []
    for statement in reversed(listing.statements):
        if statement.name in needed:
            kept.append(statement)
            needed.update(name for term in statement.terms for name in term.atoms)
    return Listing(kept[::-1], listing.results)


def with_trigonometry(listing: Listing) -> Listing:
    """Return the statements with squares and products of waves merged."""
    merged = [
        replace(each, terms=_merge_waves(each.terms) or each.terms) for each in listing.statements
    ]
    return Listing(merged, listing.results)


def _merge_waves(terms: tuple[Term, ...]) -> Optional[tuple[Term, ...]]:
    """Return x (c^2 + s^2) as x, and products of two angles' waves as those of their sum."""
    if len(terms) != 2:
        return None
    left, right = list(terms[0].atoms), list(terms[1].atoms)
    common = []
    for name in list(left):
        if name in right:
            left.remove(name)
            right.remove(name)
            common.append(name)
    (first, sign), (second, other) = sorted(
        (sorted(factors), term.sign) for factors, term in zip((left, right), terms)
    )
    numbers = {name[1:] for name in (*first, *second)}
    kinds = [[name[0] for name in factors] for factors in (first, second)]
    if len(numbers) > 2 or any(len(factors) != 2 for factors in kinds):
        return None
    pair = ''.join(sorted(numbers))
    if kinds == [['C', 'C'], ['S', 'S']] and [each[1:] for each in first] == [
        each[1:] for each in second
    ]:
        if len(numbers) == 1 and sign == other:
            return (Term(sign, tuple(common)),)
        if len(numbers) == 2 and sign != other:
            return (Term(sign, (f'C{pair}', *common)),)
    elif kinds == [['C', 'S'], ['C', 'S']] and len(numbers) == 2 and sign == other:
        return (Term(sign, (f'S{pair}', *common)),)
    return None


def with_constants_computed(
    listing: Listing, values: Mapping[str, float]
) -> tuple[Listing, dict[str, float]]:
    """
    Return the statements with constants x, and the values of all constants.

    Statements that are constant as a whole are gone.

    Args:
        listing: The statements.
        values: Of the constants; a term whose constant is zero vanishes.
    """
    names: dict[tuple, str] = {}
    found = dict(values)
    known: dict[str, Term] = {}

    def constant(value: float, *parts: tuple[int, tuple[str, ...]]) -> str:
        """Return the name of a sum of products of constants."""
        name = names.setdefault(tuple(parts), f'x{len(names) + 1:03d}')
        found[name] = value
        return name

    def computed(statement: PublishedStatement) -> PublishedStatement:
        groups: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = {}
        for term in statement.terms:
            sign = term.sign
            atoms: tuple[str, ...] = ()
            for name in term.atoms:
                value = known.get(name)
                sign *= value.sign if value else 1
                atoms += value.atoms if value else (name,)
            if sign == 0:
                continue
            variables = tuple(sorted(name for name in atoms if not is_constant(name)))
            fixed = tuple(sorted(name for name in atoms if is_constant(name)))
            groups.setdefault(variables, []).append((sign, fixed))
        terms = []
        for variables, parts in groups.items():
            (sign, fixed), *others = parts
            number = sum(sign * prod(found[name] for name in fixed) for sign, fixed in parts)
            if abs(number) < _ZERO:
                continue
            if others:
                terms.append(Term(1, (*variables, constant(number, *parts))))
            elif len(fixed) > 1:
                terms.append(Term(sign, (*variables, constant(sign * number, (1, fixed)))))
            else:
                terms.append(Term(sign, variables + fixed))
        return replace(statement, terms=tuple(terms))

    kept = []
    for statement in map(computed, listing.statements):
        if not statement.terms:
            known[statement.name] = ZERO
        elif all(is_constant(name) for term in statement.terms for name in term.atoms):
            known[statement.name], = statement.terms
        else:
            kept.append(statement)
    return Listing(kept, [computed(result) for result in listing.results]), found


def with_duplicates_renamed(listing: Listing) -> Listing:
    """Return the statements with products that stand in several places as statements Y."""
    lines = [*listing.statements, *listing.results]
    results = len(listing.results)
    at, count = 0, 0
    while at < len(lines):
        for part in range(len(lines[at].terms)):
            while pair := _most_frequent_pair(lines, at, part):
                count += 1
                name = f'Y{count:03d}'
                lines[at:] = [_renamed(line, pair, name) for line in lines[at:]]
                lines.insert(at, PublishedStatement(name, (Term(1, pair),)))
                at += 1
        at += 1
    return Listing(lines[:-results], lines[-results:])


def _most_frequent_pair(
    lines: list[PublishedStatement], at: int, part: int
) -> Optional[tuple[str, str]]:
    """Return the pair of a term's factors in most places from there on; None below two places."""
    atoms = lines[at].terms[part].atoms
    pairs = list(dict.fromkeys(combinations(atoms, 2)))
    places = {
        pair: sum(_holds(term, pair) for line in lines[at:] for term in line.terms)
        for pair in pairs
    }
    best = max(pairs, key=lambda pair: places[pair], default=None)
    return best if best and places[best] > 1 else None


def _holds(term: Term, pair: tuple[str, str]) -> bool:
    return not Counter(pair) - Counter(term.atoms)


def _renamed(line: PublishedStatement, pair: tuple[str, str], name: str) -> PublishedStatement:
    terms = []
    for term in line.terms:
        if _holds(term, pair):
            left = list(term.atoms)
            place = left.index(pair[0])
            for each in pair:
                left.remove(each)
            left.insert(min(place, len(left)), name)
            term = Term(term.sign, tuple(left))
        terms.append(term)
    return replace(line, terms=tuple(terms))


def factored(listing: Listing) -> Listing:
    """Return the statements with common factors of two terms taken out (3.2.5)."""
    kept: list[PublishedStatement] = []
    for line in listing.statements:
        common = list((Counter(line.terms[0].atoms) & Counter(line.terms[-1].atoms)).elements())
        if len(line.terms) == 2 and common:
            rests = [Counter(term.atoms) - Counter(common) for term in line.terms]
            if all(rests):
                name = f'F{line.name}'
                kept.append(PublishedStatement(name, tuple(
                    Term(term.sign, tuple(rest.elements()))
                    for term, rest in zip(line.terms, rests)
                )))
                line = replace(line, terms=(Term(1, (*common, name)),))
        kept.append(line)
    return Listing(kept, listing.results)


def constants(rows: Sequence[DhRow], gravity: float = 9.81) -> dict[str, float]:
    """Return the values of a listing's constants by their names."""
    values = {'g': gravity, '2': 2.0}
    for number, row in enumerate(rows, start=1):
        sine, cosine = {0.0: (0.0, 1.0), 90.0: (1.0, 0.0), -90.0: (-1.0, 0.0)}[row.alpha]
        far = (row.a, row.d * sine, row.d * cosine)
        values |= {f'm{number}': row.mass, f'dl{number}': row.d, f'a{number}': row.a}
        for k, axis in enumerate('xyz'):
            values[f's{axis}{number}'] = row.com[k]
            values[f'sp{axis}{number}'] = row.com[k] + far[k]
            values[f'j{k + 1}{number}'] = row.moments[k]
    return values


def last_steps(
    rows: Sequence[DhRow], equal: Mapping[str, str] = MappingProxyType({}), **parts: bool
) -> tuple[Listing, Listing, Listing]:
    """
    Return a listing of NEDYN's kind after CLEAR's steps on constants, duplicates and factors.

    Args:
        rows: The links.
        equal: Constants that have the value of another.
        parts: The parts of the listing, as of `inverse_dynamics`.
    """
    values = constants(rows)
    values |= {name: values[other] for name, other in equal.items()}
    return all_steps(inverse_dynamics(rows, **parts), values)


def all_steps(
    listing: Listing, values: Mapping[str, float]
) -> tuple[Listing, Listing, Listing]:
    """Return a listing after CLEAR's steps on constants, duplicates and factors."""
    used = with_trigonometry(without_unused(listing))
    computed, _ = with_constants_computed(used, values)
    computed = without_unused(computed)
    renamed = with_duplicates_renamed(computed)
    return computed, renamed, factored(renamed)


def publication_counts() -> dict[str, tuple[int, int]]:
    """Return multiplications and additions of the Stanford arm's listing, step by step."""
    source = inverse_dynamics(stanford_rows())
    used = without_unused(source)
    computed, renamed, last = last_steps(stanford_rows(), EQUAL)
    steps = {
        'source': source, 'unused': used, 'trigonometry': with_trigonometry(used),
        'constants': computed, 'duplicates': renamed, 'factoring': last,
    }
    return {name: listing.operations for name, listing in steps.items()}

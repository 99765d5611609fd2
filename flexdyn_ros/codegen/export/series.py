# SPDX-License-Identifier: Apache-2.0
"""
Stumpff's functions as expressions of generated code: a series near zero, a closed form beyond.

See `dynamics.scalar.stumpff`; the series is cut where the next term is below half a unit in
the last place.
"""

from __future__ import annotations

from math import factorial

from flexdyn_ros.dynamics.scalar import SERIES_LIMIT
from flexdyn_ros.symbolic.passes.identities import PREFIX

_LAST_PLACE = 2.0**-54


def stumpff_orders(functions: tuple[str, ...]) -> list[int]:
    """Return the orders among the functions that a program calls."""
    return [int(name[len(PREFIX):]) for name in functions if name.startswith(PREFIX)]


def series_coefficients(order: int) -> list[float]:
    """Return 1 / (2 j + order)! for the terms that the series below SERIES_LIMIT takes."""
    count = 1
    while factorial(order) / factorial(2 * count + order) * SERIES_LIMIT**count > _LAST_PLACE:
        count += 1
    return [1.0 / factorial(2 * j + order) for j in range(count)]


def series(order: int, number) -> str:
    """
    Return sum_j (-u)^j / (2 j + order)! in Horner's form, in terms of u.

    Args:
        order: Which function.
        number: From a number to its text.
    """
    *lower, last = map(number, series_coefficients(order))
    text = last
    for j, coefficient in reversed(list(enumerate(lower))):
        inner = text if j == len(lower) - 1 else f'({text})'
        text = f'{coefficient} - u*{inner}'
    return text


def closed_form(order: int, number, sqrt: str, sin: str, cos: str) -> str:
    """Return the closed form in terms of u, with functions called by these names."""
    value = f'{cos}({sqrt}(u))' if order % 2 == 0 else f'{sin}({sqrt}(u))/{sqrt}(u)'
    for k in range(order % 2, order, 2):
        value = f'({number(1.0 / factorial(k))} - {value})/u'
    return value

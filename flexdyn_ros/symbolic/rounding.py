# SPDX-License-Identifier: Apache-2.0
"""
Numbers that differ by rounding are one number.

The same quantity computed in two ways, or by another version of a library, differs in its last
digits. Taken for two numbers it hides that two expressions are equal, or that a factor is one.
"""

from __future__ import annotations

import math
from typing import TypeVar

Key = TypeVar('Key')

# Numbers whose ratio differs from one by less than this are the same.
SAME = 1e-14
# Digits of a number that is short but for rounding, such as 0.25 of 0.24999999999999997, and the
# distance of the two. Neighbours of a number are equal to its representative, too.
SHORT = 12
NEAR = 0.5 * SAME
_STEP = 4.0 * SAME


class NumberTable:
    """The numbers of one program."""

    def __init__(self) -> None:
        """Start with zero and one."""
        self._exact = {0.0: 0.0}
        self._near: dict[int, float] = {}
        self.of(1.0)

    def of(self, number: float) -> float:
        """Return the number that stands for one of zero or more."""
        found = self._exact.get(number)
        if found is None:
            found = self._exact[number] = self._found(number)
        return found

    def _found(self, number: float) -> float:
        """Return a number that was met before, else a short one, else the number itself."""
        if not math.isfinite(number):
            raise OverflowError('a number of the program is too large: lower it')
        place = math.floor(math.log(number) / _STEP)
        for near in (place, place - 1, place + 1):
            known = self._near.get(near)
            if known is not None and is_same(number, known):
                return known
        short = float(f'{number:.{SHORT}g}')
        result = short if is_same(number, short, NEAR) else number
        self._near.setdefault(place, result)
        return result


def is_same(a: float, b: float, tolerance: float = SAME) -> bool:
    """Whether two numbers differ by rounding at most."""
    return abs(a - b) <= tolerance * abs(b)


def is_rounding(total: float, largest: float) -> bool:
    """Whether a sum of numbers, the largest of which is given, is nothing but rounding."""
    return abs(total) <= SAME * largest < math.inf


def accumulate(terms: dict[Key, float], key: Key, value: float) -> None:
    """Add a coefficient to that of its like; drop a sum that cancels but for rounding."""
    total = terms.get(key, 0.0) + value
    if is_rounding(total, abs(value)):
        terms.pop(key, None)
    else:
        terms[key] = total

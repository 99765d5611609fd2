# SPDX-License-Identifier: Apache-2.0
"""The published counts: those of published.yaml, and the polynomials of recursive dynamics."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Optional

import yaml

FILE = Path(__file__).with_name('published.yaml')
# From this number of links on, Jain and Rodriguez's second polynomial is taken, as printed.
JAIN_SECOND = 8

Counts = tuple[float, float]


@lru_cache(maxsize=None)
def published() -> dict[str, Any]:
    """Return the content of published.yaml."""
    with FILE.open(encoding='utf-8') as file:
        return yaml.safe_load(file)


def mohan_saha(n: int, m: int) -> Counts:
    """Return multiplications and additions for n links with m modes in each direction."""
    k = 1 + 2 * m
    m3 = k**3 / 6 + (2 * m + 15 / 2) * k**2 + (2 * m**2 + 15 * m + 100 / 3) * k
    a3 = k**3 / 6 + k**2 / 2 + (6 * m**2 + 27 * m + 82 / 3) * k
    four = (2 * m**2 + 13 * m + 27) * k
    mul = (2 * m**2 + 180 * m + 299 + m3) * n - (124 * m + 229 + four)
    add = (6 * m**2 + 122 * m + 220 + a3) * n - (94 * m + 192 + four)
    return mul, add


def jain_rodriguez(n: int, m: int, second: Optional[bool] = None) -> Counts:
    """
    Return the counts that Mohan and Saha give for Jain and Rodriguez's algorithm.

    Args:
        n: Number of links.
        m: Number of modes in each direction.
        second: Whether the second polynomial is taken; None as printed, by the number of links.
    """
    if n >= JAIN_SECOND if second is None else second:
        return (13 * m**2 + 298 * m + 673) * n, (14 * m**2 + 225 * m + 537) * n
    mul = 5 / 6 * m**3 + 27 / 2 * m**2 + 893 / 3 * m + 281
    add = 5 / 6 * m**3 + 23 / 2 * m**2 + 677 / 3 * m + 256
    return mul * n, add * n


def cyril(n: int, m: int, linear: float = 251 / 3) -> Counts:
    """
    Return the counts that Mohan and Saha give for Cyril's algorithm, as corrected.

    Args:
        n: Number of links.
        m: Number of modes in each direction.
        linear: Coefficient of m in A_3c; -251/6 is printed.
    """
    k = 1 + 2 * m
    cube = k**3 / 6 + k**2 * (1 - m / 2) + k * (m**2 / 2 - 2 * m) - m**3 / 6 + m**2
    rest = m**3 / 6 + 53 / 6 * m**2
    m2 = -3 / 2 * k**2 + k * (3 * m + 33 / 2) - 3 / 2 * m**2 - 15 / 2 * m + 12
    m3 = 5 * k**2 - k * (10 * m + 109 / 6) + rest + 233 / 3 * m + 246
    a2 = -3 / 2 * k**2 + k * (3 * m + 13) - 3 / 2 * m**2 - 17 / 2 * m + 9
    a3 = 5 * k**2 - k * (10 * m + 85 / 6) + rest + linear * m + 228
    mul = cube * n**3 + m2 * n**2 + m3 * n - 123
    add = cube * n**3 + a2 * n**2 + a3 * n - 102
    return mul, add


RECURSIVE = {
    'Mohan and Saha': mohan_saha,
    'Jain and Rodriguez': jain_rodriguez,
    'Cyril': cyril,
}

# SPDX-License-Identifier: Apache-2.0
"""
Machine code of the functions that have numbers of their own: Stumpff's, piecewise polynomials.

They take their argument in the first register for numbers, give their result there, and may
change all others. The operations are those of generated Python, in the same order.
"""

from __future__ import annotations

from math import factorial
from typing import Callable
from typing import Sequence

from flexdyn_ros.codegen.emitting.series import series_coefficients
from flexdyn_ros.codegen.emitting.x86_encoding import Encoder
from flexdyn_ros.codegen.emitting.x86_encoding import Memory
from flexdyn_ros.codegen.emitting.x86_encoding import RSP
from flexdyn_ros.dynamics.scalar import PiecewisePolynomial
from flexdyn_ros.dynamics.scalar import SERIES_LIMIT

# Where a number lies, by the number.
Numbers = Callable[[float], Memory]
# Of the stack, so that it stands on a multiple of 16 bytes when a function is called.
FRAME = 24


def encode_stumpff(
    encoder: Encoder, label: str, order: int, number: Numbers, functions: dict[str, Memory]
) -> None:
    """
    Write Stumpff's function of an order; see `series.py`.

    Args:
        encoder: Where to.
        label: Its label.
        order: Which one.
        number: Where a number lies.
        functions: Where the addresses of sin and cos lie.
    """
    encoder.mark(label)
    encoder.load(number(SERIES_LIMIT), 1)
    encoder.pairs('ucomisd', 0, 1)
    encoder.jump_if('ja', f'{label} series')
    u, root = Memory(RSP, 0), Memory(RSP, 8)
    encoder.add_to(RSP, -FRAME)
    encoder.store(0, u)
    encoder.arithmetic('sqrt', 0, 0)
    encoder.store(0, root)
    encoder.call_address_at(functions['sin' if order % 2 else 'cos'])
    if order % 2:
        encoder.arithmetic('div', root, 0)
    for k in range(order % 2, order, 2):
        encoder.pairs('movapd', 0, 1)
        encoder.load(number(1.0 / factorial(k)), 0)
        encoder.arithmetic('sub', 1, 0)
        encoder.arithmetic('div', u, 0)
    encoder.add_to(RSP, FRAME)
    encoder.back()
    encoder.mark(f'{label} series')
    encoder.pairs('movapd', 0, 2)
    _horner(encoder, series_coefficients(order), number, 'sub')


def encode_piecewise(
    encoder: Encoder, label: str, table: PiecewisePolynomial, number: Numbers
) -> None:
    """Write a piecewise polynomial: comparisons by halves, then Horner's rule."""
    encoder.mark(label)
    _branch(encoder, label, table, 0, len(table.pieces) - 1, number)


def _branch(
    encoder: Encoder, label: str, table: PiecewisePolynomial, low: int, high: int,
    number: Numbers,
) -> None:
    """Write the choice among the pieces from low to high."""
    if low == high:
        piece = table.pieces[low]
        encoder.pairs('movapd', 0, 2)
        encoder.arithmetic('sub', number(table.origin(low)), 2)
        _horner(encoder, piece or (0.0,), number, 'add')
        return
    middle = (low + high) // 2
    below = f'{label} {low} {middle}'
    encoder.load(number(table.knots[middle]), 1)
    encoder.pairs('ucomisd', 0, 1)
    encoder.jump_if('ja', below)
    _branch(encoder, label, table, middle + 1, high, number)
    encoder.mark(below)
    _branch(encoder, label, table, low, middle, number)


def _horner(
    encoder: Encoder, coefficients: Sequence[float], number: Numbers, joined: str
) -> None:
    """Write a polynomial in what the third register holds, and the return."""
    *lower, last = coefficients
    encoder.load(number(last), 0)
    for coefficient in reversed(lower):
        encoder.pairs('movapd', 0, 1)
        encoder.arithmetic('mul', 2, 1)
        encoder.load(number(coefficient), 0)
        encoder.arithmetic(joined, 1, 0)
    encoder.back()

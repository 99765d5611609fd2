# SPDX-License-Identifier: Apache-2.0
"""
Piecewise polynomials of one variable: spring tables, their energies and their slopes.

Between its points a table is the monotone cubic interpolant of Fritsch and Carlson (Monotone
piecewise cubic interpolation, SIAM J. Numer. Anal. 17, 1980) with the slopes of Fritsch and
Butland (A method for constructing local monotone piecewise cubic interpolants, SIAM J. Sci.
Stat. Comput. 5, 1984): it never overshoots, and where two neighbours are equal it is constant.
Beyond its ends it is a straight line. Energies are exact integrals, slopes exact derivatives.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Sequence

Piece = tuple[float, ...]


@dataclass(frozen=True)
class PiecewisePolynomial:
    """
    One polynomial below the first knot, one between each two, one above the last.

    Attributes:
        knots: Rising, at least one.
        pieces: Coefficients of rising powers, one piece more than knots. The first piece is in
            powers of x - knots[0], each other one of x less the knot at its left end.
    """

    knots: tuple[float, ...]
    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        """Drop highest powers that are zero."""
        object.__setattr__(self, 'pieces', tuple(_trimmed(piece) for piece in self.pieces))

    def origin(self, number: int) -> float:
        """Return the knot that a piece's powers count from."""
        return self.knots[max(number - 1, 0)]

    def at(self, x: float) -> float:
        """Return the value at a number."""
        number = bisect_right(self.knots, x)
        return horner(self.pieces[number], x - self.origin(number))

    @property
    def is_zero(self) -> bool:
        """Whether it is zero everywhere."""
        return not any(self.pieces)

    def derivative(self) -> PiecewisePolynomial:
        """Return the derivative; at a knot where it jumps, its value is that above."""
        return PiecewisePolynomial(
            self.knots,
            tuple(tuple(k * c for k, c in enumerate(piece))[1:] for piece in self.pieces),
        )

    def integral(self) -> PiecewisePolynomial:
        """Return the continuous integral that is zero at zero."""
        raised = [(0.0, *(c / (k + 1) for k, c in enumerate(piece))) for piece in self.pieces]
        start = bisect_right(self.knots, 0.0)
        constants = [0.0] * len(raised)
        constants[start] = -horner(raised[start], -self.origin(start))
        # From the piece that holds zero outward, so that nothing large cancels near it.
        for number in range(start + 1, len(raised)):
            knot = self.knots[number - 1]
            inner = horner(raised[number - 1], knot - self.origin(number - 1))
            constants[number] = constants[number - 1] + inner
        for number in range(start - 1, -1, -1):
            knot = self.knots[number]
            outer = horner(raised[number], knot - self.origin(number))
            constants[number] = constants[number + 1] - outer
        pieces = tuple((c, *piece[1:]) for c, piece in zip(constants, raised))
        return PiecewisePolynomial(self.knots, pieces)


def _trimmed(piece: Piece) -> Piece:
    """Return a piece without highest powers that are zero, and without negative zeros."""
    count = max((k + 1 for k, c in enumerate(piece) if c != 0.0), default=0)
    return tuple(c + 0.0 for c in piece[:count])


def horner(coefficients: Sequence[float], x: float) -> float:
    """Return a polynomial's value from coefficients of rising powers."""
    value = 0.0
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def monotone_cubic(points: Sequence[tuple[float, float]]) -> PiecewisePolynomial:
    """
    Return the monotone cubic interpolant of a table, straight beyond its ends.

    Args:
        points: Pairs (x, y) with rising x, two or more.
    """
    slopes = monotone_slopes(points)
    pieces: list[Piece] = [(points[0][1], slopes[0])]
    for (left, right), (start, end) in zip(pairwise(points), pairwise(slopes)):
        width = right[0] - left[0]
        secant = (right[1] - left[1]) / width
        # Hermite's cubic through both points with both slopes.
        bend = (3.0 * secant - 2.0 * start - end) / width
        twist = (start + end - 2.0 * secant) / width**2
        pieces.append((left[1], start, bend, twist))
    pieces.append((points[-1][1], slopes[-1]))
    return PiecewisePolynomial(tuple(x for x, _ in points), tuple(pieces))


def monotone_slopes(points: Sequence[tuple[float, float]]) -> list[float]:
    """
    Return the slopes at the points of a table.

    Inside, the weighted harmonic mean of the secants, zero where they differ in sign or one is
    zero (Fritsch and Butland); at the ends, the slope of the parabola through three points, kept
    within what monotony allows (Moler, Numerical Computing with MATLAB, 2004, section 3.6).
    """
    widths = [right[0] - left[0] for left, right in pairwise(points)]
    secants = [(b[1] - a[1]) / width for (a, b), width in zip(pairwise(points), widths)]
    if len(secants) == 1:
        return [secants[0], secants[0]]
    slopes = [_end_slope(widths[0], widths[1], secants[0], secants[1])]
    for k in range(1, len(secants)):
        before, after = secants[k - 1], secants[k]
        if before * after <= 0.0:
            slopes.append(0.0)
            continue
        weight, other = 2.0 * widths[k] + widths[k - 1], widths[k] + 2.0 * widths[k - 1]
        slopes.append((weight + other) / (weight / before + other / after))
    slopes.append(_end_slope(widths[-1], widths[-2], secants[-1], secants[-2]))
    return slopes


def _end_slope(width: float, next_width: float, secant: float, next_secant: float) -> float:
    slope = ((2.0 * width + next_width) * secant - width * next_secant) / (width + next_width)
    if slope * secant <= 0.0:
        return 0.0
    if secant * next_secant <= 0.0 and abs(slope) > 3.0 * abs(secant):
        return 3.0 * secant
    return slope

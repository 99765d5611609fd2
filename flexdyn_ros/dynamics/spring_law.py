# SPDX-License-Identifier: Apache-2.0
"""
Nonlinear springs on one coordinate: a force and the energy that it is the derivative of.

Between its points a table is the monotone cubic interpolant of Fritsch and Carlson (Monotone
piecewise cubic interpolation, SIAM J. Numer. Anal. 17, 1980) with the slopes of Fritsch and
Butland (A method for constructing local monotone piecewise cubic interpolants, SIAM J. Sci.
Stat. Comput. 5, 1984): it never overshoots, and where two neighbours are equal it is constant.
Beyond its ends it is a straight line. Energies are exact integrals, slopes exact derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Sequence, Union

from flexdyn_ros.dynamics.scalar import Piece, piecewise, PiecewisePolynomial, Scalar


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


@dataclass(frozen=True)
class TableLaw:
    """
    A spring by a table, interpolated as above.

    Attributes:
        table: Force over deflection [N m over rad | N over m].
        integral: Its integral from zero [J].
    """

    table: PiecewisePolynomial
    integral: PiecewisePolynomial

    @classmethod
    def through(cls, points: Sequence[tuple[float, float]]) -> TableLaw:
        """Return the law through pairs of deflection and force."""
        table = monotone_cubic(points)
        return cls(table, table.integral())

    def force(self, stretch: Scalar) -> Scalar:
        """Return the force at a deflection."""
        return piecewise(self.table, stretch)

    def energy(self, stretch: Scalar) -> Scalar:
        """Return the energy stored since the deflection zero [J]."""
        return piecewise(self.integral, stretch)


@dataclass(frozen=True)
class PolynomialLaw:
    """
    A spring with the force k_1 x + k_2 x^2 + ... and the energy k_1 x^2/2 + k_2 x^3/3 + ...

    Attributes:
        coefficients: k_1, k_2, ... [N/m, N/m^2, ... | N m/rad, N m/rad^2, ...].
    """

    coefficients: tuple[float, ...]

    def force(self, stretch: Scalar) -> Scalar:
        """Return the force at a deflection."""
        return stretch * _horner(self.coefficients, stretch)

    def energy(self, stretch: Scalar) -> Scalar:
        """Return the energy stored since the deflection zero [J]."""
        shares = [k / (order + 2.0) for order, k in enumerate(self.coefficients)]
        return stretch * stretch * _horner(shares, stretch)


SpringLaw = Union[TableLaw, PolynomialLaw]


def _horner(coefficients: Sequence[float], x: Scalar) -> Scalar:
    value: Scalar = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value

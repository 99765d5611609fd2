# SPDX-License-Identifier: Apache-2.0
"""
Nonlinear springs on one coordinate: a force and the energy that it is the derivative of.

Between its points a table is a monotone cubic interpolant, as in scipy. It is that of Fritsch and
Carlson (Monotone piecewise cubic interpolation, SIAM J. Numer. Anal. 17, 1980) with the slopes of
Fritsch and Butland (A method for constructing local monotone piecewise cubic interpolants, SIAM J.
Sci. Stat. Comput. 5, 1984). It never overshoots, and is constant between equal neighbours. Beyond
its ends it is a straight line. Energies are exact integrals, slopes exact derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Union

from flexdyn_ros.dynamics.scalar import horner, piecewise, Scalar, Spline


def monotone_cubic(points: Sequence[tuple[float, float]]) -> Spline:
    """
    Return the monotone cubic interpolant of a table, straight beyond its ends.

    Args:
        points: Pairs (x, y) with rising x, two or more.
    """
    # Imported when first needed: most robots have no such spring.
    from scipy.interpolate import PchipInterpolator

    places, values = zip(*points)
    cubics = PchipInterpolator(places, values)
    start, end = cubics.derivative()([places[0], places[-1]]).tolist()
    inside = (tuple(piece) for piece in cubics.c[::-1].T.tolist())
    return Spline(places, ((values[0], start), *inside, (values[-1], end)))


@dataclass(frozen=True)
class TableLaw:
    """
    A spring by a table, interpolated as above.

    Attributes:
        table: Force over deflection [N m over rad | N over m].
        integral: Its integral from zero [J].
    """

    table: Spline
    integral: Spline

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
        return stretch * horner(self.coefficients, stretch)

    def energy(self, stretch: Scalar) -> Scalar:
        """Return the energy stored since the deflection zero [J]."""
        shares = [k / (order + 2.0) for order, k in enumerate(self.coefficients)]
        return stretch * stretch * horner(shares, stretch)


SpringLaw = Union[TableLaw, PolynomialLaw]

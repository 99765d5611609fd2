# SPDX-License-Identifier: Apache-2.0
"""Nonlinear springs on one coordinate: a force and the energy that it is the derivative of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence
from typing import Union

from flexdyn_ros.dynamics.piecewise import monotone_cubic
from flexdyn_ros.dynamics.piecewise import PiecewisePolynomial
from flexdyn_ros.dynamics.scalar import piecewise
from flexdyn_ros.dynamics.scalar import Scalar


@dataclass(frozen=True)
class TableLaw:
    """
    A spring by a table, interpolated as `dynamics.piecewise` says.

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

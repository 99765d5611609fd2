# SPDX-License-Identifier: Apache-2.0
"""
Power series in one small number e, cut off beyond e^2: a_0 + a_1 e + a_2 e^2.

The coefficients are scalars of any kind. Algorithms that run on a series are so expanded to
second order. Only the functions of one scalar below have formulas of an expansion
(Taylor arithmetic: Griewank and Walther, Evaluating Derivatives, 2008, chapter 13).
"""

from __future__ import annotations

from typing import Any, Union

from flexdyn_ros.dynamics.scalar import (
    evaluate,
    Function,
    OuterScalar,
    Scalar,
    slope,
    Spline,
    STUMPFF,
    stumpff_order,
)
from flexdyn_ros.dynamics.spatial import is_zero

DEGREE = 2


class PowerSeries(OuterScalar):
    """
    A scalar as a function of e.

    Attributes:
        terms: Coefficients of 1, e and e^2.
    """

    __slots__ = ('terms',)
    # Numbers of numpy leave the arithmetic to this class.
    __array_ufunc__ = None

    def __init__(self, constant: Scalar, linear: Scalar = 0.0, quadratic: Scalar = 0.0):
        self.terms = (constant, linear, quadratic)

    def up_to(self, degree: int) -> Scalar:
        """Return the sum of the coefficients up to a degree: the value at e = 1."""
        total: Scalar = 0.0
        for term in self.terms[: degree + 1]:
            total = _sum(total, term)
        return total

    def __add__(self, other: Operand) -> PowerSeries:
        return PowerSeries(*map(_sum, self.terms, _terms(other)))

    def __neg__(self) -> PowerSeries:
        return PowerSeries(*(a if is_zero(a) else -a for a in self.terms))

    def __mul__(self, other: Operand) -> PowerSeries:
        if not isinstance(other, PowerSeries):
            return PowerSeries(*(_product(term, other) for term in self.terms))
        (a0, a1, a2), (b0, b1, b2) = self.terms, other.terms
        return PowerSeries(
            _product(a0, b0),
            _sum(_product(a0, b1), _product(a1, b0)),
            _sum(_sum(_product(a0, b2), _product(a1, b1)), _product(a2, b0)),
        )

    def __truediv__(self, other: Operand) -> PowerSeries:
        if not isinstance(other, PowerSeries):
            return self * (1.0 / other)
        return self * _inverse(other)

    def __rtruediv__(self, other: Operand) -> PowerSeries:
        return _inverse(self) * other

    def __bool__(self) -> bool:
        """Refuse to decide: a number that vanishes may still change with e."""
        raise TypeError(
            'a power series has no truth value: the algorithm branches on it. '
            'Use smooth functions')

    def call(self, function: Function) -> PowerSeries:
        """Return a function of the series; a piecewise one is continued from above at a knot."""
        x = self.terms[0]
        return self._function(evaluate(function, x), slope(function, x), _curvature(function, x))

    def _function(self, value: Scalar, slope: Scalar, curvature: Scalar) -> PowerSeries:
        """Return f of the series from f, f' and f'' at its constant term."""
        _, a1, a2 = self.terms
        bend = _product(0.5, _product(curvature, _product(a1, a1)))
        return PowerSeries(value, _product(slope, a1), _sum(_product(slope, a2), bend))


Operand = Union[PowerSeries, Any]


def _terms(x: Operand) -> tuple[Scalar, Scalar, Scalar]:
    return x.terms if isinstance(x, PowerSeries) else (x, 0.0, 0.0)


def _curvature(function: Function, x: Scalar) -> Scalar:
    """Return the second derivative of a function at x."""
    if isinstance(function, Spline):
        return slope(function.derivative(), x)
    if function in ('sin', 'cos'):
        return -evaluate(function, x)
    if function == 'exp':
        return evaluate(function, x)
    if function == 'tanh':
        return -2.0 * evaluate(function, x) * slope(function, x)
    order = stumpff_order(function)
    assert order is not None
    higher, next_one = (slope(f'{STUMPFF}{order + k}', x) for k in (2, 1))
    return 0.5 * (order * higher - next_one)


def _inverse(x: PowerSeries) -> PowerSeries:
    """Return 1 / x."""
    value = 1.0 / x.terms[0]
    slope = -(value * value)
    return x._function(value, slope, -2.0 * value * slope)


# Most coefficients are zero: no operations are spent on them.


def _sum(a: Scalar, b: Scalar) -> Scalar:
    if is_zero(a):
        return b
    return a if is_zero(b) else a + b


def _product(a: Scalar, b: Scalar) -> Scalar:
    return 0.0 if is_zero(a) or is_zero(b) else a * b

# SPDX-License-Identifier: Apache-2.0
"""
Functions of one scalar: floats are evaluated here, any other scalar answers with its own method.

A scalar is anything with + - * / and the methods sin, cos, exp, tanh, stumpff(order) and
piecewise(function), so the algorithms of this folder run unchanged on floats and on symbols.
"""

import math
from typing import Any

from flexdyn_ros.dynamics.piecewise import PiecewisePolynomial

Scalar = Any


class OuterScalar:
    """
    A scalar made of scalars, such as a power series.

    It does the arithmetic with them itself: theirs leaves that to it (NotImplemented).
    """

    __slots__ = ()


# Above this argument the closed forms lose no digits to cancellation; below it the series
# reaches double precision within SERIES_TERMS terms.
SERIES_LIMIT = 1.0
SERIES_TERMS = 11


def sin(x: Scalar) -> Scalar:
    """Return the sine of x [rad]."""
    return math.sin(x) if isinstance(x, (float, int)) else x.sin()


def cos(x: Scalar) -> Scalar:
    """Return the cosine of x [rad]."""
    return math.cos(x) if isinstance(x, (float, int)) else x.cos()


def exp(x: Scalar) -> Scalar:
    """Return the exponential of x."""
    return math.exp(x) if isinstance(x, (float, int)) else x.exp()


def tanh(x: Scalar) -> Scalar:
    """Return the hyperbolic tangent of x."""
    return math.tanh(x) if isinstance(x, (float, int)) else x.tanh()


def piecewise(function: PiecewisePolynomial, x: Scalar) -> Scalar:
    """Return a piecewise polynomial of x: the one function that branches on its argument."""
    return function.at(x) if isinstance(x, (float, int)) else x.piecewise(function)


def stumpff(order: int, u: Scalar) -> Scalar:
    r"""
    Return Stumpff's function c_order(u) = sum_j (-u)^j / (2 j + order)! for u >= 0.

    With a = sqrt(u): c_0 = cos a, c_1 = sin a / a, c_2 = (1 - cos a) / u,
    c_3 = (a - sin a) / (u a). They are smooth through u = 0 and closed under differentiation,
    c_k' = (k c_(k+2) - c_(k+1)) / 2, so that rotations need no branch at rest
    (Stiefel and Scheifele, Linear and Regular Celestial Mechanics, 1971, section 11).
    """
    if not isinstance(u, (float, int)):
        return u.stumpff(order)
    if u < SERIES_LIMIT:
        return _stumpff_series(order, u)
    root = math.sqrt(u)
    value = math.cos(root) if order % 2 == 0 else math.sin(root) / root
    for k in range(order % 2, order, 2):
        value = (1.0 / math.factorial(k) - value) / u
    return value


def _stumpff_series(order: int, u: float) -> float:
    value = 0.0
    for j in reversed(range(SERIES_TERMS)):
        value = 1.0 / math.factorial(2 * j + order) - u * value
    return value

# SPDX-License-Identifier: Apache-2.0
"""
Functions of one scalar: floats are evaluated here, any other scalar by its own method.

A scalar is a float or a `SmoothScalar`, so the algorithms of this folder run unchanged on floats
and on symbols. The functions of one scalar and their derivatives are stated here alone.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
import math
from typing import Any, Optional, Sequence, Union

Scalar = Any
STUMPFF = 'stumpff'


class SmoothScalar:
    """A scalar with + - * / that is no float; functions of it are found by its `call`."""

    __slots__ = ()

    __neg__: Any

    def __radd__(self, other: Scalar) -> Scalar:
        return self + other

    def __sub__(self, other: Scalar) -> Scalar:
        return self + -other

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __rmul__(self, other: Scalar) -> Scalar:
        return self * other

    def call(self, function: Function) -> Scalar:
        """Return a function of the scalar."""
        raise NotImplementedError

    def sin(self) -> Scalar:
        """Return the sine."""
        return self.call('sin')

    def cos(self) -> Scalar:
        """Return the cosine."""
        return self.call('cos')

    def exp(self) -> Scalar:
        """Return the exponential."""
        return self.call('exp')

    def tanh(self) -> Scalar:
        """Return the hyperbolic tangent."""
        return self.call('tanh')

    def stumpff(self, order: int) -> Scalar:
        """Return Stumpff's function of this order, see `stumpff`."""
        return self.call(f'{STUMPFF}{order}')

    def piecewise(self, function: Spline) -> Scalar:
        """Return a piecewise polynomial."""
        return self.call(function)


class OuterScalar(SmoothScalar):
    """
    A scalar made of scalars, such as a power series.

    It does the arithmetic with them itself: theirs leaves that to it (NotImplemented).
    """

    __slots__ = ()


Piece = tuple[float, ...]


@dataclass(frozen=True)
class Spline:
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

    def derivative(self) -> Spline:
        """Return the derivative; at a knot where it jumps, its value is that above."""
        return Spline(
            self.knots,
            tuple(tuple(k * c for k, c in enumerate(piece))[1:] for piece in self.pieces),
        )

    def integral(self) -> Spline:
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
        return Spline(self.knots, pieces)


# sin, cos, exp, tanh, Stumpff's functions as stumpff0 and so on, or a piecewise polynomial.
Function = Union[str, Spline]


def _trimmed(piece: Piece) -> Piece:
    """Return a piece without highest powers that are zero, and without negative zeros."""
    count = max((k + 1 for k, c in enumerate(piece) if c != 0.0), default=0)
    return tuple(c + 0.0 for c in piece[:count])


def horner(coefficients: Sequence[float], x: Scalar) -> Scalar:
    """Return a polynomial's value from coefficients of rising powers."""
    value: Scalar = 0.0
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


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


def piecewise(function: Spline, x: Scalar) -> Scalar:
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


def stumpff_order(function: object) -> Optional[int]:
    """Return k where a function's name is that of Stumpff's c_k, else None."""
    name = str(function)
    return int(name[len(STUMPFF):]) if name.startswith(STUMPFF) else None


def evaluate(function: Function, x: Scalar) -> Scalar:
    """Return the value of a function at x."""
    if isinstance(function, Spline):
        return piecewise(function, x)
    order = stumpff_order(function)
    if order is not None:
        return stumpff(order, x)
    return {'sin': sin, 'cos': cos, 'exp': exp, 'tanh': tanh}[function](x)


def slope(function: Function, x: Scalar) -> Scalar:
    """Return the derivative of a function at x; at a knot of a spline it is that above."""
    if isinstance(function, Spline):
        return piecewise(function.derivative(), x)
    if function == 'sin':
        return cos(x)
    if function == 'cos':
        return -sin(x)
    if function == 'exp':
        return exp(x)
    if function == 'tanh':
        if isinstance(x, float):  # without the cancellation of 1 - tanh^2
            decay = math.exp(-2.0 * abs(x))
            return 4.0 * decay / (1.0 + decay) ** 2
        value = tanh(x)
        return 1.0 - value * value
    order = stumpff_order(function)
    assert order is not None
    return 0.5 * (order * stumpff(order + 2, x) - stumpff(order + 1, x))

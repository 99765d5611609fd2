# SPDX-License-Identifier: Apache-2.0
"""
Dual numbers: scalars that carry their derivatives along several directions.

(a + a' e)(b + b' e) = a b + (a b' + a' b) e with e^2 = 0 (Clifford, Preliminary sketch of
biquaternions, 1871; Griewank and Walther, Evaluating Derivatives, 2008, chapter 3). The
algorithms of this folder run on them unchanged, which gives exact derivatives. Only the functions
of one scalar have formulas of derivatives.

Positions are displaced as in displacement.py. The derivatives of forward dynamics go through
its own recursion, not through those of inverse dynamics, so that each checks the other.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence, Union

from flexdyn_ros.dynamics.displacement import displacements
from flexdyn_ros.dynamics.multibody import Multibody
from flexdyn_ros.dynamics.scalar import evaluate, Function, OuterScalar, slope, SmoothScalar
import numpy as np


class Dual(SmoothScalar):
    """
    A number with its derivatives.

    Attributes:
        value: The number.
        slopes: Its derivatives along the directions, (n,).
    """

    __slots__ = ('value', 'slopes')
    # Numbers of numpy leave the arithmetic to this class.
    __array_ufunc__ = None

    def __init__(self, value: float, slopes: np.ndarray):
        self.value = value
        self.slopes = slopes

    def __add__(self, other: Operand) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.slopes + other.slopes)
        if isinstance(other, OuterScalar):
            return NotImplemented
        return Dual(self.value + other, self.slopes)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value - other.value, self.slopes - other.slopes)
        if isinstance(other, OuterScalar):
            return NotImplemented
        return Dual(self.value - other, self.slopes)

    def __mul__(self, other: Operand) -> Dual:
        if isinstance(other, Dual):
            slopes = self.value * other.slopes + other.value * self.slopes
            return Dual(self.value * other.value, slopes)
        if isinstance(other, OuterScalar):
            return NotImplemented
        return Dual(self.value * other, other * self.slopes)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Dual:
        if isinstance(other, Dual):
            value = self.value / other.value
            return Dual(value, (self.slopes - value * other.slopes) / other.value)
        if isinstance(other, OuterScalar):
            return NotImplemented
        return Dual(self.value / other, self.slopes / other)

    def __rtruediv__(self, other: float) -> Dual:
        value = other / self.value
        return Dual(value, (-value / self.value) * self.slopes)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slopes)

    def __abs__(self) -> Dual:
        return -self if self.value < 0.0 else self

    def __bool__(self) -> bool:
        """Refuse to decide: a number that vanishes may still have derivatives."""
        raise TypeError(
            'a dual number has no truth value: the algorithm branches on it. Use smooth functions')

    def call(self, function: Function) -> Dual:
        """Return a function of the number."""
        x = self.value
        return Dual(evaluate(function, x), slope(function, x) * self.slopes)


Operand = Union[Dual, float, int]


def duals(values: Sequence[float], slopes: np.ndarray) -> list[Dual]:
    """Return numbers with their derivatives, rows (len(values), n)."""
    return [Dual(float(value), row) for value, row in zip(values, slopes)]


def jacobian_of(values: Sequence[Any], n: int) -> np.ndarray:
    """Return the derivatives of dual numbers along n directions, rows; of floats they are zero."""
    rows = [x.slopes if isinstance(x, Dual) else np.zeros(n) for x in values]
    return np.array(rows, dtype=float).reshape(len(rows), n)


Floats = list[float]


def state_derivatives(
    function: Callable[..., Sequence[Any]], tree: Multibody, q: Floats, *vectors: Floats
) -> list[np.ndarray]:
    """
    Return the derivatives of a vector (nv,) by each argument, (nv, nv) each.

    Args:
        function: From q and the other vectors to the result.
        tree: The bodies, which determine the displacements of positions.
        q: Configuration, (nq,).
        vectors: The other arguments, (nv,) each.
    """
    count = tree.nv
    width = (1 + len(vectors)) * count
    slopes = np.zeros((len(q), width))
    for column, moved in enumerate(displacements(tree, q)):
        for place, rate in moved:
            slopes[place, column] = rate
    arguments = [duals(q, slopes)]
    for number, vector in enumerate(vectors, start=1):
        slopes = np.zeros((count, width))
        slopes[:, number * count : (number + 1) * count] = np.eye(count)
        arguments.append(duals(vector, slopes))
    found = jacobian_of(function(*arguments), width)
    return [found[:, k * count : (k + 1) * count] for k in range(1 + len(vectors))]


def parameter_derivatives(
    function: Callable[[Multibody], Sequence[Any]],
    tree_of: Callable[[Sequence[Dual]], Multibody],
    values: Sequence[float],
) -> np.ndarray:
    """
    Return the derivatives of a vector (nv,) by parameters of the model, (nv, n).

    Args:
        function: From a tree of bodies to the result.
        tree_of: From the parameters to the tree.
        values: Their values, (n,).
    """
    tree = tree_of(duals(values, np.eye(len(values))))
    return jacobian_of(function(tree), len(values))

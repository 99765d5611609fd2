# SPDX-License-Identifier: Apache-2.0
"""Operations on vectors and matrices of any scalars, written out product by product."""

from __future__ import annotations

from math import prod
from typing import Any, Sequence

Vector = tuple[Any, Any, Any]


class Numbers:
    """
    Floats, whose products and sums are counted.

    Attributes:
        products: Multiplications so far.
        sums: Additions and subtractions so far.
    """

    def __init__(self) -> None:
        self.products = 0
        self.sums = 0

    def multiply(self, *factors: float) -> float:
        """Return a product."""
        self.products += len(factors) - 1
        return prod(factors)

    def add(self, *terms: float) -> float:
        """Return a sum."""
        self.sums += len(terms) - 1
        return sum(terms)


class VectorArithmetic:
    """
    Vectors and matrices over an arithmetic of scalars with `multiply` and `add`.

    Args:
        out: The arithmetic.
        zero: Its zero.
        one: Its one.
        two: Its two.
    """

    def __init__(self, out: Any, zero: Any = 0.0, one: Any = 1.0, two: Any = 2.0):
        self.out, self.zero, self.one, self.two = out, zero, one, two
        self.nothing: Vector = (zero, zero, zero)

    def dot(self, a: Sequence[Any], b: Sequence[Any]) -> Any:
        """Return a scalar product."""
        return self.out.add(*(self.out.multiply(x, y) for x, y in zip(a, b)))

    def apply(self, matrix: Sequence[Sequence[Any]], v: Sequence[Any]) -> Any:
        """Return a matrix times a vector."""
        return tuple(self.dot(row, v) for row in matrix)

    def cross(self, a: Sequence[Any], b: Sequence[Any]) -> Any:
        """Return a vector product."""
        mul, add = self.out.multiply, self.out.add
        return tuple(
            add(mul(a[i], b[k]), -mul(a[k], b[i])) for i, k in ((1, 2), (2, 0), (0, 1))
        )

    def plus(self, *vectors: Sequence[Any]) -> Any:
        """Return the sum of vectors or of a matrix's rows."""
        return tuple(self.out.add(*entries) for entries in zip(*vectors))

    def times(self, factor: Any, v: Sequence[Any]) -> Any:
        """Return a multiple of a vector."""
        return tuple(self.out.multiply(factor, x) for x in v)

    def twice_turned(self, w: Sequence[Any], v: Sequence[Any]) -> Any:
        """Return w x (w x v)."""
        return self.cross(w, self.cross(w, v))

    @staticmethod
    def turned(matrix: Sequence[Sequence[Any]]) -> Any:
        """Return the transpose."""
        return tuple(zip(*matrix))

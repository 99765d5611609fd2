# SPDX-License-Identifier: Apache-2.0
"""A linear program of integers whose variables lie between 0 and 1, and its exact bound."""

from __future__ import annotations

from fractions import Fraction
from typing import Iterable

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

# Multipliers are rounded to multiples of 1 / SCALE, and cut off so that sums fit into 64 bits.
SCALE = 2 ** 30
LARGEST_MULTIPLIER = 1000.0


class LinearProgram:
    """
    Minimise cost x over 0 <= x <= 1 with rows that are at most zero or equal to a number.

    Attributes:
        constant: Number added to the cost.
        cost: The cost of each variable.
    """

    def __init__(self) -> None:
        self.constant = 0
        self.cost: list[int] = []
        self._rows: list[list[tuple[int, int]]] = []
        self._equal: list[bool] = []
        self._right: list[int] = []

    def variable(self, cost: int = 0) -> int:
        """Return the number of a new variable."""
        self.cost.append(cost)
        return len(self.cost) - 1

    def at_most(self, small: Iterable[int], large: int) -> None:
        """Demand that the sum of variables is at most another one."""
        self._rows.append([(x, 1) for x in small] + [(large, -1)])
        self._equal.append(False)
        self._right.append(0)

    def equal(self, left: Iterable[int], right: Iterable[int], difference: int = 0) -> None:
        """Demand that the sum of variables exceeds that of others by a number."""
        self._rows.append([(x, 1) for x in left] + [(x, -1) for x in right])
        self._equal.append(True)
        self._right.append(difference)

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self.cost)

    def bound(self) -> Fraction:
        """
        Return a lower bound of the least value, in exact arithmetic.

        Take multipliers w of the rows A x = b, and w <= 0 of the rows A x <= b. Every x then has
        cost x >= w b + (cost - w A) x. The least of this over 0 <= x <= 1 takes the negative
        entries of cost - w A. Any such w proves its bound, however a solver found it.

        Raises:
            RuntimeError: If the solver gives none.
        """
        matrix = self._matrix()
        equal, right = np.array(self._equal), np.array(self._right, dtype=np.int64)
        found = linprog(
            self.cost, matrix[~equal], right[~equal], matrix[equal], right[equal], (0.0, 1.0),
            method='highs-ipm',
        )
        if found.status != 0:
            raise RuntimeError(f'the linear program is not solved: {found.message}')
        weights = np.zeros(len(right))
        weights[~equal] = np.minimum(found.ineqlin.marginals, 0.0)
        weights[equal] = found.eqlin.marginals
        weights = np.clip(weights, -LARGEST_MULTIPLIER, LARGEST_MULTIPLIER)
        scaled = np.round(weights * SCALE).astype(np.int64)
        rest = np.array(self.cost, dtype=np.int64) * SCALE - matrix.T @ scaled
        total = sum(map(int, scaled * right)) + sum(map(int, np.minimum(rest, 0)))
        return self.constant + Fraction(total, SCALE)

    def _matrix(self) -> csr_matrix:
        entries = [
            (number, column, value) for number, row in enumerate(self._rows)
            for column, value in row
        ]
        rows, columns, values = np.array(entries, dtype=np.int64).T
        return csr_matrix((values, (rows, columns)), (len(self._rows), len(self.cost)))

# SPDX-License-Identifier: Apache-2.0
"""Small dense linear algebra over scalars of any kind."""

from flexdyn_ros.dynamics.scalar import Scalar


class ZeroPivot(ArithmeticError):
    """
    A matrix that should be positive definite is not.

    Attributes:
        index: Row of the first pivot that is not positive.
    """

    def __init__(self, index: int):
        self.index = index
        super().__init__(f'pivot {index} is not positive')


class SymmetricFactors:
    """
    The factors L and D of a symmetric positive definite matrix, A = L D L^T.

    Attributes:
        lower: Rows of the unit lower triangle L, the diagonal left out.
        pivots: Diagonal of D.
    """

    def __init__(self, matrix: list[list[Scalar]], floors: list[float]):
        """
        Factorise a matrix.

        Args:
            matrix: Symmetric, (n, n); only the lower triangle is read.
            floors: Pivots at or below these count as zero; looked at for floats only.

        Raises:
            ZeroPivot: If a pivot is not above its floor.
        """
        self.lower: list[list[Scalar]] = []
        self.pivots: list[Scalar] = []
        for i, floor in enumerate(floors):
            weighted: list[Scalar] = []
            for j in range(i):
                value = matrix[i][j]
                for known, factor in zip(weighted, self.lower[j]):
                    value = value - known * factor
                weighted.append(value)
            row = [value / pivot for value, pivot in zip(weighted, self.pivots)]
            pivot = matrix[i][i]
            for value, factor in zip(weighted, row):
                pivot = pivot - value * factor
            if isinstance(pivot, float) and not pivot > floor:
                raise ZeroPivot(i)
            self.lower.append(row)
            self.pivots.append(pivot)

    def solve(self, right: list[Scalar]) -> list[Scalar]:
        """Return x with A x = right."""
        x: list[Scalar] = []
        for value, row in zip(right, self.lower):
            for known, factor in zip(x, row):
                value = value - known * factor
            x.append(value)
        x = [value / pivot for value, pivot in zip(x, self.pivots)]
        for i in reversed(range(len(x))):
            for j, factor in enumerate(self.lower[i]):
                x[j] = x[j] - factor * x[i]
        return x


def solve_dense(matrix: list[list[Scalar]], right: list[Scalar]) -> list[Scalar]:
    """
    Return x with A x = right, by Gaussian elimination without pivoting.

    Args:
        matrix: A, (n, n), near a symmetric positive definite one.
        right: (n,).
    """
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for k, pivot in enumerate(rows):
        for row in rows[k + 1 :]:
            factor = row[k] / pivot[k]
            row[k + 1 :] = [x - factor * y for x, y in zip(row[k + 1 :], pivot[k + 1 :])]
    x: list[Scalar] = []
    for k in reversed(range(len(rows))):
        value = rows[k][-1]
        for factor, known in zip(rows[k][k + 1 : -1], reversed(x)):
            value = value - factor * known
        x.append(value / rows[k][k])
    return x[::-1]

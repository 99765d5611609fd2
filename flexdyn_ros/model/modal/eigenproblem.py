# SPDX-License-Identifier: Apache-2.0
"""Symmetric eigenvalue problems A x = lambda B x with a positive definite B."""

from __future__ import annotations

import numpy as np


def symmetric_part(matrix: np.ndarray) -> np.ndarray:
    """Return (A + A^T) / 2 of a square matrix."""
    return 0.5 * (matrix + matrix.T)


def reduced_eigenproblem(
    matrix: np.ndarray, metric: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Solve A x = lambda B x as the problem of L^-1 A L^-T, B = L L^T.

    Golub and Van Loan, Matrix Computations, section 8.7.2. With y = L^T x the shapes are
    X = L^-T Y, scaled so that X^T B X is the identity, and B X = L Y.

    Args:
        matrix: A, symmetric but for rounding, shape (n, n).
        metric: B, symmetric, shape (n, n).

    Returns:
        The eigenvalues, ascending, (n,); Y, orthonormal columns, (n, n); and L, (n, n).

    Raises:
        numpy.linalg.LinAlgError: B is not positive definite.
    """
    lower = np.linalg.cholesky(metric)
    reduced = np.linalg.solve(lower, np.linalg.solve(lower, matrix).T)
    values, vectors = np.linalg.eigh(symmetric_part(reduced))
    return values, vectors, lower

# SPDX-License-Identifier: Apache-2.0
"""
Generalised mass, stiffness and damping of modes: the eigenproblem, damping laws, and tests.

Damping laws of a beam's modes add up:

- A damping ratio z damps a coordinate by 2 z sqrt(k m), its own stiffness and modal mass.
- Rayleigh: D = a M + b K, so that a natural mode w has the ratio a / 2 w + b w / 2.
- A loss factor h stands for the complex stiffness (1 + i h) K of the material. Its equivalent
  viscous damping dissipates as much at each natural frequency w_k of the link's modes with the
  root held. It is h k_k / w_k of mode k, a ratio of h / 2 (Nashif, Jones and Henderson, Vibration
  Damping, 1985, section 2.3). In matrices D = h sum_k w_k (M x_k)(M x_k)^T with K x_k = w_k^2 M
  x_k and x_k^T M x_k = 1.
"""

from __future__ import annotations

from typing import Sequence

import numpy as np

# Relative to the largest entry: asymmetry that is rounding.
ROUNDING = 1e-8
# Squares of frequencies, relative to the largest: a motion without stiffness.
RIGID = 1e-9


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


def damping_matrix(
    mass: np.ndarray,
    stiffness: np.ndarray,
    ratios: Sequence[float],
    rayleigh: tuple[float, float] = (0.0, 0.0),
    loss_factor: float = 0.0,
) -> np.ndarray:
    """
    Return the damping matrix of m modes, shape (m, m).

    Args:
        mass: Generalised mass, shape (m, m), positive definite.
        stiffness: Generalised stiffness, shape (m, m).
        ratios: Damping ratio of each coordinate, length m.
        rayleigh: Factors of mass [1/s] and stiffness [s].
        loss_factor: Of the material.
    """
    own = np.sqrt(np.diag(stiffness) * np.diag(mass))
    damping = np.diag(2.0 * np.asarray(ratios, dtype=float) * own)
    damping = damping + rayleigh[0] * mass + rayleigh[1] * stiffness
    if loss_factor:
        squares, vectors, lower = reduced_eigenproblem(stiffness, mass)
        rates = np.sqrt(np.maximum(squares, 0.0))
        carried = lower @ vectors
        damping = damping + loss_factor * (carried * rates) @ carried.T
    return damping


def check_matrices(given: dict[str, np.ndarray]) -> None:
    """
    Refuse matrices that no body held at its root has, and frequencies that are not theirs.

    Args:
        given: The file's arrays by name, of the right shapes.

    Raises:
        ValueError: The text continues `file="path"`.
    """
    for name in ('modal_mass', 'stiffness', 'damping'):
        if name in given:
            matrix = given[name]
            if np.abs(matrix - matrix.T).max() > ROUNDING * np.abs(matrix).max():
                raise ValueError(f'holds {name} that is not symmetric')
    if np.linalg.eigvalsh(symmetric_part(given['modal_mass']))[0] <= 0.0:
        raise ValueError('holds modal_mass that is not positive definite')
    squares, _, _ = reduced_eigenproblem(
        symmetric_part(given['stiffness']), symmetric_part(given['modal_mass'])
    )
    if squares[0] < RIGID * squares[-1] or squares[-1] <= 0.0:
        raise ValueError(
            'holds modes without stiffness (rigid-body modes); remove them and give shapes '
            'relative to the parent joint'
        )
    if not np.all(np.diag(given['stiffness']) * np.diag(given['modal_mass']) > 0.0):
        raise ValueError('holds stiffness and modal_mass that are too small for the computation')
    if 'frequencies' in given:
        ours = np.sqrt(squares) / (2.0 * np.pi)
        theirs = np.sort(given['frequencies'])
        if np.any(np.abs(ours - theirs) > 1e-3 * np.abs(theirs) + 5e-4):
            raise ValueError(
                f'holds frequencies {np.round(theirs, 4).tolist()} Hz, but modal_mass and '
                f'stiffness have {np.round(ours, 4).tolist()} Hz'
            )
    if 'damping' in given:
        values = np.linalg.eigvalsh(symmetric_part(given['damping']))
        if values[0] < -ROUNDING * np.abs(values).max():
            raise ValueError('holds damping with a negative eigenvalue, which would add energy')
    if 'damping_ratio' in given and np.any(given['damping_ratio'] < 0.0):
        raise ValueError('holds a negative damping_ratio')


def damping_of_file(given: dict[str, np.ndarray]) -> np.ndarray:
    """Return the damping, (m, m), as given or by the ratios of the modes."""
    if 'damping' in given:
        return symmetric_part(given['damping'])
    ratio = given.get('damping_ratio', np.zeros(len(given['modal_mass'])))
    own = np.sqrt(np.diag(given['stiffness']) * np.diag(given['modal_mass']))
    return np.diag(2.0 * ratio * own)

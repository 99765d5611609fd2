# SPDX-License-Identifier: Apache-2.0
"""
Weighted least squares in base parameters, and their covariance.

Each coordinate's equations are weighted by their residual, repeatedly. Residuals are correlated in
time: the covariance takes their autocovariance in (Newey and West, 1987), not that of white noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from flexdyn_ros.errors import ArgumentError
import numpy as np

# Singular values below this part of the largest are not excited by the data.
EXCITED = 1e-6
# Columns below this part of the longest are rounding, as accelerations at constant speed.
ROUNDING = 1e-10
# The residual's autocovariance is followed this long [s].
CORRELATION_TIME = 2.0


@dataclass(frozen=True)
class Rows:
    """
    Rows of the regression of one stretch of a motion.

    Attributes:
        motion: Number of the motion.
        matrix: Shape (R, n, p).
        right: Measured torques less those that are known, shape (R, n).
        measured: Measured torques, shape (R, n).
        sound: Whether each of them is used, shape (R, n).
    """

    motion: int
    matrix: np.ndarray
    right: np.ndarray
    measured: np.ndarray
    sound: np.ndarray

    def residual(self, values: np.ndarray) -> np.ndarray:
        """Return right - matrix @ values, zero where a row is not used, (R, n)."""
        return (self.right - self.matrix @ values) * self.sound


@dataclass(frozen=True)
class Fit:
    """
    A weighted least-squares fit of base parameters.

    Attributes:
        base: Base parameters, (b,).
        noise: Residual of each coordinate, (n,) [N m | N].
        condition: Condition number of the weighted regressor, its columns scaled to one length.
        directions: Excited directions in base parameters, scaled by `scale`, (b, e).
        scale: Lengths of the columns, (b,).
        normal: Normal matrix, (b, b).
    """

    base: np.ndarray
    noise: np.ndarray
    condition: float
    directions: np.ndarray
    scale: np.ndarray
    normal: np.ndarray


@np.errstate(over='ignore', invalid='ignore')
def least_squares(rows: Sequence[Rows], columns: np.ndarray) -> Fit:
    """
    Return the fit of base parameters, weighted repeatedly.

    Args:
        rows: The rows.
        columns: Places of the base parameters in the rows, (b,).

    Raises:
        ArgumentError: Numbers overflow.
    """
    normals, moments, squares, counts = _sums(rows, columns)
    if not np.isfinite([normals.sum(), moments.sum(), squares.sum()]).all():
        raise ArgumentError(
            'motions', 'has positions or torques that are too large: check their units')
    lengths = np.sqrt(np.einsum('jii->i', normals))
    still = lengths < ROUNDING * lengths.max(initial=0.0)
    normals[:, still], normals[:, :, still], moments[:, still] = 0.0, 0.0, 0.0
    counts = np.maximum(counts, 1.0)
    noise = np.sqrt(squares / counts) + 1e-12
    # Equations without a torque have the solution zero: their residual gives them no weight.
    silent = noise < 1e-6 * noise.max()
    noise[silent] = np.median(noise[~silent])
    for _ in range(10):
        weights = noise**-2
        normal = np.tensordot(weights, normals, 1)
        scale = np.sqrt(np.diag(normal))
        scale[scale == 0.0] = 1.0  # of columns without excitation, whose parameters stay zero
        sizes, vectors = np.linalg.eigh(normal / np.outer(scale, scale))
        kept = sizes > EXCITED**2 * sizes[-1]
        directions = vectors[:, kept]
        base = directions @ ((directions.T @ (weights @ moments / scale)) / sizes[kept]) / scale
        before = noise
        misfit = squares - 2.0 * moments @ base + np.einsum('i,jik,k->j', base, normals, base)
        floor = 1e-9 * np.sqrt(squares / counts) + 1e-12
        noise = np.maximum(np.sqrt(np.maximum(misfit, 0.0) / counts), floor)
        noise[silent] = np.maximum(noise[silent], np.median(noise[~silent]))
        if np.allclose(noise, before, rtol=1e-3):
            break
    condition = float(np.sqrt(sizes[-1] / max(sizes[0], EXCITED**4 * sizes[-1])))
    return Fit(base, noise, condition, directions, scale, normal)


def _sums(
    rows: Sequence[Rows], columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return by coordinate A^T A (n, b, b), A^T y (n, b), y^T y (n,) and numbers of rows (n,)."""
    n, b = rows[0].right.shape[1], len(columns)
    normals, moments = np.zeros((n, b, b)), np.zeros((n, b))
    squares, counts = np.zeros(n), np.zeros(n)
    for part in rows:
        for j in range(n):
            used = part.sound[:, j]
            matrix = part.matrix[used, j][:, columns]
            right = part.right[used, j]
            normals[j] += matrix.T @ matrix
            moments[j] += matrix.T @ right
            squares[j] += right @ right
            counts[j] += len(right)
    return normals, moments, squares, counts


def information(
    rows: Sequence[Rows], values: np.ndarray, fit: Fit, columns: np.ndarray, rate: float
) -> np.ndarray:
    """
    Return the inverse covariance of base parameters, zero in directions without excitation.

    Args:
        rows: The rows.
        values: Parameters with the base parameters in their columns and zero elsewhere, (p,).
        fit: The fit.
        columns: Places of the base parameters, (b,).
        rate: Of the rows [Hz].
    """
    from scipy.signal import fftconvolve

    n, b = len(fit.noise), len(columns)
    residuals = [part.residual(values) for part in rows]
    lags = max(1, int(CORRELATION_TIME * rate))
    spread = np.zeros((b, b))
    for j in range(n):
        used = sum(part.sound[:, j].sum() for part in rows)
        kernel = np.zeros(lags)
        for residual in residuals:
            own = residual[:, j]
            for lag in range(min(lags, len(own))):
                kernel[lag] += own[: len(own) - lag] @ own[lag:]
        kernel *= (1.0 - np.arange(lags) / lags) / max(used - b / n, 1.0)
        kernel = np.concatenate([kernel[:0:-1], kernel])[:, None]
        for part in rows:
            matrix = part.matrix[:, j][:, columns] * part.sound[:, j, None]
            smooth = fftconvolve(matrix, kernel, axes=0)[lags - 1 : lags - 1 + len(matrix)]
            spread += matrix.T @ smooth / fit.noise[j] ** 4
    way = fit.directions / fit.scale[:, None]
    inner, normal = way.T @ spread @ way, way.T @ fit.normal @ way
    lift = fit.directions * fit.scale[:, None]
    return lift @ normal @ np.linalg.pinv(inner, hermitian=True) @ normal @ lift.T


def minimal_change(
    described: np.ndarray, regrouping: np.ndarray, base: np.ndarray
) -> np.ndarray:
    """Return the parameters nearest to the description with these base parameters, (p,)."""
    lengths = np.maximum(np.abs(described), 1e-3)
    miss = base - regrouping @ described
    return described + lengths * np.linalg.lstsq(regrouping * lengths, miss, rcond=None)[0]

# SPDX-License-Identifier: Apache-2.0
"""
Weighted least squares in base parameters, and the physical body nearest to them.

Base parameters and their regrouping are found by rank (Gautier, Numerical calculation of the base
inertial parameters of robots, 1991). Each coordinate's equations are weighted by their residual,
repeatedly. Residuals are correlated in time: the covariance takes their autocovariance in (Newey
and West, 1987), not that of white noise.

The physical parameters minimise the misfit of the base parameters, in units of that covariance,
plus the divergence of each body's pseudo-inertia P from that of the description, tr(P0^-1 P) - log
det(P0^-1 P) - 4 (Wensing, Kim and Slotine, 2018; Lee, Wensing and Park, 2020). The divergence is
convex and infinite where a body is impossible, so that Newton's method stays inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from flexdyn_ros.identification.friction import FrictionShape
from flexdyn_ros.identification.signals import Stretch
from flexdyn_ros.identification.torque_model import moments_of, TorqueModel
import numpy as np

# Part of a column that makes a base parameter of its own: descriptions round pi / 2.
INDEPENDENT = 1e-4
RANDOM_STATES = 60
# Singular values below this part of the largest are not excited by the data.
EXCITED = 1e-6
# The residual's autocovariance is followed this long [s].
CORRELATION_TIME = 2.0
MASS_BASIS = np.stack([moments_of(unit).pseudo_inertia() for unit in np.eye(10)])
# Least radius of gyration of a body of the description [m], and least ratio of its moments.
THINNEST, FLATTEST = 1e-3, 1e-3


@dataclass(frozen=True)
class Rows:
    """
    Rows of the regression of one stretch of a motion.

    Attributes:
        motion: Number of the motion.
        matrix: Shape (R, n, p).
        right: Measured torques less those that are known, shape (R, n).
        measured: Measured torques, shape (R, n).
        sound: Which of them are used, shape (R, n).
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
class Regrouping:
    """
    Base parameters: beta = matrix @ theta.

    Attributes:
        columns: The parameters of the robot that stand for the base parameters, (b,).
        matrix: Shape (b, p).
    """

    columns: np.ndarray
    matrix: np.ndarray

    @classmethod
    def of(cls, sample: np.ndarray, free: np.ndarray) -> Regrouping:
        """
        Return the regrouping by rank.

        Args:
            sample: Regressor at random states, (N, p).
            free: Which parameters are unknown, (p,).
        """
        scale = np.linalg.norm(sample, axis=0)
        basis: list[np.ndarray] = []
        columns: list[int] = []
        free = free & (scale > INDEPENDENT * scale.max())
        for k in np.flatnonzero(free):
            rest = sample[:, k] / scale[k]
            for _ in range(2):  # once more, against rounding
                for each in basis:
                    rest = rest - (each @ rest) * each
            size = np.linalg.norm(rest)
            if size > INDEPENDENT:
                basis.append(rest / size)
                columns.append(int(k))
        matrix = np.zeros((len(columns), sample.shape[1]))
        chosen = sample[:, columns] / scale[columns]
        found = np.linalg.lstsq(chosen, sample[:, free] / scale[free], rcond=None)[0]
        found = found * scale[free] / scale[columns][:, None]
        found[np.abs(found) < INDEPENDENT * scale[free] / scale[columns][:, None]] = 0.0
        matrix[:, free] = found
        return cls(np.array(columns, dtype=int), matrix)

    def name(self, k: int, names: Sequence[str]) -> str:
        """Return a base parameter as a sum of parameters of the robot."""
        row = self.matrix[k]
        others = [j for j in np.flatnonzero(row).tolist() if j != self.columns[k]]
        parts = [names[self.columns[k]]]
        parts += [f'{row[j]:+.4g} {names[j]}' for j in others]
        return ' '.join(parts)


def position_range(model: TorqueModel) -> tuple[np.ndarray, np.ndarray]:
    """Return least and greatest positions of the coordinates, pi where there is no limit."""
    low, high = -np.full(len(model.coordinates), np.pi), np.full(len(model.coordinates), np.pi)
    for joint in model.joints:
        at, limit = model.coordinates.index(joint.name), joint.limit
        if limit.lower is not None and limit.upper is not None and joint.type != 'continuous':
            low[at], high[at] = max(limit.lower, -2.0 * np.pi), min(limit.upper, 2.0 * np.pi)
    return low, high


def base_parameters(
    model: TorqueModel, shapes: Sequence[FrictionShape], values: np.ndarray, free: np.ndarray
) -> Regrouping:
    """
    Return the base parameters of a model, by rank at random states within the limits.

    Args:
        model: The parameters.
        shapes: Shape of the friction of each joint.
        values: Parameters, (p,).
        free: Which are unknown, (p,).
    """
    random = np.random.default_rng(0)
    low, high = position_range(model)
    q = low + (high - low) * random.random((RANDOM_STATES, len(low)))
    rates = random.normal(size=(2, *q.shape))
    columns = model.sampled(Stretch(np.arange(len(q)) * 1.0, q, rates[0], rates[1], q, 1))
    full = model.joined(columns.linear, model.friction(columns, shapes, values))
    return Regrouping.of(full.reshape(-1, full.shape[2]), free)


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


def least_squares(rows: Sequence[Rows], columns: np.ndarray) -> Fit:
    """Return the fit of base parameters that stand in these columns, weighted repeatedly."""
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
    counts = np.maximum(counts, 1.0)
    noise = np.sqrt(squares / counts) + 1e-12
    # Equations without a torque have the solution zero: their residual gives them no weight.
    silent = noise < 1e-6 * noise.max()
    noise[silent] = np.median(noise[~silent])
    for _ in range(10):
        weights = noise**-2
        normal = np.tensordot(weights, normals, 1)
        scale = np.sqrt(np.maximum(np.diag(normal), 1e-300))
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


def information(
    rows: Sequence[Rows], values: np.ndarray, fit: Fit, columns: np.ndarray, rate: float
) -> np.ndarray:
    """
    Return the inverse covariance of base parameters, zero in directions without excitation.

    Args:
        rows: The rows.
        values: Parameters with the base parameters in their columns and zero elsewhere, (p,).
        fit: The fit.
        columns: Where base parameters stand, (b,).
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


@dataclass(frozen=True)
class PhysicalProblem:
    """
    What physical parameters are sought near.

    Attributes:
        regrouping: Matrix from parameters to base parameters, (b, p).
        base: Base parameters from data, (b,).
        information: Their inverse covariance, (b, b).
        described: Parameters of the description, (p,).
        bodies: Number of bodies, whose ten numbers come first.
        positive: Which others cannot be negative, (p,).
        free: Which parameters are unknown, (p,).
        weight: Of the description.
        bounds: Least and greatest values, (p, 2), infinite where there are none.
    """

    regrouping: np.ndarray
    base: np.ndarray
    information: np.ndarray
    described: np.ndarray
    bodies: int
    positive: np.ndarray
    free: np.ndarray
    weight: float
    bounds: np.ndarray

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the parameters (p,) and their covariance (p, p)."""
        values = self._start()
        priors = [self._pseudo(values, k) for k in range(self.bodies)]
        centre = np.where(self.positive, values, 1.0)
        for weight in self.weight * 10.0 ** np.arange(6, -1, -1):
            for _ in range(50):
                _, slope, curvature = self._terms(values, weight, priors, centre)
                step = -_solved(curvature, slope, self.free)
                decrement = -slope @ step
                if decrement < 1e-9 * weight:
                    break
                values = self._moved(values, step, weight, priors, centre)
        covariance = np.zeros((len(values),) * 2)
        where = np.ix_(self.free, self.free)
        covariance[where] = _solved(
            curvature, np.eye(len(values)), self.free)[where]
        return values, covariance

    def _start(self) -> np.ndarray:
        """Return possible values near the description; losses start at those of the data."""
        values = self.described.copy()
        for k in range(self.bodies):
            values[10 * k : 10 * k + 10] = _possible(values[10 * k : 10 * k + 10])
        found = np.linalg.pinv(self.information, hermitian=True)
        for row, j in enumerate(np.argmax(self.regrouping != 0.0, axis=1)):
            alone = np.count_nonzero(self.regrouping[row]) == 1
            if self.free[j] and alone and j >= 10 * self.bodies and self.base.size:
                deviation = np.sqrt(max(found[row, row], 0.0))
                values[j] = self.base[row]
                if self.positive[j]:
                    values[j] = max(values[j], 0.1 * deviation, 1e-9)
        unknown = self.free & self.positive
        for j in np.flatnonzero(unknown & (values <= 0.0)):
            # Undescribed and not identifiable alone: half of what the description lacks.
            column = self.regrouping[:, j]
            row = int(np.argmax(column))
            lack = self.base[row] - self.regrouping[row] @ values if self.base.size else 0.0
            values[j] = 0.5 * lack / column[row] if column[row] > 0.0 else 0.0
        values[unknown] = np.maximum(values[unknown], 1e-9)
        low, high = self.bounds.T
        inner = np.where(np.isfinite(low) & np.isfinite(high), 0.01 * (high - low),
                         1e-6 + 0.01 * np.abs(values))
        return np.where(self.free, np.minimum(np.maximum(values, low + inner), high - inner),
                        values)

    def _pseudo(self, values: np.ndarray, k: int) -> np.ndarray:
        return np.tensordot(values[10 * k : 10 * k + 10], MASS_BASIS, 1)

    def _terms(
        self, values: np.ndarray, weight: float, priors: Sequence[np.ndarray],
        centre: np.ndarray,
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the sum to minimise, infinite outside, its slope and its curvature."""
        miss = self.regrouping @ values - self.base
        pull = self.information @ miss
        total = 0.5 * float(miss @ pull)
        slope = self.regrouping.T @ pull
        curvature = self.regrouping.T @ self.information @ self.regrouping
        for k, prior in enumerate(priors):
            pseudo = self._pseudo(values, k)
            if not self.free[10 * k : 10 * k + 10].any():
                continue
            if np.linalg.eigvalsh(pseudo)[0] <= 0.0:
                return np.inf, slope, curvature
            inverse, inverse_prior = np.linalg.inv(pseudo), np.linalg.inv(prior)
            own = slice(10 * k, 10 * k + 10)
            ratio = np.linalg.slogdet(pseudo)[1] - np.linalg.slogdet(prior)[1]
            total += weight * (np.trace(inverse_prior @ pseudo) - ratio - 4.0)
            slope[own] += weight * np.einsum('ij,aji->a', inverse_prior - inverse, MASS_BASIS)
            half = np.einsum('ij,ajk->aik', inverse, MASS_BASIS)
            curvature[own, own] += weight * np.einsum('aij,bji->ab', half, half)
        gaps = [(values, centre, self.free & self.positive)]
        gaps += [(sign * (values - self.bounds[:, side]), np.full_like(values, np.inf),
                  self.free & np.isfinite(self.bounds[:, side]))
                 for side, sign in ((0, 1.0), (1, -1.0))]
        for side, (gap, middle, where) in enumerate(gaps):
            if np.any(gap[where] <= 0.0):
                return np.inf, slope, curvature
            x, x0, sign = gap[where], middle[where], -1.0 if side == 2 else 1.0
            total += weight * float(np.sum(x / x0 - np.log(x)))
            slope[where] += weight * sign * (1.0 / x0 - 1.0 / x)
            curvature[where, where] += weight / x**2
        return total, slope, curvature

    def _moved(
        self, values: np.ndarray, step: np.ndarray, weight: float,
        priors: Sequence[np.ndarray], centre: np.ndarray,
    ) -> np.ndarray:
        """Return values after the longest of a few steps that lowers the sum."""
        before = self._terms(values, weight, priors, centre)[0]
        for halvings in range(40):
            tried = values + 0.5**halvings * step
            if self._terms(tried, weight, priors, centre)[0] < before:
                return tried
        return values


def _solved(matrix: np.ndarray, right: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the solution of matrix x = right in the free unknowns, scaled; zero elsewhere."""
    found = np.zeros_like(right)
    inner = matrix[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(inner), 1e-300))
    scaled = inner / np.outer(scale, scale)
    sizes, vectors = np.linalg.eigh(scaled)
    sizes = np.maximum(sizes, 1e-14 * sizes[-1])
    part = right[free][:, free] if right.ndim == 2 else right[free]
    lead = scale if right.ndim == 1 else scale[:, None]
    solution = vectors @ ((vectors.T @ (part / lead)) / (
        sizes if right.ndim == 1 else sizes[:, None])) / lead
    if right.ndim == 1:
        found[free] = solution
    else:
        found[np.ix_(free, free)] = solution
    return found


def _possible(values: np.ndarray) -> np.ndarray:
    """Return ten numbers of a body near these that a body with volume can have."""
    moments = moments_of(values)
    mass = moments.mass if moments.mass > 0.0 else 1e-3
    centre = moments.first / mass
    about = moments.inertia - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    second = 0.5 * np.trace(about) * np.eye(3) - about
    sizes, axes = np.linalg.eigh(second)
    sizes = np.maximum(sizes, max(FLATTEST * sizes[-1], mass * THINNEST**2))
    second = axes @ np.diag(sizes) @ axes.T + mass * np.outer(centre, centre)
    inertia = np.trace(second) * np.eye(3) - second
    return np.array([mass, *(mass * centre), *np.diag(inertia),
                     inertia[0, 1], inertia[0, 2], inertia[1, 2]])


def unbounded(count: int) -> np.ndarray:
    """Return bounds that bind no parameter, (p, 2)."""
    return np.tile([-np.inf, np.inf], (count, 1))


def minimal_change(
    described: np.ndarray, regrouping: np.ndarray, base: np.ndarray
) -> np.ndarray:
    """Return the parameters nearest to the description with these base parameters, (p,)."""
    lengths = np.maximum(np.abs(described), 1e-3)
    miss = base - regrouping @ described
    return described + lengths * np.linalg.lstsq(regrouping * lengths, miss, rcond=None)[0]

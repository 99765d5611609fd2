# SPDX-License-Identifier: Apache-2.0
"""
The physical parameters nearest to base parameters and to the description.

They minimise a sum of two terms. The first is the misfit of the base parameters, in units of their
covariance. The second is the divergence of each body's pseudo-inertia P from the description's P0,
tr(P0^-1 P) - log det(P0^-1 P) - 4. Sources: Wensing, Kim and Slotine, 2018; Lee, Wensing and Park,
2020. The divergence is convex. It is infinite where a body is impossible: Newton's method stays
inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.identification.bodies import moments_of
import numpy as np

MASS_BASIS = np.stack([moments_of(unit).pseudo_inertia() for unit in np.eye(10)])
# Least radius of gyration of a body of the description [m], and least ratio of its moments.
THINNEST, FLATTEST = 1e-3, 1e-3


@dataclass(frozen=True)
class PhysicalProblem:
    """
    Data, description and bounds for the search of physical parameters.

    Attributes:
        regrouping: Matrix from parameters to base parameters, (b, p).
        base: Base parameters from data, (b,).
        information: Their inverse covariance, (b, b).
        described: Parameters of the description, (p,).
        bodies: Number of bodies, whose ten numbers come first.
        positive: Whether each further one is zero or more, (p,).
        free: Whether each parameter is unknown, (p,).
        weight: Of the description, for each parameter, (p,); bodies take that of their mass.
        bounds: Least and greatest values, (p, 2), infinite where there are none.
    """

    regrouping: np.ndarray
    base: np.ndarray
    information: np.ndarray
    described: np.ndarray
    bodies: int
    positive: np.ndarray
    free: np.ndarray
    weight: np.ndarray
    bounds: np.ndarray

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the parameters (p,) and their covariance (p, p).

        Newton's method, with a weight of the description that falls to its own value.

        Raises:
            ArgumentError: Bounds leave no possible body near the description.
        """
        values, priors, centre = self.start()
        for weight in np.multiply.outer(10.0 ** np.arange(6, -1, -1), self.weight):
            for _ in range(50):
                _, slope, curvature = self.terms(values, weight, priors, centre)
                root = _inverse_root(curvature, self.free)
                step = -root @ (root.T @ slope)
                decrement = -slope @ step
                if decrement < 1e-9 * weight.min():
                    break
                values = self._moved(values, step, weight, priors, centre)
        return values, self.covariance(values)

    def covariance(self, values: np.ndarray) -> np.ndarray:
        """Return the inverse curvature at the least sum, (p, p), zero for known parameters."""
        _, priors, centre = self.start()
        root = _inverse_root(self.terms(values, self.weight, priors, centre)[2], self.free)
        return root @ root.T

    def start(self) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """
        Return possible values (p,), the description's pseudo-inertias, and losses to stay near.

        Raises:
            ArgumentError: Bounds leave no possible body near the description.
        """
        values = self._start()
        self._refuse_outside(values)
        lacking = self.positive & (self.described <= 0.0)
        centre = np.where(lacking, values, np.where(self.positive, self.described, 1.0))
        return values, [self._pseudo(values, k) for k in range(self.bodies)], centre

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
            # Undescribed and not identifiable alone: half of the missing part of the description.
            column = self.regrouping[:, j]
            row = int(np.argmax(column))
            lack = self.base[row] - self.regrouping[row] @ values if self.base.size else 0.0
            values[j] = 0.5 * lack / column[row] if column[row] > 0.0 else 0.0
        values[unknown] = np.maximum(values[unknown], 1e-9)
        low, high = self.bounds.T
        inner = np.where(np.isfinite(low) & np.isfinite(high), 0.01 * (high - low),
                         1e-6 + 0.01 * np.abs(values))
        values = np.where(self.free, np.minimum(np.maximum(values, low + inner), high - inner),
                          values)
        for k in range(self.bodies):
            own = slice(10 * k, 10 * k + 10)
            if np.isfinite(self.bounds[own]).any():
                values[own] = np.where(self.free[own], _possible(values[own]), values[own])
        return values

    def _refuse_outside(self, values: np.ndarray) -> None:
        """Raise ArgumentError where bounds leave no possible body near the description."""
        outside = self.free & ((values <= self.bounds[:, 0]) | (values >= self.bounds[:, 1]))
        bound = np.isfinite(self.bounds).any(axis=1)
        for k in range(self.bodies):
            own = slice(10 * k, 10 * k + 10)
            if bound[own].any() and self.free[own].any():
                outside[own] |= np.linalg.eigvalsh(self._pseudo(values, k))[0] <= 0.0
        if outside.any():
            raise ArgumentError(
                'bounds', 'leaves no possible body or loss near the description: widen it, or '
                'bound the first moments too')

    def _pseudo(self, values: np.ndarray, k: int) -> np.ndarray:
        """Return the pseudo-inertia of body k, (4, 4)."""
        return np.tensordot(values[10 * k : 10 * k + 10], MASS_BASIS, 1)

    def terms(
        self, values: np.ndarray, weight: np.ndarray, priors: Sequence[np.ndarray],
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
            tie = weight[10 * k]
            total += tie * (np.trace(inverse_prior @ pseudo) - ratio - 4.0)
            slope[own] += tie * np.einsum('ij,aji->a', inverse_prior - inverse, MASS_BASIS)
            half = np.einsum('ij,ajk->aik', inverse, MASS_BASIS)
            curvature[own, own] += tie * np.einsum('aij,bji->ab', half, half)
        for least, middle, where, sign in self.barriers(centre):
            gap = sign * (values - least)
            if np.any(gap[where] <= 0.0):
                return np.inf, slope, curvature
            x, x0, tie = gap[where], middle[where], weight[where]
            total += float(np.sum(tie * (x / x0 - np.log(x))))
            slope[where] += tie * sign * (1.0 / x0 - 1.0 / x)
            curvature[where, where] += tie / x**2
        return total, slope, curvature

    def barriers(
        self, centre: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, float]]:
        """
        Return the limits of losses and of bounds: limits, values to stay near, where, sign.

        With x = sign (value - limit) each adds weight (x / near - log x), (p,) each.
        """
        low, high = self.bounds.T
        nowhere = np.full_like(centre, np.inf)
        return [(np.zeros_like(centre), centre, self.free & self.positive, 1.0),
                (low, nowhere, self.free & np.isfinite(low), 1.0),
                (high, nowhere, self.free & np.isfinite(high), -1.0)]

    def _moved(
        self, values: np.ndarray, step: np.ndarray, weight: np.ndarray,
        priors: Sequence[np.ndarray], centre: np.ndarray,
    ) -> np.ndarray:
        """Return values after the longest of a few steps that lowers the sum."""
        before = self.terms(values, weight, priors, centre)[0]
        for halvings in range(40):
            tried = values + 0.5**halvings * step
            if self.terms(tried, weight, priors, centre)[0] < before:
                return tried
        return values


def _inverse_root(matrix: np.ndarray, free: np.ndarray) -> np.ndarray:
    """
    Return W, (p, f), with W W^T the inverse of a matrix in the f free unknowns, zero elsewhere.

    Args:
        matrix: Symmetric, shape (p, p); scaled to a diagonal of ones on the way.
        free: Whether each unknown is free, (p,).
    """
    inner = matrix[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.diag(inner), 1e-300))
    sizes, vectors = np.linalg.eigh(inner / np.outer(scale, scale))
    root = np.zeros((len(matrix), len(inner)))
    root[free] = vectors / np.sqrt(np.maximum(sizes, 1e-14 * sizes[-1])) / scale[:, None]
    return root


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

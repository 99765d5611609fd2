# SPDX-License-Identifier: Apache-2.0
"""
Displacement of the points of a beam along its axis by bending, and its inertia integrals.

A centre line that does not stretch shortens its projection on the axis: to second order in the
slopes every point moves along it by

    s(x) = -1/2 int_0^x |w'|^2 dx = -1/2 sum_kl delta_k delta_l int_0^x phi_k' . phi_l' dx

with both bending planes in w = sum_k phi_k delta_k (Kane, Ryan and Banerjee, Dynamics of a
Cantilever Beam Attached to a Moving Base, 1987; von Karman's strain set to zero). Torsion
and stretching draw in nothing. Loads along the beam do work on s, and so stiffen or soften it.

The integrals of slopes span a few axial shapes f_j(x). With amplitudes a_j that are quadratic in
delta, s = sum_j f_j a_j, so that everything else is an integral of f_j computed once. Where both
planes bend in equal shapes, they share them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Callable, Optional, Sequence

import numpy as np

# Modes k, l and a factor: delta_k delta_l for k < l, delta_k^2 / 2 for k = l.
Term = tuple[int, int, float]
# From n fractions of the length to the modes' slopes there, shape (m, n, 3) [m/m].
Slopes = Callable[[np.ndarray], np.ndarray]

# Products of slopes that differ by less than this fraction of their size are the same.
SAME = 1e-12
# Gauss points and weights on (0, 1).
POINTS, WEIGHTS = (0.5 * np.polynomial.legendre.leggauss(8)[n] + 0.5 * (1 - n) for n in (0, 1))


@dataclass(frozen=True)
class AxialShapes:
    """
    The axial shapes f_j(x) of a beam with m modes, j = 1 ... J.

    Attributes:
        terms: For each shape the terms whose sum is its amplitude a_j.
        slopes: Slopes of the modes in beam axes; x, along the beam, does not count.
        length: Of the beam [m].
        edges: Fractions of the length between which a few Gauss points integrate the slopes'
            products, from 0 to 1.
        at_edges: The shapes there, (J, number of edges) [m].
    """

    terms: tuple[tuple[Term, ...], ...]
    slopes: Slopes
    length: float
    edges: np.ndarray
    at_edges: np.ndarray

    def at(self, fractions: np.ndarray) -> np.ndarray:
        """Return f_j = -int_0^x phi_k' . phi_l' dx at n fractions of the length, (J, n) [m]."""
        last = len(self.edges) - 2
        panel = np.clip(np.searchsorted(self.edges, fractions, side='right') - 1, 0, last)
        start = self.edges[panel]
        sampled = _lateral(self.slopes, start, fractions)
        weight = self.length * (fractions - start)[:, None] * WEIGHTS
        leaders = ((k, other) for (k, other, _), *_ in self.terms)
        rest = [np.sum(weight * _product(sampled, *pair), axis=-1) for pair in leaders]
        return self.at_edges[:, panel] - np.array(rest)


def axial_shapes(
    slopes: Slopes, length: float, order: int, knots: Sequence[float] = (0.0, 1.0)
) -> Optional[AxialShapes]:
    """
    Return the axial shapes of a beam, or None where no mode bends it.

    Args:
        slopes: Slopes of the modes in beam axes, derivatives of the displacement along x.
        length: Of the beam [m].
        order: Number of Gauss points on the whole beam that resolve products of slopes.
        knots: Fractions of the length between which the slopes are smooth, from 0 to 1.
    """
    per_length = 2.0 * order / len(POINTS)
    pieces = [
        np.linspace(start, end, 1 + math.ceil(per_length * (end - start)))[:-1]
        for start, end in zip(knots, knots[1:])
    ]
    edges = np.concatenate([*pieces, [1.0]])
    sampled = _lateral(slopes, edges[:-1], edges[1:])
    terms, products = _independent(sampled)
    if not terms:
        return None
    panels = -length * np.diff(edges) * (np.array(products) @ WEIGHTS)
    at_edges = np.concatenate([np.zeros((len(terms), 1)), np.cumsum(panels, axis=1)], axis=1)
    return AxialShapes(terms, slopes, length, edges, at_edges)


def _independent(
    sampled: np.ndarray,
) -> tuple[tuple[tuple[Term, ...], ...], list[np.ndarray]]:
    """Return the terms of the products of slopes that differ by more than a factor, and these."""
    found: list[np.ndarray] = []
    units = np.zeros((0, sampled[0, ..., 0].size))
    terms: list[list[Term]] = []
    norms = [np.linalg.norm(slope) for slope in sampled]
    for k in range(len(sampled)):
        for other in range(k, len(sampled)):
            product = _product(sampled, k, other)
            size = np.linalg.norm(product)
            if size <= SAME * norms[k] * norms[other]:
                continue
            unit = product.ravel() / size
            cosines = units @ unit
            nearest = int(np.argmax(np.abs(cosines))) if found else 0
            if found and np.linalg.norm(unit - cosines[nearest] * units[nearest]) <= SAME:
                factor = cosines[nearest] * size / np.linalg.norm(found[nearest])
                equal = abs(factor - 1.0) <= SAME  # no factor then, which saves operations
                terms[nearest].append((k, other, 1.0 if equal else float(factor)))
            else:
                units = np.vstack([units, unit])
                found.append(product)
                terms.append([(k, other, 1.0)])
    return tuple(tuple(own) for own in terms), found


@dataclass(frozen=True)
class Foreshortening:
    """
    Inertia integrals of the axial shapes of a flexible body with m modes.

    Attributes:
        direction: Unit vector along the beam in link axes, shape (3,).
        terms: For each axial shape the terms whose sum is its amplitude a_j.
        first: int f_j dm, shape (J,).
        second: int x f_j dm, shape (J,).
        coupling: int f_j phi_k dm, shape (J, m, 3).
        product: int f_i f_j dm, shape (J, J).
    """

    direction: np.ndarray
    terms: tuple[tuple[Term, ...], ...]
    first: np.ndarray
    second: np.ndarray
    coupling: np.ndarray
    product: np.ndarray

    def with_mass(
        self, mass: np.ndarray, position: np.ndarray, values: np.ndarray, moves: np.ndarray
    ) -> Foreshortening:
        """
        Return the integrals with masses added on the axis.

        Args:
            mass: At n points, shape (n,) [kg].
            position: Distance of the points along the axis, shape (n,) [m].
            values: Axial shapes there, shape (J, n) [m].
            moves: Displacement of the points for unit modes, link axes, shape (m, n, 3).
        """
        return replace(
            self,
            first=self.first + values @ mass,
            second=self.second + values @ (mass * position),
            coupling=self.coupling + np.einsum('n,jn,kna->jka', mass, values, moves),
            product=self.product + np.einsum('n,in,jn->ij', mass, values, values),
        )


def massless(shapes: AxialShapes, direction: np.ndarray, n_modes: int) -> Foreshortening:
    """Return the integrals of axial shapes without any mass, for m modes."""
    count = len(shapes.terms)
    return Foreshortening(
        direction, shapes.terms, np.zeros(count), np.zeros(count),
        np.zeros((count, n_modes, 3)), np.zeros((count, count)),
    )


def axial_displacement(
    terms: Sequence[Sequence[Term]], values: np.ndarray, modes: np.ndarray
) -> np.ndarray:
    """
    Return s = sum_j f_j a_j at n points, shape (n,) [m], negative towards the root.

    Args:
        terms: Terms of each axial shape's amplitude.
        values: Axial shapes at the points, shape (J, n) [m].
        modes: Modal coordinates, shape (m,).
    """
    amplitudes = [
        sum(f * modes[k] * modes[other] * (0.5 if k == other else 1.0) for k, other, f in own)
        for own in terms
    ]
    return np.array(amplitudes) @ values


def _lateral(slopes: Slopes, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the slopes across the beam at the Gauss points of n pieces, (m, n, points, 2)."""
    at = start[:, None] + (end - start)[:, None] * POINTS
    across = slopes(at.ravel())[:, :, 1:]
    return across.reshape(len(across), *at.shape, 2)


def _product(sampled: np.ndarray, k: int, other: int) -> np.ndarray:
    return np.sum(sampled[k] * sampled[other], axis=-1)

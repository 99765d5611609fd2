# SPDX-License-Identifier: Apache-2.0
"""
Shapes along a beam: closed forms of a uniform one, and trial shapes for all others.

All run over x / length and are held at the root. The closed forms are one at the tip. Bending: the
clamped-free Euler-Bernoulli beam, 1 + cos(b) cosh(b) = 0. There
phi = cosh bx - cos bx - s (sinh bx - sin bx), s = (sinh b - sin b) / (cosh b + cos b)
(Blevins, Formulas for Natural Frequency and Mode Shape, 1979, table 8-1). Torsion and
stretch: the clamped-free rod, sin((2k - 1) pi x / 2) (El-Rayyes 1990, case 2).

Trial shapes come from polynomial strains between knots. Curvature (or twist, or stretch), and with
Timoshenko's beam the shear angle, is a Legendre polynomial between two knots and zero elsewhere.
Deflections are its integrals from the root on. So the clamped root and the joints between pieces
need no conditions, and strains may jump where the section does. The stiffness matrix is nearly
diagonal, which keeps the lowest frequencies exact to rounding (integrated Legendre functions:
Szabo and Babuska, Finite Element Analysis, 1991, section 2.2).
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Sequence

import numpy as np
from numpy.polynomial import legendre


def clamped_free_root(order: int) -> float:
    """Return the positive root number `order` (1, 2, ...) of 1 + cos(b) cosh(b) = 0."""
    root = (order - 0.5) * math.pi if order > 1 else 1.875
    for _ in range(30):
        # Divided by cosh(b), so that high roots neither overflow nor lose digits.
        value = math.cos(root) + 1.0 / math.cosh(root)
        slope = -math.sin(root) - math.tanh(root) / math.cosh(root)
        step = value / slope
        root -= step
        if abs(step) <= 1e-16 * root:
            break
    return root


@dataclass(frozen=True)
class Shape:
    """
    Shapes sampled at n points along the beam, each array (n,) or (m, n) for m shapes.

    Attributes:
        value: Deflection [m] or rotation [rad] for a unit coordinate.
        slope: First derivative with respect to x / length.
        rotation: Rotation of the cross-section times the length; bending only, and equal to the
            slope where shear does not deform.
        curvature: Derivative of `rotation` with respect to x / length; bending only.
    """

    value: np.ndarray
    slope: np.ndarray
    rotation: np.ndarray
    curvature: np.ndarray

    def combined(self, coefficients: np.ndarray) -> Shape:
        """Return linear combinations of m shapes, coefficients (k, m)."""
        parts = (self.value, self.slope, self.rotation, self.curvature)
        return Shape(*(coefficients @ part for part in parts))


def clamped_free_bending(order: int, x: np.ndarray) -> Shape:
    """
    Return bending mode number `order` at the fractions x of the length.

    The hyperbolic part is written with decaying exponentials only: the textbook form loses all
    digits from about the tenth mode on.
    """
    b = clamped_free_root(order)
    denominator = 1.0 + math.exp(-2.0 * b) + 2.0 * math.cos(b) * math.exp(-b)
    one_minus_s = 2.0 * math.exp(-b) * (math.exp(-b) + math.cos(b) + math.sin(b)) / denominator
    s = 1.0 - one_minus_s
    # growing = exp(b x) (1 - s) / 2, decaying = exp(-b x) (1 + s) / 2.
    growing = np.exp(b * (x - 1.0)) * (math.exp(-b) + math.cos(b) + math.sin(b)) / denominator
    decaying = 0.5 * (1.0 + s) * np.exp(-b * x)
    cosine, sine = np.cos(b * x), np.sin(b * x)
    tip = 2.0 if order % 2 == 1 else -2.0
    slope = b * (growing - decaying + sine + s * cosine) / tip
    return Shape(
        value=(growing + decaying - cosine + s * sine) / tip,
        slope=slope,
        rotation=slope,
        curvature=b * b * (growing + decaying + cosine - s * sine) / tip,
    )


def clamped_free_rod(order: int, x: np.ndarray) -> Shape:
    """Return torsion or axial mode number `order` at the fractions x of the length."""
    wave = (order - 0.5) * math.pi
    tip = 1.0 if order % 2 == 1 else -1.0
    value, slope = np.sin(wave * x) / tip, wave * np.cos(wave * x) / tip
    return Shape(value, slope, np.zeros_like(value), np.zeros_like(value))


@dataclass(frozen=True)
class StrainSpace:
    """
    Trial shapes over x / length.

    Attributes:
        knots: Fractions of the length from 0 to 1.
        degrees: Degree of the strains between each two knots.
        bends: Whether strains are curvatures, integrated twice; else once, for torsion and
            stretch.
        shears: Whether shear angles are added.
    """

    knots: tuple[float, ...]
    degrees: tuple[int, ...]
    bends: bool
    shears: bool = False

    @property
    def n_strains(self) -> int:
        """Number of polynomials of one kind of strain."""
        return sum(degree + 1 for degree in self.degrees)

    def sample(self, x: np.ndarray) -> Shape:
        """Return all trial shapes at the fractions x, arrays of shape (size, n)."""
        strain, once, twice = self._integrals(np.asarray(x, dtype=float))
        none = np.zeros_like(strain)
        if not self.bends:
            return Shape(once, strain, none, none)
        if not self.shears:
            return Shape(twice, once, once, strain)
        return Shape(
            np.concatenate((twice, once)),
            np.concatenate((once, strain)),
            np.concatenate((once, none)),
            np.concatenate((strain, none)),
        )

    def _integrals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the strains, their integrals and the integrals of those, (n_strains, n)."""
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for start, end, degree in zip(self.knots, self.knots[1:], self.degrees):
            half = 0.5 * (end - start)
            z = np.clip((x - start) / half - 1.0, -1.0, 1.0)
            inside = (x >= start) & ((x < end) | (end == 1.0))
            strain = legendre.legvander(z, degree + 2).T
            once = half * _integrated(strain)
            twice = half * _integrated(once)
            # Behind its piece a strain leaves a rotation, its mean times the piece's length.
            twice[0] += 2.0 * half * np.maximum(x - end, 0.0)
            size = degree + 1
            parts.append((strain[:size] * inside, once[:size], twice[:size]))
        strain, once, twice = (np.concatenate(part) for part in zip(*parts))
        return strain, once, twice

    def projected(self, strains: Sequence[legendre.Legendre]) -> np.ndarray:
        """
        Return the coefficients of strains that are polynomials over the whole length.

        Args:
            strains: m polynomials over (0, 1), of no higher degree than the space's.

        Returns:
            Shape (m, size); the shear angles have none.
        """
        rows = np.zeros((len(strains), self.n_strains * (1 + self.shears)))
        column = 0
        for start, end, degree in zip(self.knots, self.knots[1:], self.degrees):
            z, weight = legendre.leggauss(degree + 2)
            values = legendre.legvander(z, degree).T
            factor = (np.arange(degree + 1) + 0.5)[:, None] * weight * values
            for row, strain in zip(rows, strains):
                row[column : column + degree + 1] = factor @ strain(
                    start + 0.5 * (end - start) * (z + 1.0)
                )
            column += degree + 1
        return rows


def _integrated(values: np.ndarray) -> np.ndarray:
    """
    Return the integrals from -1 of the Legendre polynomials 0 ... n - 1, or of such integrals.

    (2 j + 1) int P_j = P_{j+1} - P_{j-1}, int P_0 = P_1 + P_0; the same holds of the integrals.

    Args:
        values: Number 0 ... n at points, shape (n + 1, ...).
    """
    odd = 2.0 * np.arange(1, len(values) - 1)[:, None] + 1.0
    return np.concatenate((values[:1] + values[1:2], (values[2:] - values[:-2]) / odd))

# SPDX-License-Identifier: Apache-2.0
"""
Shapes along a beam, and the closed forms of a uniform one that is clamped at its root alone.

All run over x / length; the closed forms are one at the tip.

Bending: the clamped-free Euler-Bernoulli beam, 1 + cos(b) cosh(b) = 0,
phi = cosh bx - cos bx - s (sinh bx - sin bx), s = (sinh b - sin b) / (cosh b + cos b)
(Blevins, Formulas for Natural Frequency and Mode Shape, 1979, table 8-1). Torsion and
stretch: the clamped-free rod, sin((2k - 1) pi x / 2) (El-Rayyes 1990, case 2).
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np


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
        turn: Rotation of the cross-section times the length; bending only, and equal to the
            slope where shear does not deform.
        curvature: Derivative of `turn` with respect to x / length; bending only.
    """

    value: np.ndarray
    slope: np.ndarray
    turn: np.ndarray
    curvature: np.ndarray

    def combined(self, coefficients: np.ndarray) -> Shape:
        """Return linear combinations of m shapes, coefficients (k, m)."""
        parts = (self.value, self.slope, self.turn, self.curvature)
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
        turn=slope,
        curvature=b * b * (growing + decaying + cosine - s * sine) / tip,
    )


def clamped_free_rod(order: int, x: np.ndarray) -> Shape:
    """Return torsion or axial mode number `order` at the fractions x of the length."""
    wave = (order - 0.5) * math.pi
    tip = 1.0 if order % 2 == 1 else -1.0
    value, slope = np.sin(wave * x) / tip, wave * np.cos(wave * x) / tip
    return Shape(value, slope, np.zeros_like(value), np.zeros_like(value))

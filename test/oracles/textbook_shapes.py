# SPDX-License-Identifier: Apache-2.0
"""
Clamped-free mode shapes of a uniform beam, as textbooks print them.

Bending: phi_k(x) = cosh bx - cos bx - s_k (sinh bx - sin bx), with 1 + cos(bL) cosh(bL) = 0. In
it s_k = (sinh bL - sin bL) / (cosh bL + cos bL). Torsion: sin((2k - 1) pi x / 2L). Source:
Blevins, Formulas for Natural Frequency and Mode Shape, 1979. Scaled here to one at the tip.
"""

import numpy as np
from scipy.optimize import brentq


def bending_root(k: int) -> float:
    """Return the k-th root (from 1) of 1 + cos b cosh b = 0."""
    middle = (k - 0.5) * np.pi
    return brentq(lambda b: np.cos(b) + 1.0 / np.cosh(b), middle - 0.4, middle + 0.4, xtol=1e-15)


def bending_shape(k: int, x, length: float, derivative: int = 0) -> np.ndarray:
    """Return the k-th bending shape's derivative of order 0, 1 or 2 at x [m]."""
    b = bending_root(k)
    s = (np.sinh(b) - np.sin(b)) / (np.cosh(b) + np.cos(b))

    def raw(z, order):
        if order == 0:
            return np.cosh(z) - np.cos(z) - s * (np.sinh(z) - np.sin(z))
        if order == 1:
            return np.sinh(z) + np.sin(z) - s * (np.cosh(z) - np.cos(z))
        return np.cosh(z) + np.cos(z) - s * (np.sinh(z) + np.sin(z))

    z = b * np.asarray(x, dtype=float) / length
    return raw(z, derivative) * (b / length) ** derivative / raw(b, 0)


def torsion_shape(k: int, x, length: float, derivative: int = 0) -> np.ndarray:
    """Return the k-th torsion shape's derivative of order 0 or 1 at x [m]."""
    wave = (2 * k - 1) * np.pi / (2.0 * length)
    z = wave * np.asarray(x, dtype=float)
    sign = np.sin(wave * length)
    return (np.sin(z) if derivative == 0 else wave * np.cos(z)) / sign

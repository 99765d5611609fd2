# SPDX-License-Identifier: Apache-2.0
"""
Small vibrations of a loaded cantilever by finite elements: Hermite cubics and axial tension.

K = int EI w''^2 + int T w'^2, M = int rho A w^2, with the axial force T given; none of it is the
package's. Compression is a negative T, and its critical size makes K singular.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from validation.case_file import expected, inputs

ELEMENTS = 40
# First flapping frequency over sqrt(EI / rho A L^4) at hub speeds in the same unit, hub radius
# 0: A. D. Wright, C. E. Smith, R. W. Thresher and J. L. C. Wang, Vibration modes of
# centrifugally stiffened beams, Journal of Applied Mechanics 49, 1982, table 1.
WRIGHT = dict(zip(inputs('rb_rotating_beam')['speeds'], expected('rb_rotating_beam', 'modes_5')))


def matrices(tension, tip_mass: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Return bending stiffness, geometric stiffness and mass of a clamped-free beam, (2 n, 2 n).

    Length, EI and line mass are 1.

    Args:
        tension: Axial force as a function of x on (0, 1).
        tip_mass: At x = 1.
    """
    size = 2 * (ELEMENTS + 1)
    stiffness, geometric, mass = np.zeros((3, size, size))
    h = 1.0 / ELEMENTS
    point, weight = np.polynomial.legendre.leggauss(5)
    for number in range(ELEMENTS):
        at = slice(2 * number, 2 * number + 4)
        for s, w in zip(0.5 * (point + 1.0), 0.5 * h * weight):
            value = np.array([
                1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3,
                h * (s**3 - s**2),
            ])
            slope = np.array([
                6 * s**2 - 6 * s, h * (1 - 4 * s + 3 * s**2), 6 * s - 6 * s**2,
                h * (3 * s**2 - 2 * s),
            ]) / h
            curve = np.array([
                12 * s - 6, h * (6 * s - 4), 6 - 12 * s, h * (6 * s - 2),
            ]) / h**2
            stiffness[at, at] += w * np.outer(curve, curve)
            geometric[at, at] += w * tension((number + s) * h) * np.outer(slope, slope)
            mass[at, at] += w * np.outer(value, value)
    mass[-2, -2] += tip_mass
    return stiffness[2:, 2:], geometric[2:, 2:], mass[2:, 2:]


def flap_frequencies(speed: float, tip_mass: float = 0.0, felt_mass=None) -> np.ndarray:
    """
    Return the two lowest flapping frequencies of a beam on a hub of radius 0, ascending.

    Args:
        speed: Of the hub, in units of sqrt(EI / rho A L^4) as the frequencies.
        tip_mass: Over the beam's own mass.
        felt_mass: Tip mass that pulls the beam straight, if another one.
    """
    pull = tip_mass if felt_mass is None else felt_mass
    stiffness, geometric, mass = matrices(
        lambda x: speed**2 * (0.5 * (1.0 - x**2) + pull), tip_mass
    )
    squares = eigh(stiffness + geometric, mass, eigvals_only=True, subset_by_index=[0, 1])
    return np.sqrt(squares)

# SPDX-License-Identifier: Apache-2.0
"""
Whether a rigid body can have an inertia.

With mass of one sign, principal moments are not negative and none exceeds the sum of the others:
I1 + I2 - I3 = 2 int z^2 dm (Wittenburg, Dynamics of Multibody Systems, 2008, section 3.1).
"""

from __future__ import annotations

from typing import Collection
from typing import Optional

import numpy as np

# Tolerance of the tests, relative to the largest moment: inertias are often printed in few digits.
RELATIVE_TOLERANCE = 1e-4
# Inertia below this fraction of mass times 1 m^2 counts as none.
NEGLIGIBLE = 1e-12

ADVICE = 'No rigid body has this inertia: take it from the CAD model again, in kg m^2'
Moments = tuple[float, float, float]


def principal_moments(mass: float, matrix: np.ndarray) -> Moments:
    """Return the principal moments of an inertia (3, 3), ascending; zeros for a point mass."""
    low, middle, high = np.linalg.eigvalsh(matrix).tolist()
    if max(abs(low), abs(high)) <= NEGLIGIBLE * mass:
        return 0.0, 0.0, 0.0
    return low, middle, high


def failed_tests(mass: float, moments: Moments) -> dict[str, float]:
    """
    Return the tests that a body fails, and by how much relative to the largest moment.

    They are "mass" (inertia without mass), "positive" (a negative principal moment) and "triangle"
    (the largest moment exceeds the sum of the others).

    Args:
        mass: [kg].
        moments: Principal moments, ascending [kg m^2].
    """
    low, middle, high = moments
    largest = max(abs(low), abs(high))
    failed = {}
    if mass == 0.0 and largest > 0.0:
        failed['mass'] = 1.0
    if low < -RELATIVE_TOLERANCE * largest:
        failed['positive'] = -low / largest
    elif high - low - middle > RELATIVE_TOLERANCE * largest:
        failed['triangle'] = (high - low - middle) / largest
    return failed


def failure(test: str, moments: Moments, excess: float) -> str:
    """Return what is wrong with a body that fails a test by this much of its largest moment."""
    values = ' '.join(f'{m:.4g}' for m in moments)
    by = f'by {100.0 * excess:.3g} percent of the largest'
    return {
        'mass': f'inertia without mass, principal moments {values} kg m^2',
        'positive': f'a principal moment is negative {by}: {values} kg m^2',
        'triangle': f'the largest principal moment exceeds the sum of the others {by}: {values} '
        'kg m^2',
    }[test]


def inertia_problem(
    mass: float, matrix: np.ndarray, tests: Collection[str] = ('positive', 'triangle')
) -> Optional[str]:
    """
    Return what makes a matrix (3, 3) [kg m^2] no rigid body's inertia, with advice, or None.

    Zeros are a point mass.

    Args:
        mass: [kg].
        matrix: The inertia.
        tests: Which of `failed_tests` count.
    """
    moments = principal_moments(mass, matrix)
    for test, excess in failed_tests(mass, moments).items():
        if test in tests:
            return f'{failure(test, moments, excess)}. {ADVICE}'
    return None

# SPDX-License-Identifier: Apache-2.0
"""The page on convergence: its claims, and its current table."""

from pathlib import Path

from benchmarks.mode_convergence.__main__ import frequency_errors, page
from benchmarks.mode_convergence.study import BASES, exact, HINGED, rates, TIP_INERTIA, TIP_MASS
import numpy as np
import pytest

PAGE = Path(__file__).resolve().parents[3] / 'docs' / 'mode_convergence.md'


def test_page_is_current():
    assert PAGE.read_text() == page(), 'run python -m benchmarks.mode_convergence'


def test_what_is_called_exact_solves_the_frequency_equations():
    """Clamped with mass and inertia at the tip; pinned-free (Blevins 1979, tables 8-1, 8-8)."""
    for b in np.sqrt(exact()[:3]):
        cos, sin, cosh, sinh = np.cos(b), np.sin(b), np.cosh(b), np.sinh(b)
        terms = [
            1 + cos * cosh, TIP_MASS * b * (cos * sinh - sin * cosh),
            -TIP_INERTIA * b**3 * (cosh * sin + sinh * cos),
            TIP_MASS * TIP_INERTIA * b**4 * (1 - cos * cosh),
        ]
        assert abs(sum(terms)) < 1e-8 * np.abs(terms).max()
    assert np.sqrt(exact(True)[:2]) == pytest.approx([3.92660231, 7.06858275], abs=1e-8)


def test_every_basis_converges_from_above():
    for name in BASES:
        errors = list(frequency_errors(name, 0).values())
        assert all(b <= a or b < 1e-9 for a, b in zip(errors, errors[1:])), name
        assert rates(BASES[name], 4)[0] >= exact()[0] * (1 - 1e-9)
    assert rates(HINGED['pinned-free'], 1, True)[0] == pytest.approx(exact(True)[0], rel=1e-10)

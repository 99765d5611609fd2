# SPDX-License-Identifier: Apache-2.0
"""Dual numbers: every operation against central differences."""

import math

from flexdyn_ros.dynamics.derivatives.dual import Dual, duals, jacobian_of
from flexdyn_ros.dynamics.linear_algebra import SymmetricFactors
from flexdyn_ros.dynamics.scalar import cos, exp, piecewise, sin, stumpff, tanh
from flexdyn_ros.dynamics.spring_law import monotone_cubic
import numpy as np
import pytest

STEP = 1e-5
AT = (0.7, 1.3)
TABLE = monotone_cubic([(-1.0, -4.0), (0.0, 0.0), (0.5, 1.0), (2.0, 9.0)])
FUNCTIONS = {
    'sum': lambda x, y: x + y + 2.0,
    'difference': lambda x, y: 3.0 - x - y,
    'less a number': lambda x, y: (x - 0.2) * y,
    'product': lambda x, y: 2.0 * x * y * x,
    'quotient': lambda x, y: x / y + 1.0 / x + y / 3.0,
    'negative': lambda x, y: -(x * y),
    'size': lambda x, y: abs(x - y) + abs(x + y),
    'sine': lambda x, y: sin(x * y),
    'cosine': lambda x, y: cos(x + 2.0 * y),
    'exponential': lambda x, y: exp(-x * y),
    'tanh': lambda x, y: tanh(x - y),
    'numbers of numpy': lambda x, y: np.float64(2.0) * x + np.float64(3.0) / y - np.float64(1.0),
    **{f'stumpff {k}': lambda x, y, k=k: stumpff(k, x * y) for k in range(6)},
    'spring table': lambda x, y: piecewise(TABLE, x * y),
    'stumpff at rest': lambda x, y: stumpff(2, (x - 0.7) * y),
}


@pytest.mark.parametrize('name', list(FUNCTIONS))
def test_derivatives_equal_differences(name):
    """By both arguments."""
    function = FUNCTIONS[name]
    found = function(*duals(AT, np.eye(2)))
    assert found.value == pytest.approx(function(*AT), rel=1e-15)
    for k in range(2):
        ahead, behind = list(AT), list(AT)
        ahead[k] += STEP
        # Stumpff's functions are those of u >= 0, so the step at rest goes forward alone.
        behind[k] -= 0.0 if name == 'stumpff at rest' else STEP
        slope = (function(*ahead) - function(*behind)) / (ahead[k] - behind[k])
        assert found.slopes[k] == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_the_slope_of_tanh_keeps_its_digits():
    """1 - tanh^2 would lose them all; at 20 it is 4 exp(-40) to the last digit."""
    found = tanh(Dual(20.0, np.ones(1)))
    assert found.slopes[0] == pytest.approx(4.0 * math.exp(-40.0), rel=1e-14)
    assert tanh(Dual(-20.0, np.ones(1))).slopes[0] == found.slopes[0]


def test_a_linear_system_of_dual_numbers():
    """d(A^-1 b) = A^-1 (db - dA A^-1 b)."""
    rng = np.random.default_rng(1)
    root, slope = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    matrix, slope = root @ root.T + np.eye(3), slope + slope.T
    right, rise = rng.normal(size=3), rng.normal(size=3)
    rows = [[Dual(a, np.array([b])) for a, b in zip(*each)] for each in zip(matrix, slope)]
    factors = SymmetricFactors(rows, [0.0] * 3)
    found = factors.solve([Dual(a, np.array([b])) for a, b in zip(right, rise)])
    x = np.linalg.solve(matrix, right)
    expected = np.linalg.solve(matrix, rise - slope @ x)
    assert np.allclose(jacobian_of(found, 1)[:, 0], expected, rtol=1e-12)


def test_numbers_have_no_slope_and_duals_no_truth_value():
    """A branch on a value would hide a derivative."""
    assert np.array_equal(jacobian_of([1.0, Dual(1.0, np.ones(2))], 2), [[0, 0], [1, 1]])
    with pytest.raises(TypeError, match='truth value'):
        bool(Dual(0.0, np.ones(1)))

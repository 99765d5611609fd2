# SPDX-License-Identifier: Apache-2.0
"""
The steady-state Kalman filter of a discrete linear system.

Source: Anderson and Moore, Optimal Filtering, 1979, section 4.4.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import expm

_MOST_DOUBLINGS = 60
_TOLERANCE = 1e-12


def steady_gain(f: np.ndarray, h: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
    """
    Return the gain of the correction x+ = F x + K (y+ - H F x), (n, p).

    The Riccati equation is solved by doubling (Chu, Fan, Lin and Wang, Structure-preserving
    algorithms for periodic discrete-time algebraic Riccati equations, International Journal of
    Control 77, 2004). Modes that are slow against the period spoil methods by eigenvalues.

    Args:
        f: F, (n, n).
        h: H, (p, n).
        q: Covariance of the noise of the state, (n, n), positive semidefinite.
        r: That of the readings, (p, p), positive definite.
    """
    # Scaled such that the noises have size one.
    size, weight = np.sqrt(np.diag(q)), np.sqrt(np.diag(r))
    f, q, h = f * size / size[:, None], q / np.outer(size, size), h * size / weight[:, None]
    r = r / np.outer(weight, weight)
    a, p, g = f.T, q, h.T @ np.linalg.solve(r, h)
    for _ in range(_MOST_DOUBLINGS):
        inner = np.linalg.inv(np.eye(len(f)) + g @ p)
        change = a.T @ p @ inner @ a
        g, a, p = g + a @ inner @ g @ a.T, a @ inner @ a, p + change
        if np.linalg.norm(change) < _TOLERANCE * np.linalg.norm(p):
            break
    gain = np.linalg.solve(h @ p @ h.T + r, h @ p).T
    return np.asarray(gain * size[:, None] / weight)


def sampled(
    a: np.ndarray, intensity: np.ndarray, period: float
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return F and Q of the sampled x' = A x + white noise, Van Loan 1978.

    Args:
        a: A, (n, n).
        intensity: Of the noise, (n, n).
        period: Of sampling [s].
    """
    n = len(a)
    # Over a short part of the period, which is then doubled: exp(-A h) grows as fast as the
    # joints' friction decays, and would overflow.
    doublings = max(0, math.ceil(math.log2(max(float(np.linalg.norm(period * a, 1)), 1.0))))
    step = period / 2.0**doublings
    block = expm(step * np.block([[-a, intensity], [np.zeros_like(a), a.T]]))
    f = block[n:, n:].T
    q = f @ block[:n, n:]
    for _ in range(doublings):
        f, q = f @ f, q + f @ q @ f.T
    return f, 0.5 * (q + q.T)

# SPDX-License-Identifier: Apache-2.0
"""
The nearest configuration and velocity that meet all loops.

Loops are closed by damped Gauss-Newton steps, the damping shrinking with the gap so that
repeated constraints do no harm (Levenberg and Marquardt; N. Yamashita and M. Fukushima, On the
rate of convergence of the Levenberg-Marquardt method, 2001). Then the configuration is moved
within the closed ones, against the part of its offset from the start that the loops leave free,
and closed again, until no such part is left: the offset then stands across all allowed motions,
which is what nearest means.
"""

from __future__ import annotations

from typing import Callable, Optional

from flexdyn_ros.closed_chains.configuration import ConfigurationSpace
from flexdyn_ros.closed_chains.solve import Spaces, spaces
import numpy as np

# Gaps below this, times the size of the constraint Jacobian, are closed [m | rad].
CLOSED = 1e-13
# A gap that rounding keeps open is accepted below this.
ACCEPTED = 1e-10
MOST_STEPS = 100
# Random offsets [rad | m] from which a start at a dead point is tried again.
RESTARTS = (1e-3, 1e-2, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)

Gaps = Callable[[np.ndarray], np.ndarray]
Jacobian = Callable[[np.ndarray], np.ndarray]


class Projection:
    """
    Brings configurations onto the closed ones.

    Args:
        space: The configuration space.
        gaps: From q to the gaps, (n,).
        jacobian: From q to their Jacobian, (n, nv).
        moving: Places in velocities of the coordinates that may change.
    """

    def __init__(
        self, space: ConfigurationSpace, gaps: Gaps, jacobian: Jacobian, moving: np.ndarray
    ):
        self._space, self._gaps, self._moving = space, gaps, moving
        self._jacobian = lambda q: jacobian(q)[:, moving]

    def nearest(self, start: np.ndarray) -> Optional[np.ndarray]:
        """Return the configuration (nq,) nearest to a start that closes the loops, or None."""
        q = self._closed(start)
        if q is None:
            q = self._restarted(start)
        if q is None:
            return None
        return self._drawn_near(start, q)

    def best(self, start: np.ndarray) -> np.ndarray:
        """Return the gaps (n,) that are left where the loops do not close."""
        return self._gaps(self._descend(start)[0])

    def _closed(self, start: np.ndarray) -> Optional[np.ndarray]:
        q, closed = self._descend(start)
        return q if closed else None

    def _descend(self, q: np.ndarray) -> tuple[np.ndarray, bool]:
        """Return where the gaps are smallest from q on, and whether they are closed there."""
        gaps = self._gaps(q)
        damping = 1.0
        for _ in range(MOST_STEPS):
            a = self._jacobian(q)
            size = max(1.0, float(np.abs(a).max(initial=0.0)))
            gap = float(np.sqrt(gaps @ gaps))
            if gap <= CLOSED * size:
                return q, True
            u, s, vt = np.linalg.svd(a, full_matrices=False)
            wanted = u.T @ gaps
            better = False
            for _ in range(12):
                shrink = s / (s * s + damping * gap * gap)
                trial = self._step(q, -(vt.T @ (shrink * wanted)))
                trial_gaps = self._gaps(trial)
                if trial_gaps @ trial_gaps < (1.0 - 1e-4) * gap * gap:
                    better = True
                    break
                damping = max(10.0 * damping, 1e-3)
            if not better:
                return q, gap <= ACCEPTED * size
            q, gaps = trial, trial_gaps
            damping = max(0.1 * damping, 1e-6)
        return q, False

    def _restarted(self, start: np.ndarray) -> Optional[np.ndarray]:
        """Return the nearest of some closed configurations around a start at a dead point."""
        rng = np.random.default_rng(0)
        found: list[tuple[float, np.ndarray]] = []
        for size in RESTARTS:
            for _ in range(3):
                way = size * rng.normal(size=len(self._moving))
                q = self._closed(self._step(start, way))
                if q is not None:
                    found.append((self._distance(start, q), q))
            if found:
                return min(found, key=lambda pair: pair[0])[1]
        return None

    def _drawn_near(self, start: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return a configuration whose offset from the start has no part along free motions."""
        distance, length = self._distance(start, q), 1.0
        for _ in range(MOST_STEPS):
            offset = self._space.offset(start, q)[self._moving]
            known = spaces(self._jacobian(q))
            along = known.free @ (known.free.T @ offset)
            size = float(np.sqrt(along @ along))
            if size <= 1e-12 + 1e-9 * distance or length < 1e-6:
                break
            trial = self._closed(self._step(q, -length * along))
            nearer = None if trial is None else self._distance(start, trial)
            if trial is None or nearer is None or nearer > distance:
                length *= 0.5
                continue
            q, distance = trial, nearer
        return q

    def _distance(self, start: np.ndarray, q: np.ndarray) -> float:
        offset = self._space.offset(start, q)
        return float(np.sqrt(offset @ offset))

    def _step(self, q: np.ndarray, way: np.ndarray) -> np.ndarray:
        full = np.zeros(self._space.nv)
        full[self._moving] = way
        return self._space.moved(q, full)


def quick_correction(
    space: ConfigurationSpace, gaps: Gaps, known: Spaces, q: np.ndarray, size: float
) -> Optional[np.ndarray]:
    """
    Return q closed by steps with one set of spaces, from a gap that one time step has left.

    Args:
        space: The configuration space.
        gaps: From q to the gaps.
        known: Spaces of the constraint Jacobian close to q.
        q: Configuration, (nq,).
        size: Size of the constraint Jacobian.

    Returns:
        The configuration, or None where the steps do not converge quickly.
    """
    left = gaps(q)
    gap = float(np.sqrt(left @ left))
    for _ in range(6):
        if gap <= CLOSED * size:
            return q
        q = space.moved(q, -known.particular(left))
        left = gaps(q)
        smaller = float(np.sqrt(left @ left))
        if smaller > 0.5 * gap:
            return q if smaller <= 100.0 * CLOSED * size else None
        gap = smaller
    return q if gap <= 100.0 * CLOSED * size else None

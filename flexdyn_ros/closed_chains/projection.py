# SPDX-License-Identifier: Apache-2.0
"""
The nearest configuration and velocity that meet all loops.

Loops are closed by damped Gauss-Newton steps, the damping shrinking with the constraint errors so
that repeated constraints do no harm (Levenberg and Marquardt; N. Yamashita and M. Fukushima, On
the rate of convergence of the Levenberg-Marquardt method, 2001). Then the configuration is moved
within the closed ones, against the part of its offset from the start that the loops leave free.
It is closed again, and this repeats until no such part remains. The offset then stands across all
allowed motions, as at the nearest configuration.
"""

from __future__ import annotations

from typing import Callable, Optional

from flexdyn_ros.closed_chains.solve import Spaces, spaces
from flexdyn_ros.dynamics.loop_tolerances import CLOSED
from flexdyn_ros.model.configuration import ConfigurationSpace
import numpy as np

# An error that rounding leaves is accepted below this.
ACCEPTED = 1e-10
MOST_STEPS = 100
# Random offsets [rad | m] from which a start at a dead point is tried again.
RESTARTS = (1e-3, 1e-2, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)

# From q to constraint errors or their Jacobian.
Vectors = Callable[[np.ndarray], np.ndarray]


class Projection:
    """
    Projects configurations onto the closed ones.

    Args:
        space: The configuration space.
        errors: From q to the constraint errors, (n,).
        jacobian: From q to their Jacobian, (n, nv).
        moving: Places in velocities of the coordinates that may change.
    """

    def __init__(
        self, space: ConfigurationSpace, errors: Vectors, jacobian: Vectors, moving: np.ndarray
    ):
        self._space, self._errors, self._moving = space, errors, moving
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
        """Return the constraint errors (n,) that are left where the loops do not close."""
        return self._errors(self._descend(start)[0])

    def _closed(self, start: np.ndarray) -> Optional[np.ndarray]:
        q, closed = self._descend(start)
        return q if closed else None

    def _descend(self, q: np.ndarray) -> tuple[np.ndarray, bool]:
        """Return the configuration of smallest errors near q, and whether its loops close."""
        errors = self._errors(q)
        damping = 1.0
        for _ in range(MOST_STEPS):
            a = self._jacobian(q)
            size = max(1.0, float(np.abs(a).max(initial=0.0)))
            norm = float(np.sqrt(errors @ errors))
            if norm <= CLOSED * size:
                return q, True
            u, s, vt = np.linalg.svd(a, full_matrices=False)
            wanted = u.T @ errors
            better = False
            for _ in range(12):
                shrink = s / (s * s + damping * norm * norm)
                trial = self._step(q, -(vt.T @ (shrink * wanted)))
                trial_errors = self._errors(trial)
                if trial_errors @ trial_errors < (1.0 - 1e-4) * norm * norm:
                    better = True
                    break
                damping = max(10.0 * damping, 1e-3)
            if not better:
                return q, norm <= ACCEPTED * size
            q, errors = trial, trial_errors
            damping = max(0.1 * damping, 1e-6)
        return q, False

    def _restarted(self, start: np.ndarray) -> Optional[np.ndarray]:
        """Return the nearest of some closed configurations around a start at a dead point."""
        rng = np.random.default_rng(0)
        found: list[tuple[float, np.ndarray]] = []
        for size in RESTARTS:
            for _ in range(3):
                step = size * rng.normal(size=len(self._moving))
                q = self._closed(self._step(start, step))
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

    def _step(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        full = np.zeros(self._space.nv)
        full[self._moving] = step
        return self._space.moved(q, full)


def quick_correction(
    space: ConfigurationSpace, errors: Vectors, known: Spaces, q: np.ndarray, size: float
) -> Optional[np.ndarray]:
    """
    Return q closed by steps with one set of spaces, from the errors that one time step has left.

    Args:
        space: The configuration space.
        errors: From q to the constraint errors.
        known: Spaces of the constraint Jacobian close to q.
        q: Configuration, (nq,).
        size: Size of the constraint Jacobian.

    Returns:
        The configuration, or None where the steps do not converge quickly.
    """
    left = errors(q)
    norm = float(np.sqrt(left @ left))
    for _ in range(6):
        if norm <= CLOSED * size:
            return q
        q = space.moved(q, -known.particular(left))
        left = errors(q)
        smaller = float(np.sqrt(left @ left))
        if smaller > 0.5 * norm:
            return q if smaller <= 100.0 * CLOSED * size else None
        norm = smaller
    return q if norm <= 100.0 * CLOSED * size else None

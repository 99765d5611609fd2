# SPDX-License-Identifier: Apache-2.0
"""
Coulomb friction as a set-valued law, solved as impulses of a step.

A joint at rest carries any friction up to its level, and a moving one all of it against its motion
(J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988):

    P_j = -h L_j sign(v_j)  where v_j is not zero,    |P_j| <= h L_j  where it is.

`forward_dynamics` and `friction_vector` smooth the sign (tanh), so that inverse dynamics can be
undone; a smoothed law lets a loaded joint creep, and the set-valued one lets it stand.
"""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.dynamics.multibody import FrictionTerm
import numpy as np

_MOST_CHANGES, _MOST_SWEEPS = 50, 2000


class FrictionLevels:
    """
    The dry friction of all joints, by velocity coordinate.

    Attributes:
        terms: The losses with dry friction.
        at: Coordinates with dry friction, (n,).
    """

    def __init__(self, terms: Sequence[FrictionTerm], size: int):
        """
        Take the losses of a robot's joints.

        Args:
            terms: The losses.
            size: Number of velocity coordinates.
        """
        self.terms = [each for each in terms if max(each.coulomb, each.stribeck) > 0.0]
        self._size = size
        self.at = np.array(sorted({each.index for each in self.terms}), dtype=int)

    def __call__(self, v: np.ndarray) -> np.ndarray:
        """Return the levels [N m | N] of the coordinates `at` at velocities v, (nv,)."""
        levels = np.zeros(self._size)
        for term in self.terms:
            ratio = term.multiplier * v[term.index] / term.stribeck_velocity
            excess = (term.stribeck - term.coulomb) * np.exp(-ratio * ratio)
            # Joints that mimic one rub too, each at its own speed.
            levels[term.index] += abs(term.multiplier) * (term.coulomb + excess)
        return levels[self.at]


def friction_impulses(
    mobility: np.ndarray, free: np.ndarray, bound: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return impulses and velocities that meet the set-valued law, one for each joint.

    The velocities are v = free + mobility P. It is the minimum of a strictly convex function over
    a box; a primal-dual active set finds it (Hintermueller, Ito and Kunisch, SIAM Journal on
    Optimization 13, 2002), or else Gauss-Seidel sweeps, which always converge.

    Args:
        mobility: Velocities of unit impulses, symmetric positive definite, (n, n).
        free: Velocities without friction, (n,).
        bound: Largest impulses, (n,).

    Returns:
        The impulses, (n,), and the velocities, (n,), zero where a joint sticks.
    """
    diagonal = np.diag(mobility)
    impulse = np.clip(-free / diagonal, -bound, bound)
    sticks = np.abs(free) <= diagonal * bound
    for _ in range(_MOST_CHANGES):
        impulse, velocity = _with_sticking(mobility, free, bound, impulse, sticks)
        wanted = impulse - velocity / diagonal
        now = np.abs(wanted) <= bound
        limited = np.where(now, impulse, np.clip(wanted, -bound, bound))
        if (now == sticks).all() and (limited == impulse).all():
            return impulse, velocity
        sticks, impulse = now, limited
    return _swept(mobility, free, bound, impulse)


def _with_sticking(
    mobility: np.ndarray, free: np.ndarray, bound: np.ndarray, impulse: np.ndarray,
    sticks: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the impulses that hold the joints that stick, the others' given, and velocities."""
    impulse = np.where(sticks, 0.0, impulse)
    if sticks.any():
        pushed = (free + mobility @ impulse)[sticks]
        impulse[sticks] = -np.linalg.solve(mobility[np.ix_(sticks, sticks)], pushed)
    velocity = free + mobility @ impulse
    velocity[sticks] = 0.0
    return impulse, velocity


def _swept(
    mobility: np.ndarray, free: np.ndarray, bound: np.ndarray, impulse: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same by projected Gauss-Seidel sweeps."""
    impulse = np.clip(impulse, -bound, bound)
    for _ in range(_MOST_SWEEPS):
        before = impulse.copy()
        for j in range(len(impulse)):
            velocity = free[j] + mobility[j] @ impulse
            impulse[j] = np.clip(impulse[j] - velocity / mobility[j, j], -bound[j], bound[j])
        if np.abs(impulse - before).max() <= 1e-14 * bound.max():
            break
    velocity = free + mobility @ impulse
    velocity[np.abs(impulse) < bound] = 0.0
    return impulse, velocity

# SPDX-License-Identifier: Apache-2.0
"""
Coulomb friction as a set-valued law, solved as impulses of a step.

A joint at rest carries any friction up to its level, and a moving one all of it against its motion
(J. J. Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988):

    P_j = -h L_j sign(v_j)  where v_j is not zero,    |P_j| <= h L_j  where it is.

`forward_dynamics` and `friction_vector` smooth the sign (tanh), so that inverse dynamics can be
undone. A smoothed law lets a loaded joint creep, and the set-valued one lets it stand.
"""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.dynamics.multibody import FrictionTerm
from flexdyn_ros.simulation.step_tolerances import (
    FEW_CHANGES,
    LOCKED,
    MOST_CHANGES,
    MOST_SWEEPS,
    SWEPT,
)
import numpy as np


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
            # Joints that mimic one have friction too, each at its own speed.
            levels[term.index] += abs(term.multiplier) * (term.coulomb + excess)
        return levels[self.at]


def friction_impulses(
    mobility: np.ndarray, free: np.ndarray, lower: np.ndarray, upper: np.ndarray,
    repeated: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return impulses and velocities that meet the set-valued law, one for each joint.

    The velocities are v = free + mobility P. It is the minimum of a convex function over a box. A
    primal-dual active set finds it (Hintermueller, Ito and Kunisch, SIAM Journal on Optimization
    13, 2002), or else Gauss-Seidel sweeps, which always converge.

    Args:
        mobility: Velocities of unit impulses, symmetric positive semidefinite, (n, n).
        free: Velocities without friction, (n,).
        lower: Least impulses, zero or less, infinite of an upper stop, (n,).
        upper: Largest impulses, zero or more, infinite of a lower stop, (n,).
        repeated: Whether rows may depend on each other, as by loops. Velocities are unique then,
            and impulses are not.

    Returns:
        The impulses, (n,), and the velocities, (n,), zero where a joint sticks.
    """
    diagonal = np.diag(mobility)
    if repeated:  # a joint that the loops lock does not move at all
        diagonal = np.maximum(diagonal, LOCKED * diagonal.max())
    impulse = np.clip(-free / diagonal, lower, upper)
    acts = lower < upper
    sticks = acts & (impulse == -free / diagonal)
    # The active set of dependent rows is not unique, and may not settle.
    for _ in range(FEW_CHANGES if repeated else MOST_CHANGES):
        impulse, velocity = _with_sticking(mobility, free, impulse, sticks, repeated)
        wanted = impulse - velocity / diagonal
        now = acts & (lower <= wanted) & (wanted <= upper)
        limited = np.where(now, impulse, np.clip(wanted, lower, upper))
        if (now == sticks).all() and (limited == impulse).all():
            return impulse, velocity
        sticks, impulse = now, limited
    return _swept(mobility, diagonal, free, lower, upper, impulse)


def _with_sticking(
    mobility: np.ndarray, free: np.ndarray, impulse: np.ndarray, sticks: np.ndarray,
    repeated: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the impulses that hold the joints that stick, the others' given, and velocities."""
    impulse = np.where(sticks, 0.0, impulse)
    if sticks.any():
        pushed = (free + mobility @ impulse)[sticks]
        block = mobility[np.ix_(sticks, sticks)]
        impulse[sticks] = -(
            np.linalg.lstsq(block, pushed, rcond=LOCKED)[0] if repeated
            else np.linalg.solve(block, pushed)
        )
    velocity = free + mobility @ impulse
    velocity[sticks] = 0.0
    return impulse, velocity


def _swept(
    mobility: np.ndarray, diagonal: np.ndarray, free: np.ndarray, lower: np.ndarray,
    upper: np.ndarray, impulse: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same by projected Gauss-Seidel sweeps."""
    impulse = np.clip(impulse, lower, upper)
    for _ in range(MOST_SWEEPS):
        before = impulse.copy()
        for j in range(len(impulse)):
            velocity = free[j] + mobility[j] @ impulse
            impulse[j] = np.clip(impulse[j] - velocity / diagonal[j], lower[j], upper[j])
        if np.abs(impulse - before).max() <= SWEPT * np.abs(impulse).max():
            break
    velocity = free + mobility @ impulse
    velocity[(lower < impulse) & (impulse < upper)] = 0.0
    return impulse, velocity

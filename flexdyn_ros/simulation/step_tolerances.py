# SPDX-License-Identifier: Apache-2.0
"""Ends of the iterations of implicit steps; the compiled loop takes the same numbers by name."""

from __future__ import annotations

MOST_ITERATIONS = 15
MOST_HALVINGS = 8  # of a step whose iterations do not converge
# Of velocities, where iterations end: their change, where it may be rounding that is left, and
# rounding of velocities that cancel.
CONVERGED, ROUNDING, NOISE = 1e-13, 1e-10, 1e-14
SMALL_DAMPING = 1e-4  # h d (M^-1)_jj, below which its weight is a series
# Changes of the active set of impulses, in all and where rows depend on each other; sweeps.
MOST_CHANGES, FEW_CHANGES, MOST_SWEEPS = 50, 5, 2000
SWEPT = 1e-14  # of impulses, the change with which sweeps end
LOCKED = 1e-10  # of mobilities, below which loops leave none
MOST_IMPACTS, MOST_SECANTS = 100, 40  # of a step
CLOSED = 1e-9  # of gaps [rad | m], up to which a stop is closed
STILL = 1e-12  # of velocities at closed stops [rad/s | m/s]
DIFFERENCE = 1e-6  # of a coordinate [rad | m], small against the knots of spring tables


def settled(moved: float, before: float, scale: float, cancelled: float = 0.0) -> bool:
    """
    Return whether iterations of a step end.

    Args:
        moved: Largest change of a velocity in the last iteration.
        before: The same in the one before.
        scale: Size of the velocities.
        cancelled: Size of the terms that cancel in them.
    """
    least = max(CONVERGED * scale, NOISE * cancelled)
    return moved <= least or (moved <= ROUNDING * scale and moved >= before)

# SPDX-License-Identifier: Apache-2.0
"""
Motion and forces under constraints, by rank: M qdd + bias = tau + A^T f with A qdd = c.

The null-space form. Householder reflections with column pivoting, A^T P = Q R (P. Businger and G.
Golub, Linear least squares solutions by Householder transformations, 1965), cut at the rank, part
motions into constrained and free ones. With R^T = Z T in turn,
A = (P Z) T Q1^T, the complete orthogonal decomposition (G. Golub and C. Van Loan, Matrix
Computations, section 5.5). The loops determine Q1^T qdd, and the equations of motion along the
null space the rest. f is the smallest of all forces that do it. Constraints that repeat each
other, or that a singular configuration makes dependent, lower the rank, and contradictions are met
in the least-squares sense, without damping. (F. E. Udwadia and R. E. Kalaba, Analytical Dynamics,
1996; R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 3.5.)

`spaces.h` and `loops.h` state the same in C for compiled calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from flexdyn_ros.dynamics.loop_tolerances import (
    LARGEST_TOLERANCE,
    PIVOT_TOLERANCE,
    RANK_TOLERANCE,
    TOLERANCE_OF_ERROR,
)
import numpy as np


def _lapack() -> Any:
    """Return scipy's LAPACK, imported when first needed: robots without loops start without it."""
    from scipy.linalg import lapack

    return lapack


class NoInertiaLeft(ArithmeticError):
    """
    Some motion that the constraints allow meets no inertia.

    Attributes:
        motion: The motion, (nv,).
    """

    def __init__(self, motion: np.ndarray):
        self.motion = motion
        super().__init__('a motion that the constraints allow meets no inertia')


@dataclass(frozen=True)
class Spaces:
    """
    The subspaces of motions that constraints restrict, and that they leave free.

    Attributes:
        forces: Orthonormal constraint combinations that act, P Z, (n, rank).
        inverse: Of the triangular T in A = forces T seen^T, (rank, rank).
        seen: Orthonormal motions that they restrict, (nv, rank).
        free: Orthonormal motions that they leave free, (nv, nv - rank).
    """

    forces: np.ndarray
    inverse: np.ndarray
    seen: np.ndarray
    free: np.ndarray

    @property
    def rank(self) -> int:
        """Number of independent constraints."""
        return len(self.inverse)

    def particular(self, c: np.ndarray) -> np.ndarray:
        """Return the smallest x with A x = c in the least-squares sense; c may be a matrix."""
        return self.seen @ (self.inverse @ (self.forces.T @ c))

    def reaction(self, load: np.ndarray) -> np.ndarray:
        """Return the smallest f with A^T f = load in the least-squares sense."""
        return self.forces @ (self.inverse.T @ (self.seen.T @ load))

    def contradiction(self, c: np.ndarray) -> np.ndarray:
        """Return the part of c that no motion gives."""
        return c - self.forces @ (self.forces.T @ c)


def spaces(
    a: np.ndarray, rank: Optional[int] = None, tolerance: float = RANK_TOLERANCE,
    floor: float = 0.0, columns: Any = slice(None),
) -> Spaces:
    """
    Return the spaces of a constraint Jacobian, or of some of its columns.

    Columns without an effect on the constraints hold rounding of the others, which is no rank.

    Args:
        a: (n, nv).
        rank: Its rank where that is known.
        tolerance: Otherwise, the fraction of the first pivot that counts as zero.
        floor: A pivot that counts as zero in any case.
        columns: Places of the columns; all of them are nv below.
    """
    floor = max(floor, RANK_TOLERANCE * float(np.abs(a).max(initial=0.0)))
    a = a[:, columns]
    n, nv = a.shape
    if not min(n, nv):
        return Spaces(np.zeros((n, 0)), np.zeros((0, 0)), np.zeros((nv, 0)), np.eye(nv))
    if not np.isfinite(a.sum()):
        raise FloatingPointError('the constraint Jacobian is not finite')
    lapack, most = _lapack(), min(n, nv)
    factors, order, scale, _, _ = lapack.dgeqp3(a.T)
    pivots = np.abs(factors.diagonal())
    floor = max(floor, tolerance * pivots[0]) if rank is None else 0.0
    rank = min(most if rank is None else rank, int(np.count_nonzero(pivots > floor)))
    q = np.zeros((nv, nv), order='F')
    q[:, :rank] = factors[:, :rank]
    q = lapack.dorgqr(q, scale[:rank], overwrite_a=1)[0] if rank else np.eye(nv)
    forces, inverse = np.zeros((n, rank)), np.zeros((rank, rank))
    if rank:
        z, scale, _, _ = lapack.dgeqrf(np.triu(factors[:rank]).T)
        inverse = lapack.dtrtri(np.triu(z[:rank]))[0]
        forces[order - 1] = lapack.dorgqr(z, scale)[0]
    return Spaces(forces, inverse, q[:, :rank], q[:, rank:])


def tolerance_of(errors: np.ndarray) -> float:
    """Return the tolerance of the rank where the loops have constraint errors [m | rad]."""
    largest = float(np.abs(errors).max(initial=0.0))
    return max(RANK_TOLERANCE, min(LARGEST_TOLERANCE, TOLERANCE_OF_ERROR * largest))


def constrained_motion(
    mass: np.ndarray, force: np.ndarray, known: Spaces, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return qdd and the constraint forces f of M qdd = force + A^T f, A qdd = c.

    Args:
        mass: Mass matrix, (nv, nv).
        force: (nv,).
        known: Spaces of A.
        c: (n,).

    Raises:
        NoInertiaLeft: If the constraints leave a motion free that meets no inertia.
    """
    qdd = known.particular(c)
    free = known.free
    if free.shape[1]:
        block = free.T @ mass @ free
        along = free.T @ (force - mass @ qdd)
        qdd = qdd + free @ _positive_solve(block, along, free)
    return qdd, known.reaction(mass @ qdd - force)


def _positive_solve(block: np.ndarray, right: np.ndarray, free: np.ndarray) -> np.ndarray:
    factor, answer, info = _lapack().dposv(block, right)
    if info == 0:
        pivots = factor.diagonal()
        if pivots.min() ** 2 > PIVOT_TOLERANCE * pivots.max() ** 2:
            return answer
    if not np.isfinite(block).all():
        raise FloatingPointError('the mass matrix is not finite')
    _, vectors = np.linalg.eigh(block)
    raise NoInertiaLeft(free @ vectors[:, 0])


def coupled_motion(
    mass: np.ndarray, force: np.ndarray, a: np.ndarray, map_: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return qdd and f of M qdd = force + map^T f, A qdd = c, where contact forces follow f.

    Args:
        mass: Mass matrix, (nv, nv), positive definite.
        force: (nv,).
        a: Constraint Jacobian, (n, nv).
        map_: Jacobian of the forces that come with unit constraint forces, (n, nv).
        c: (n,).
    """
    answer = np.linalg.solve(mass, np.column_stack((force, map_.T)))
    small = a @ answer[:, 1:]
    f = np.linalg.lstsq(small, c - a @ answer[:, 0], rcond=RANK_TOLERANCE)[0]
    return answer[:, 0] + answer[:, 1:] @ f, f


def attainable_forces(
    rest: np.ndarray, map_: np.ndarray, groups: list[list[int]]
) -> np.ndarray:
    """
    Return constraint forces f that leave as little as possible of rest - map^T f.

    Args:
        rest: Generalised forces that a motion needs, (nv,).
        map_: Jacobian of the constraint forces, (n, nv).
        groups: Coordinates by rank: the remainder on the first group is made smallest, then, with
            that kept, on the second, and so on.
    """
    f = np.zeros(len(map_))
    freedom = np.eye(len(map_))
    for group in groups:
        if not freedom.shape[1]:
            break
        block = map_[:, group].T @ freedom
        known = spaces(block, floor=RANK_TOLERANCE * np.abs(map_).max())
        f = f + freedom @ known.particular(rest[group] - map_[:, group].T @ f)
        freedom = freedom @ known.free
    return f

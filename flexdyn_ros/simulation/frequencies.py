# SPDX-License-Identifier: Apache-2.0
"""
Small vibrations about a configuration at rest: stiffness, damping, natural frequencies.

Stiffness here is that of modes and springs (`elastic_vector`). The stiffness of gravity is in
`linearisation/equilibrium.py`.
"""

from __future__ import annotations

from typing import Any, Iterable, Optional

from flexdyn_ros.closed_chains.solve import spaces, tolerance_of
from flexdyn_ros.dynamics.joint_terms import CoordinatePlaces
from flexdyn_ros.model.modal.matrices import reduced_eigenproblem, symmetric_part
from flexdyn_ros.simulation.step_tolerances import DIFFERENCE
import numpy as np


def stiffness_matrix(dyn: Any, q: np.ndarray) -> np.ndarray:
    """
    Return K = d elastic_vector / dq, (nv, nv), at rest in configuration q, (nq,).

    Modes carry stiffness, their coordinates are the last n_modes ones of q and of v, and passive
    springs beside joints do.
    """
    nv, n_modes = dyn.robot.nv, dyn.robot.n_modes
    stiffness = np.zeros((nv, nv))
    rest = np.zeros(nv)
    for k in range(-n_modes, 0):
        forward, backward = np.array(q, dtype=float), np.array(q, dtype=float)
        forward[k] += DIFFERENCE
        backward[k] -= DIFFERENCE
        difference = dyn.elastic_vector(forward, rest) - dyn.elastic_vector(backward, rest)
        stiffness[:, k] = difference / (2.0 * DIFFERENCE)
    for joint in dyn.robot.joints:
        if joint.dynamics.parallel_stiffness:
            terms = CoordinatePlaces(dyn.robot).link_side(joint)
            k = terms[0].velocity_index
            for term in terms:
                stiffness[term.velocity_index, k] += (
                    joint.dynamics.parallel_stiffness * terms[0].multiplier * term.multiplier)
    return symmetric_part(stiffness)


def damping_matrix(dyn: Any, q: np.ndarray) -> np.ndarray:
    """Return D = d (elastic_vector + friction_vector) / dv, (nv, nv), at rest in q, (nq,)."""
    nv = dyn.robot.nv
    damping = np.zeros((nv, nv))
    for k in range(nv):
        rate = np.zeros(nv)
        rate[k] = DIFFERENCE
        forces = [
            dyn.elastic_vector(q, sign * rate) + dyn.friction_vector(sign * rate)
            for sign in (1.0, -1.0)
        ]
        damping[:, k] = (forces[0] - forces[1]) / (2.0 * DIFFERENCE)
    return damping


def natural_modes(
    mass: np.ndarray, stiffness: np.ndarray, without: Optional[int] = None
) -> tuple[np.ndarray, np.ndarray]:
    """
    Solve the undamped vibration problem K x = w^2 M x.

    Args:
        mass: Symmetric positive definite, (n, n).
        stiffness: Symmetric, (n, n).
        without: Number of motions that meet no stiffness; None for the number of its zero rows.

    Returns:
        Angular frequencies, ascending, (n,) [rad/s], and the shapes as columns, (n, n), scaled so
        that X^T M X is the identity. A motion that the stiffness drives away has frequency 0.

    Raises:
        numpy.linalg.LinAlgError: The mass matrix is not positive definite.
    """
    if not len(mass):
        return np.zeros(0), np.zeros((0, 0))
    squares, vectors, lower = reduced_eigenproblem(stiffness, mass)
    # As many motions as there are coordinates without stiffness meet none; rounding conceals that.
    if without is None:
        without = int(np.count_nonzero(~np.any(stiffness, axis=0)))
    squares[np.argsort(np.abs(squares), kind='stable')[:without]] = 0.0
    return np.sqrt(np.maximum(squares, 0.0)), np.linalg.solve(lower.T, vectors)


def linearised(
    dyn: Any, q: np.ndarray, first: int = 0, gains: Iterable[np.ndarray] = ()
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """
    Solve for the linearised motion at rest in q, (nq,): M x'' + D x' + K x = 0.

    Args:
        dyn: The dynamics.
        q: Configuration, (nq,).
        first: Velocity coordinates before it are held.
        gains: Proportional and derivative gains of a controller, (nv,) each, or none.

    Returns:
        K and D, (n, n) with n = nv - first, and the eigenvalues lambda of the motion, (2 m,)
        [1/s]. Then the vectors (x, lambda x) as columns, (2 n, 2 m), where loops leave m <= n
        motions. Friction counts at its steepest, at rest.
    """
    nv, free = dyn.robot.nv - first, slice(first, None)
    stiffness = stiffness_matrix(dyn, q)[free, free]
    damping = damping_matrix(dyn, q)[free, free]
    for matrix, added in zip((stiffness, damping), gains):
        matrix += np.diag(added[free])
    if not (stiffness.any() or damping.any()):
        return stiffness, damping, np.zeros(2 * nv), np.eye(2 * nv)
    left = np.eye(nv)
    if dyn.robot.loops:
        left = spaces(
            dyn.loop_jacobian(q)[:, free], None, tolerance_of(dyn.loop_gaps(q))).free
    mass = left.T @ dyn.mass_matrix(q)[free, free] @ left
    values, vectors = np.linalg.eig(
        state_matrix(mass, left.T @ stiffness @ left, left.T @ damping @ left))
    return stiffness, damping, values, np.kron(np.eye(2), left) @ vectors


def state_matrix(
    mass: np.ndarray, stiffness: np.ndarray, damping: np.ndarray
) -> np.ndarray:
    """Return A of d(x, x')/dt = A (x, x'), (2 n, 2 n), of a linear motion; matrices are (n, n)."""
    n = len(mass)
    system = np.eye(2 * n, k=n)
    system[n:] = -np.linalg.solve(mass, np.hstack((stiffness, damping)))
    return system


def fastest_rate(mass: np.ndarray, stiffness: np.ndarray, damping: np.ndarray) -> float:
    """Return the largest eigenvalue, in size, of a linear motion [1/s]; matrices are (n, n)."""
    values = np.linalg.eigvals(state_matrix(mass, stiffness, damping))
    return float(np.abs(values).max(initial=0.0))

# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of forward and inverse dynamics with loops.

Along the closed states M qdd + bias = tau + A^T f and A qdd + gamma = 0 keep holding. Then d qdd
and d f solve the same equations,

    M d qdd = d tau - d ID + (dA)^T f + A^T d f,    A d qdd = -(dA) qdd - d gamma,

with d ID the derivatives of the open tree's inverse dynamics at these qdd (as for trees in J.
Carpentier and N. Mansard, Analytical derivatives of rigid body dynamics algorithms, 2018). Inverse
dynamics takes least-squares solutions at constant rank, whose derivatives are those of G. Golub
and V. Pereyra (The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate, 1973, eq. 4.12).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from flexdyn_ros.closed_chains.solve import constrained_motion, Spaces, spaces
from flexdyn_ros.dynamics.loop_tolerances import RANK_TOLERANCE
import numpy as np


class LoopState(NamedTuple):
    """
    A motion under loops.

    Attributes:
        mass: Mass matrix, (nv, nv).
        rest: Forces of the motion as if the loops were open, (nv,).
        a: Constraint Jacobian, (n, nv).
        known: Its spaces.
        qdd: Accelerations, (nv,).
        forces: Constraint forces, (n,).
    """

    mass: np.ndarray
    rest: np.ndarray
    a: np.ndarray
    known: Spaces
    qdd: np.ndarray
    forces: np.ndarray


def forward_derivatives(
    state: LoopState, backend: Any, q: Sequence[float], qd: Sequence[float], wrenches: Sequence
) -> tuple[np.ndarray, ...]:
    """Return the derivatives of the accelerations by q, qd and tau, (nv, nv) each."""
    n, nv = state.a.shape
    by_q, by_qd = _tree_derivatives(backend, q, qd, state.qdd, wrenches)
    a_slopes, bias_slopes = _loop_derivatives(backend, q, qd, n)
    rate = np.asarray(qd)
    c_slopes = np.einsum('ijk,j->ik', a_slopes, state.qdd) + bias_slopes
    c_rates = np.einsum('ijk,k->ij', a_slopes, rate) + np.einsum('ijk,j->ik', a_slopes, rate)
    carried = np.einsum('ijk,i->jk', a_slopes, state.forces)
    found = constrained_motion(
        state.mass, np.hstack((carried - by_q, -by_qd, np.eye(nv))), state.known,
        -np.hstack((c_slopes, c_rates, np.zeros((n, nv)))),
    )[0]
    return tuple(np.hsplit(found, 3))


def forward_parameter_derivatives(
    state: LoopState, backend: Any, q: Sequence[float], qd: Sequence[float], parameters: Any,
    wrenches: Sequence,
) -> np.ndarray:
    """Return the derivatives of the accelerations by parameters, (nv, m)."""
    slopes = _parameter_slopes(state, backend, q, qd, parameters, wrenches)
    still = np.zeros((len(state.a), slopes.shape[1]))
    return constrained_motion(state.mass, -slopes, state.known, still)[0]


def inverse_derivatives(
    state: LoopState, backend: Any, q: Sequence[float], qd: Sequence[float], wrenches: Sequence,
    groups: Sequence[list[int]],
) -> tuple[np.ndarray, ...]:
    """Return the derivatives of the torques by q, qd and qdd, (nv, nv) each."""
    n, nv = state.a.shape
    by_q, by_qd = _tree_derivatives(backend, q, qd, state.qdd, wrenches)
    a_slopes, _ = _loop_derivatives(backend, q, qd, n)
    moved = np.concatenate((a_slopes, np.zeros((n, nv, 2 * nv))), axis=2)
    found = _torque_slopes(state, np.hstack((by_q, by_qd, state.mass)), moved, groups)
    return tuple(np.hsplit(found, 3))


def inverse_parameter_derivatives(
    state: LoopState, backend: Any, q: Sequence[float], qd: Sequence[float], parameters: Any,
    wrenches: Sequence, groups: Sequence[list[int]],
) -> np.ndarray:
    """Return the derivatives of the torques by parameters, (nv, m)."""
    slopes = _parameter_slopes(state, backend, q, qd, parameters, wrenches)
    return _torque_slopes(state, slopes, np.zeros((*state.a.shape, slopes.shape[1])), groups)


def _tree_derivatives(
    backend: Any, q: Sequence[float], qd: Sequence[float], qdd: np.ndarray, wrenches: Sequence
) -> tuple[np.ndarray, np.ndarray]:
    """Return those of the open tree's inverse dynamics by q and qd, (nv, nv) each."""
    by_q, by_qd, _ = backend.inverse_dynamics_derivatives(q, qd, qdd.tolist(), wrenches)
    return np.asarray(by_q), np.asarray(by_qd)


def _loop_derivatives(
    backend: Any, q: Sequence[float], qd: Sequence[float], n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives by q of A, (n, nv, nv), and of gamma, (n, nv)."""
    jacobian, bias = backend.loop_derivatives(q, qd)
    return np.reshape(jacobian, (n, len(qd), len(qd))), np.reshape(bias, (n, len(qd)))


def _parameter_slopes(
    state: LoopState, backend: Any, q: Sequence[float], qd: Sequence[float], parameters: Any,
    wrenches: Sequence,
) -> np.ndarray:
    """Return the derivatives of the open tree's inverse dynamics by parameters, (nv, m)."""
    found = backend.inverse_dynamics_parameter_derivatives(
        q, qd, state.qdd.tolist(), parameters, wrenches
    )
    return np.reshape(found, (len(qd), len(parameters.values)))


def _torque_slopes(
    state: LoopState, rest_slopes: np.ndarray, a_slopes: np.ndarray, groups: Sequence[list[int]]
) -> np.ndarray:
    """
    Return the derivatives of the forces that `solve.attainable_forces` leaves, (nv, m).

    Args:
        state: The motion.
        rest_slopes: Derivatives of its forces as if the loops were open, (nv, m).
        a_slopes: Derivatives of the constraint Jacobian, (n, nv, m).
        groups: Coordinates, as `attainable_forces` takes them.
    """
    a, rest = state.a, state.rest
    n, m = len(a), rest_slopes.shape[1]
    f, f_slopes = np.zeros(n), np.zeros((n, m))
    freedom, freedom_slopes = np.eye(n), np.zeros((n, n, m))
    for group in groups:
        seen, seen_slopes = a[:, group].T, a_slopes[:, group].transpose(1, 0, 2)
        block = seen @ freedom
        block_slopes = np.einsum('gnm,nk->gkm', seen_slopes, freedom)
        block_slopes += np.einsum('gn,nkm->gkm', seen, freedom_slopes)
        known = spaces(block, floor=RANK_TOLERANCE * np.abs(a).max())
        wanted = rest[group] - seen @ f
        y = known.particular(wanted)
        slopes = rest_slopes[group] - np.einsum('gnm,n->gm', seen_slopes, f) - seen @ f_slopes
        slopes -= np.einsum('gkm,k->gm', block_slopes, y)
        left = np.einsum('gkm,g->km', block_slopes, wanted - block @ y)
        across = np.einsum('gkm,g->km', block_slopes, known.reaction(y))
        y_slopes = known.particular(slopes + known.reaction(left))
        y_slopes += known.free @ (known.free.T @ across)
        f_slopes = f_slopes + np.einsum('nkm,k->nm', freedom_slopes, y) + freedom @ y_slopes
        f = f + freedom @ y
        turning = np.einsum('gkm,kl->glm', block_slopes, known.free)
        turning = np.einsum('kg,glm->klm', known.particular(np.eye(len(group))), turning)
        freedom_slopes = np.einsum('nkm,kl->nlm', freedom_slopes, known.free)
        freedom_slopes -= np.einsum('nk,klm->nlm', freedom, turning)
        freedom = freedom @ known.free
    found = rest_slopes - np.einsum('njm,n->jm', a_slopes, f) - a.T @ f_slopes
    found[groups[0]] = 0.0
    return found

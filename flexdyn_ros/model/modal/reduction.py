# SPDX-License-Identifier: Apache-2.0
"""
Modes of a link from the mass and stiffness matrices of finite elements: Craig-Bampton, Guyan.

The nodes at the parent joint are clamped. Static shapes of the interface nodes and the lowest
modes with these held (Craig and Bampton 1968, "Coupling of substructures for dynamic analyses";
without modes: Guyan 1965) span the displacements. The natural modes within that span are returned,
from the lowest frequency up, at unit modal mass.

With R the six rigid motions at all nodes, R^T M R holds mass, first moment and inertia. R^T M Phi
holds the couplings of rigid motion and modes. Both are exact for the matrices. int r phi^T dm is
the work of the inertia forces M Phi on r, of translations alone. int phi_k phi_l^T dm takes the
entries of M between equal directions. These two are exact for solid elements and lumped masses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Sequence

from flexdyn_ros.model.modal.line_stiffening import line_of, line_stiffening
from flexdyn_ros.model.modal.preloads import Preload, preload_stiffening
from flexdyn_ros.model.modal.sid_blocks import LARGEST_NUMBER
from flexdyn_ros.model.records.base import axial_vectors, cross_matrices
import numpy as np

# Directions of a row: x y z, then rotations; of a superelement's own coordinates.
GENERALISED = 6
# Bytes of the dense shapes of one reduction.
LARGEST = 2**29
# Neighbours that a rotation is fitted to.
_NEIGHBOURS = 9


@dataclass(frozen=True, eq=False)
class FiniteElements:
    """
    Mass and stiffness matrices with their nodes, in SI units and axes of the link.

    Attributes:
        node_ids: Numbers of the nodes, shape (n,).
        positions: In the link frame, shape (n, 3) [m].
        nodes: Index of the node of each of N rows, shape (N,); 0 for generalised coordinates.
        directions: 0 to 2 translation along x y z, 3 to 5 rotation, 6 a generalised coordinate of
            a superelement, which no node shows, shape (N,).
        mass: Symmetric, scipy.sparse or dense, shape (N, N).
        stiffness: Symmetric, shape (N, N).
        ties: All displacements by those that are free, sparse, shape (N, N), for nodes that
            follow others; None where all are free.
        shown: Whether the file of modes holds each node, shape (n,); None for all.
        preloads: Stiffness matrices under loads, for geometric stiffening.
    """

    node_ids: np.ndarray
    positions: np.ndarray
    nodes: np.ndarray
    directions: np.ndarray
    mass: Any
    stiffness: Any
    ties: Any = None
    shown: Optional[np.ndarray] = None
    preloads: Sequence[Preload] = ()


def reduced_modes(
    model: FiniteElements,
    root: Sequence[int],
    interface: Sequence[int] = (),
    normal_modes: int = 6,
    keep: int = 0,
    stiffening: bool = False,
) -> dict[str, Any]:
    """
    Return modes as the arrays of docs/modal_files.md.

    Args:
        model: The matrices.
        root: Numbers of the nodes at the parent joint; they are clamped.
        interface: Numbers of the nodes that carry child joints and loads.
        normal_modes: Number of modes with the interface held; 0 is Guyan's reduction.
        keep: Number of all modes that are kept, from the lowest up; 0 for all.
        stiffening: Whether to add geometric stiffening by foreshortening, along a line of nodes.
            With preloads it is added by these.

    Raises:
        ValueError: The matrices are not those of an elastic body that is held at its root; the
            text continues `file="path"`.
    """
    if not np.all(np.abs(model.positions) <= LARGEST_NUMBER):
        raise ValueError('holds positions of nodes that are not finite')
    mass, stiffness = (_checked(model, name) for name in ('mass', 'stiffness'))
    held = np.isin(model.nodes, _indices(model, root)) & (model.directions < GENERALISED)
    edge = np.isin(model.nodes, _indices(model, interface)) & (model.directions < GENERALISED)
    edge &= ~held
    inner = ~held & ~edge
    free_mass, free_stiffness = mass, stiffness
    if model.ties is not None:
        inner &= model.ties.diagonal() != 0.0
        free_mass, free_stiffness = (model.ties.T @ m @ model.ties for m in (mass, stiffness))
    count = min(normal_modes, int(inner.sum()))
    if 8 * (int(edge.sum()) + count) * len(mass.indptr) > LARGEST:
        raise ValueError(f'with {int(edge.sum()) + count} shapes take over {LARGEST} bytes')
    try:
        span = _span(free_mass, free_stiffness, edge, inner, count)
        squares, within = _natural(
            span.T @ (free_stiffness @ span), span.T @ (free_mass @ span))
    except (np.linalg.LinAlgError, RuntimeError, ValueError):
        raise ValueError(
            'leaves rigid motions, or motions without stiffness, when its root is clamped; name '
            'more root nodes'
        ) from None
    shapes = span @ within[:, : keep or None]
    if model.ties is not None:
        shapes = model.ties @ shapes
    given = _integrals(model, mass, shapes)
    translation, rotation = (_at_nodes(model, shapes, first) for first in (0, 3))
    turning = np.unique(model.nodes[(model.directions >= 3) & (model.directions < GENERALISED)])
    turns = len(turning) == len(model.node_ids)
    if not turns:
        fixed = np.union1d(turning, _indices(model, root))
        given_rotation = rotation[:, fixed]
        rotation = derived_rotations(model.positions, translation)
        rotation[:, fixed] = given_rotation
    squares = squares[: keep or None]
    kept = np.ones(len(model.node_ids), bool) if model.shown is None else model.shown
    if stiffening or model.preloads:
        arrays, held_for = _stiffening(
            model, mass, stiffness, shapes, (translation, rotation, turns), root, interface)
        given.update(arrays)
        kept = kept & held_for
        given['stiffening_nodes'] = given['stiffening_nodes'][kept]
    return {
        'node_ids': model.node_ids[kept], 'node_positions': model.positions[kept],
        'translation': translation[:, kept], 'rotation': rotation[:, kept],
        'modal_mass': np.eye(len(squares)), 'stiffness': np.diag(squares), **given,
    }


def _stiffening(
    model: FiniteElements, mass: Any, stiffness: Any, shapes: np.ndarray,
    moves: tuple[np.ndarray, np.ndarray, bool], root: Sequence[int], interface: Sequence[int],
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the arrays `stiffening_...`, and the nodes that they hold for, (n,)."""
    arrays: dict[str, np.ndarray] = {}
    known = np.zeros(len(model.node_ids), bool)
    if model.preloads:
        if np.any(model.directions == GENERALISED):
            raise ValueError('is a superelement, whose shapes are not those under a preload; give '
                             'the matrices before their reduction')
        arrays, known = preload_stiffening(
            model.preloads, stiffness, shapes, line_of(model.positions)[0],
            model.node_ids.tolist(), [node for node in interface if node not in root])
    masses = sum(_node_matrix(model, mass, a).sum(axis=1) for a in range(3)) / 3.0
    try:
        line = line_stiffening(
            model.positions, *moves[:2], np.asarray(masses).ravel(), moves[2])
    except ValueError:
        if not model.preloads:
            raise
        return arrays, known | np.isin(model.node_ids, root)
    if model.preloads:  # other nodes, by foreshortening
        arrays['stiffening_nodes'][~known] = line['stiffening_nodes'][~known]
    return arrays or line, np.ones_like(known)


def _indices(model: FiniteElements, numbers: Sequence[int]) -> list[int]:
    known = model.node_ids.tolist()
    for number in numbers:
        if number not in known:
            raise ValueError(f'has no node {number}')
    return [known.index(number) for number in numbers]


def _checked(model: FiniteElements, name: str) -> Any:
    from scipy import sparse

    matrix = sparse.csr_matrix(getattr(model, name), dtype=float)
    size = len(model.nodes)
    if matrix.shape != (size, size):
        raise ValueError(f'holds {name} of shape {matrix.shape}, not {(size, size)}')
    largest = abs(matrix).max() if matrix.nnz else 0.0
    if not 0.0 < largest <= LARGEST_NUMBER:
        raise ValueError(f'holds {name} that is zero or not finite')
    if abs(matrix - matrix.T).max() > 1e-6 * largest:
        raise ValueError(f'holds {name} that is not symmetric')
    return 0.5 * (matrix + matrix.T)


def _span(mass: Any, stiffness: Any, edge: np.ndarray, inner: np.ndarray, count: int) -> Any:
    """Return static shapes of the interface, then modes with it held, (N, shapes)."""
    from scipy.sparse.linalg import splu

    n_edge = int(edge.sum())
    shapes = np.zeros((len(edge), n_edge + count))
    shapes[edge, :n_edge] = np.eye(n_edge)
    if not inner.any():
        return shapes
    own = stiffness[inner][:, inner].tocsc()
    factor = splu(own, 'MMD_AT_PLUS_A', diag_pivot_thresh=0.0, options={'SymmetricMode': True})
    if n_edge:
        shapes[np.ix_(inner, np.arange(n_edge))] = -factor.solve(
            stiffness[inner][:, edge].toarray()
        )
    if count:
        shapes[np.ix_(inner, np.arange(n_edge, n_edge + count))] = _held_modes(
            own, mass[inner][:, inner], factor, count
        )
    return shapes


def _held_modes(stiffness: Any, mass: Any, factor: Any, count: int) -> np.ndarray:
    """Return the lowest modes of K x = w^2 M x."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import eigsh, LinearOperator

    size = stiffness.shape[0]
    if size < 400 or count > size // 3:
        # Of K^-1, as M may be singular: M x = (1 / w^2) K x.
        return np.asarray(eigh(mass.toarray(), stiffness.toarray())[1][:, ::-1][:, :count])
    inverse = LinearOperator((size, size), matvec=factor.solve, dtype=float)
    found = eigsh(stiffness, count, mass, sigma=0.0, OPinv=inverse,
                  v0=np.random.default_rng(1).normal(size=size))
    return np.asarray(found[1])


def _natural(stiffness: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return squares of rates and shapes at unit modal mass; shapes without mass are dropped."""
    from scipy.linalg import eigh

    if not np.diag(stiffness).min() > 0.0:
        raise ValueError('holds shapes without stiffness')
    scale = 1.0 / np.sqrt(np.diag(stiffness))  # unit stiffness, so that M alone has a spectrum
    inverse, vectors = eigh(mass * np.outer(scale, scale), stiffness * np.outer(scale, scale))
    inverse, vectors = inverse[::-1], scale[:, None] * vectors[:, ::-1]
    moving = inverse > 1e-12 * inverse[0]
    if not inverse[0] > 0.0:
        raise ValueError('holds mass that no shape moves')
    return 1.0 / inverse[moving], vectors[:, moving] / np.sqrt(inverse[moving])


def _at_nodes(model: FiniteElements, shapes: np.ndarray, first: int) -> np.ndarray:
    """Return translations (first = 0) or rotations (3) of shapes at the nodes, (m, n, 3)."""
    found = np.zeros((shapes.shape[1], len(model.node_ids), 3))
    rows = (model.directions >= first) & (model.directions < first + 3)
    found[:, model.nodes[rows], model.directions[rows] - first] = shapes[rows].T
    return found


def _integrals(model: FiniteElements, mass: Any, shapes: np.ndarray) -> dict[str, Any]:
    """Return the inertia integrals of the whole body and its modes."""
    place = model.positions[model.nodes]
    rigid = np.zeros((len(model.nodes), 6))
    for a in range(3):
        rigid[model.directions == a, a] = 1.0
        rigid[model.directions == 3 + a, 3 + a] = 1.0
        b, c = (a + 1) % 3, (a + 2) % 3  # a turn about a moves b by -r_c, c by r_b
        rigid[:, 3 + a] += np.where(model.directions == b, -place[:, c], 0.0)
        rigid[:, 3 + a] += np.where(model.directions == c, place[:, b], 0.0)
    whole, carried = rigid.T @ (mass @ rigid), mass @ shapes
    total = np.trace(whole[:3, :3]) / 3.0
    if np.abs(whole[:3, :3] - total * np.eye(3)).max() > 1e-3 * abs(total):
        raise ValueError('holds a mass matrix that resists translation by direction: '
                         f'{np.diag(whole)[:3].tolist()} kg')
    m = shapes.shape[1]
    second, product = np.zeros((m, 3, 3)), np.zeros((m, m, 3, 3))
    by_direction = [np.flatnonzero(model.directions == a) for a in range(3)]
    for b, rows in enumerate(by_direction):
        second[:, :, b] = (place[rows].T @ carried[rows]).T
    moves = _at_nodes(model, shapes, 0)
    between = [_node_matrix(model, mass, a) for a in range(3)]
    for a in range(3):
        for b in range(3):
            both = 0.5 * (between[a] + between[b])
            product[:, :, a, b] = moves[:, :, a] @ (both @ moves[:, :, b].T)
    coupling = rigid.T @ carried
    inertia = whole[3:, 3:]
    return {
        'mass': np.array(total),
        'first_moment': np.array([whole[5, 1], whole[3, 2], whole[4, 0]]),
        'second_moment': 0.5 * np.trace(inertia) * np.eye(3) - inertia,
        'modal_first_moment': coupling[:3].T, 'modal_second_moment': second,
        'modal_product': 0.5 * (product + product.transpose(1, 0, 3, 2)),
        'rotary_coupling': coupling[3:].T - axial_vectors(second),
        'notes': () if np.all(model.directions < GENERALISED) else (
            'terms of second order in the modes of the superelement are those of its nodes alone',
        ),
    }


def _node_matrix(model: FiniteElements, mass: Any, direction: int) -> Any:
    """Return the mass matrix between translations of the nodes along one direction, (n, n)."""
    from scipy import sparse

    rows = np.flatnonzero(model.directions == direction)
    size = (len(model.node_ids), len(rows))
    lift = sparse.csr_matrix((np.ones(len(rows)), (model.nodes[rows], np.arange(len(rows)))), size)
    return lift @ mass[rows][:, rows] @ lift.T


def derived_rotations(positions: np.ndarray, translation: np.ndarray) -> np.ndarray:
    """
    Return rotations that fit translations of neighbouring nodes best, shape (m, n, 3).

    Least squares of theta x (r_j - r_i) = u_j - u_i over the nearest nodes j, of smallest norm. On
    a straight line of nodes nothing turns about it.

    Args:
        positions: Of the nodes, shape (n, 3) [m].
        translation: For unit modes, shape (m, n, 3).
    """
    from scipy.spatial import cKDTree

    count = min(_NEIGHBOURS, len(positions))
    _, near = cKDTree(positions).query(positions, count)
    near = np.asarray(near).reshape(len(positions), count)
    matrix = cross_matrices(positions[near] - positions[:, None]).swapaxes(-1, -2)
    moves = (translation[:, near] - translation[:, :, None]).reshape(*translation.shape[:2], -1)
    inverse = np.linalg.pinv(matrix.reshape(len(positions), 3 * count, 3), rcond=1e-6)
    return np.einsum('nac,knc->kna', inverse, moves)

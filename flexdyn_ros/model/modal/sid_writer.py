# SPDX-License-Identifier: Apache-2.0
"""Modes of a link as Standard Input Data (SID): sid.py states the blocks and their sources."""

from __future__ import annotations

from typing import Iterator, Optional

from flexdyn_ros.model.modal.sid_blocks import trace_parts
from flexdyn_ros.model.records.base import axial_vectors, cross_matrices
from flexdyn_ros.model.records.modal import ModalArrays
import numpy as np


def sid_text(arrays: ModalArrays) -> str:
    """Return the text of an SID file with all blocks, of first order, and all digits."""
    m, n = len(arrays.modal_mass), len(arrays.node_ids)
    rates = np.linalg.eigvals(np.linalg.solve(arrays.modal_mass, arrays.stiffness)).real
    labels = np.sort(np.sqrt(np.abs(rates))) / (2.0 * np.pi)
    refmod = [f'mass = {_number(arrays.mass)}', f'nelastq = {m}', *(
        f'ielastq ({k}) = Eigen Mode {k} : {label:.6f} Hz' for k, label in enumerate(labels, 1)
    )]
    nodes = [line for k in range(n) for line in _node(arrays, k)]
    blocks = [line for name, value in _blocks(arrays).items() for line in _taylor(name, *value)]
    lines = [
        f'{n} {m} : {" ".join(arrays.comment.split())}', 'part', 'new modal =',
        'refmod', *refmod, 'end refmod', 'frame', *nodes, 'end frame', *blocks,
        'end modal', 'end part', '',
    ]
    return '\n'.join(lines)


def _node(arrays: ModalArrays, k: int) -> list[str]:
    phi, psi = arrays.translation[:, k].T, arrays.rotation[:, k].T
    turn = cross_matrices(psi.T).transpose(1, 0, 2)
    number = arrays.node_ids[k]
    stiffening, drawn = arrays.stiffening, None
    if stiffening is not None:
        drawn = np.einsum('a,kl->alk', stiffening.direction, stiffening.nodes[k])
    return [
        f'new node = {number}', 'rframe = body ref',
        *_taylor('origin', arrays.node_positions[k][:, None], phi[:, :, None]),
        *_taylor('phi', phi, drawn), *_taylor('psi', psi), *_taylor('AP', np.eye(3), turn),
        'end node',
    ]


def _blocks(arrays: ModalArrays) -> dict[str, tuple[np.ndarray, Optional[np.ndarray]]]:
    """Return coefficients of order 0 and 1, (rows, columns) and (rows, m, columns), by name."""
    m = len(arrays.modal_mass)
    second, product = arrays.modal_second_moment, arrays.modal_product
    gyroscopic = 2.0 * (trace_parts(second) - second.transpose(0, 2, 1))
    of_pairs = 2.0 * (trace_parts(product) - product)
    # int phi_l x phi_k dm, (k, l, 3).
    across = axial_vectors(product.transpose(0, 1, 3, 2))
    stiff_t: Optional[np.ndarray] = None
    stiff_w = np.zeros(6)
    if arrays.stiffening is not None:
        d = arrays.stiffening.direction
        stiff_t = arrays.stiffening.first[:, :, None] * d
        stiff_w = _centrifugal(arrays.stiffening.second[:, :, None, None] * np.outer(d, d))
    inertia = np.trace(arrays.second_moment) * np.eye(3) - arrays.second_moment
    return {
        'mdCM': (arrays.first_moment[:, None], arrays.modal_first_moment.T[:, :, None]),
        'J': (inertia, (0.5 * (gyroscopic + gyroscopic.transpose(0, 2, 1))).transpose(1, 0, 2)),
        'Ct': (arrays.modal_first_moment, stiff_t),
        'Cr': (axial_vectors(second) + arrays.rotary_coupling, across),
        'Me': (arrays.modal_mass, None),
        'Gr': (gyroscopic.transpose(1, 0, 2).reshape(3, 3 * m),
               of_pairs.transpose(2, 1, 0, 3).reshape(3, m, 3 * m)),
        'Ge': ((2.0 * across).reshape(m, 3 * m), None),
        'Oe': (_centrifugal(second), _centrifugal(product) + stiff_w),
        'ksigma': (np.zeros((m, 1)), None),
        'Ke': (arrays.stiffness, None),
        'De': (arrays.damping, None),
    }


def _centrifugal(each: np.ndarray) -> np.ndarray:
    """Return the factors of wx^2 wy^2 wz^2 wxwy wywz wxwz in int a^T w~ w~ b dm, (..., 6)."""
    own = [each[..., a, a] - np.trace(each, axis1=-2, axis2=-1) for a in range(3)]
    mixed = [each[..., a, b] + each[..., b, a] for a, b in ((0, 1), (1, 2), (0, 2))]
    return np.stack([*own, *mixed], axis=-1)


def _taylor(name: str, constant: np.ndarray, linear: Optional[np.ndarray] = None) -> list[str]:
    rows, columns = constant.shape
    modes = 0 if linear is None else linear.shape[1]
    written = list(_entries('m0', constant))
    written += [] if linear is None else _entries('m1', linear)
    return [
        name, f'order = {0 if linear is None else 1}', f'nrow = {rows}', f'ncol = {columns}',
        f'nq = {modes}', 'nqn = 0', f'structure = {3 if written else 0}', *written, f'end {name}',
    ]


def _entries(kind: str, array: np.ndarray) -> Iterator[str]:
    for place in zip(*np.nonzero(array)):
        index = ', '.join(str(int(i) + 1) for i in place)
        yield f'{kind}( {index}) = {_number(array[place])}'


def _number(value: float) -> str:
    return f'{value:.16e}'.replace('e', 'D')

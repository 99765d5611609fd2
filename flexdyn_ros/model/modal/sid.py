# SPDX-License-Identifier: Apache-2.0
"""
Modes of a link in Standard Input Data (SID): nested text blocks of Taylor coefficients.

The sources are two tables (1 in Wallrapp, "Standardization of flexible body modeling in multibody
system codes, part I", Mechanics of Structures and Machines 22, 1994; 6.9 in Schwertassek and
Wallrapp, Dynamik flexibler Mehrkoerpersysteme, 1999). Let u = sum_k phi_k q_k, W_k = int r phi_k^T
dm, P_kl = int phi_k phi_l^T dm, and ~ be the matrix of the cross product. The blocks are

- mdCM = int r dm, J = int r~^T r~ dm, packed as xx yy zz xy xz yz or 3x3,
- Ct_k = int phi_k dm, Cr_k = int r x phi_k dm, of first order int phi_l x phi_k dm,
- Gr_k = -2 int r~ phi_k~ dm = 2 (tr W_k - W_k^T), of first order 2 (tr P_kl - P_kl),
- Ge_kl = 2 int phi_l x phi_k dm,
- Ct_kl and phi_kl of first order: geometric stiffening, see _stiffening,
- Oe_k = int phi_k^T w~ w~ r dm as factors of wx^2 wy^2 wz^2 wxwy wywz wxwz, of first order the
  same with P_kl for W_k. The products are in another order than in J.

A block lists the entries that differ from zero. Its structure is 0 zero, 1 diagonal,
2 symmetric, 3 full or 4 the identity matrix, without a list.
"""

from __future__ import annotations

from pathlib import Path
import re
from typing import Any, Optional

from flexdyn_ros.model.modal.sid_blocks import (
    Block,
    decimal,
    NUMBER,
    read_blocks,
    trace_parts,
    whole_number,
)
from flexdyn_ros.model.records.base import axial_vectors, symmetric_matrix
import numpy as np

# Modes of a file: products of all pairs are kept.
MOST_MODES = 500
_KNOWN = {'mdCM', 'J', 'Ct', 'Cr', 'Me', 'Gr', 'Ge', 'Oe', 'ksigma', 'Ke', 'De'}
_CENTRIFUGAL = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))


def read_sid(path: Path) -> dict[str, Any]:
    """
    Return the arrays of an SID file by their names in docs/modal_files.md.

    Raises:
        ValueError: The file is no SID file, or not a consistent one; the text continues
            `file="path"`.
    """
    n_nodes, n_modes, comment, root = read_blocks(path)
    modal = root.only('part').only('modal')
    modes = _Modes(modal, n_modes)
    given = {**modes.nodes(n_nodes), **modes.matrices(), 'comment': np.array(comment)}
    given['frequencies'] = modes.frequencies
    return {name: value for name, value in given.items() if value is not None}


class _Modes:
    """The blocks of the `modal` block, as arrays of m modes."""

    def __init__(self, modal: Block, n_modes: int):
        self._modal, self._m = modal, n_modes
        self._refmod = modal.only('refmod')
        self._kept_in_oe = False
        self._drawn: list[np.ndarray] = []  # of each node the order 1 of phi, (m, m, 3)
        declared = whole_number(self._refmod, 'nelastq')
        if declared != n_modes or not 0 < n_modes <= MOST_MODES:
            raise ValueError(
                f'declares {n_modes} modes in the first line and nelastq = {declared}; both must '
                f'be equal, from 1 to {MOST_MODES}'
            )
        for block in modal.blocks:
            if block.name not in _KNOWN | {'refmod', 'frame'}:
                raise ValueError(f'holds an unknown block "{block.name}"')

    @property
    def frequencies(self) -> Optional[np.ndarray]:
        """Frequencies that the modes are labelled with, (m,) [Hz], or None."""
        labels = (self._refmod.values.get(f'ielastq({k})', '') for k in range(1, self._m + 1))
        found = [re.search(rf':\s*{NUMBER}\s*Hz', label) for label in labels]
        if not all(found):
            return None
        return np.array([float(f'{f[1]}e{f[2] or f[3] or 0}') for f in found if f])

    def nodes(self, declared: int) -> dict[str, np.ndarray]:
        """Return numbers, positions and shapes of the nodes."""
        blocks = self._modal.only('frame').blocks
        if len(blocks) != declared or any(block.name != 'node' for block in blocks):
            raise ValueError(
                f'declares {declared} nodes in the first line and holds {len(blocks)} in "frame"'
            )
        if not blocks:
            raise ValueError('holds no nodes')
        ids, places, shapes = [], [], []
        for block in blocks:
            if not re.fullmatch(r'-?\d{1,15}', block.label):
                raise ValueError(f'holds a node without a number, "new node = {block.label[:40]}"')
            what = f' of node {block.label}'
            ids.append(int(block.label))
            places.append(self._taylor(block.only('origin'), 3, 1, what)[0][:, 0])
            shape = [self._taylor(block.only(name), 3, self._m, what) for name in ('phi', 'psi')]
            linear = shape[0][1]
            self._drawn.append(np.zeros((self._m, self._m, 3)) if linear is None else
                               linear.transpose(2, 1, 0))
            shapes.append([part[0].T for part in shape])
        translation, rotation = np.array(shapes).transpose(1, 2, 0, 3)
        return {
            'node_ids': np.array(ids), 'node_positions': np.array(places),
            'translation': translation, 'rotation': rotation,
        }

    def matrices(self) -> dict[str, Any]:
        """Return mass, stiffness, damping and inertia integrals."""
        m, first = self._m, self._block
        centrifugal = first('Oe', m, 6)
        rotary, gyroscopic = first('Cr', m, 3), first('Gr', 3, 3 * m)
        for name in ('Ke', 'Me'):
            if _nonzero(first(name, m, m)[1]):
                raise ValueError(f'holds {name} that depends on deflections: not supported')
        if 'ksigma' in (block.name for block in self._modal.blocks):
            if first('ksigma', m, 1)[0].any():
                raise ValueError('holds ksigma, a stress at rest: not supported')
        given: dict[str, Any] = {
            'mass': np.array(decimal(self._refmod, 'mass')),
            'first_moment': first('mdCM', 3, 1)[0][:, 0],
            'second_moment': self._second_moment(),
            'modal_first_moment': first('Ct', m, 3)[0],
            'modal_mass': first('Me', m, m)[0], 'stiffness': first('Ke', m, m)[0],
        }
        if 'De' in (block.name for block in self._modal.blocks):
            given['damping'] = first('De', m, m)[0]
        # Gr_k = 2 (tr W_k - W_k^T), so that tr Gr_k = 4 tr W_k.
        each = gyroscopic[0].reshape(3, m, 3).transpose(1, 0, 2)
        second = 0.25 * trace_parts(each) - 0.5 * each.transpose(0, 2, 1)
        given['modal_second_moment'] = second
        given['rotary_coupling'] = rotary[0] - axial_vectors(second)
        given['notes'] = self._notes(given, centrifugal[0])
        whole = self._product(None, centrifugal[1], rotary[1])
        plain = self._product(gyroscopic[1], None, None) if _nonzero(gyroscopic[1]) else None
        given.update(self._stiffening(first('Ct', m, 3)[1], whole, plain))
        given.setdefault('modal_product', whole if plain is None else plain)
        if self._kept_in_oe:
            given['notes'] += ('stiffening by loads and acceleration is not along one line and is '
                               'dropped; stiffening by rotation, in Oe, is kept',)
        return given

    def _stiffening(
        self, moments: Optional[np.ndarray], whole: np.ndarray, plain: Optional[np.ndarray]
    ) -> dict[str, np.ndarray]:
        """
        Return geometric stiffening along a line, and the products of displacements without it.

        With u = phi q + 1/2 q f q d, Ct of order 1 is int f_kl dm d and phi of order 1 is f_kl d.
        Oe holds int x f_kl dm d d^T beside the products. It is their difference to those of Gr,
        or all of their entry along d, as bending does not move the line along itself.

        Args:
            moments: Ct of order 1, (m, m, 3), or None.
            whole: Products out of Oe, (m, m, 3, 3).
            plain: Products out of Gr, or None.
        """
        drawn, m = np.array(self._drawn), self._m
        moments = np.zeros((m, m, 3)) if moments is None else moments
        if not moments.any() and not drawn.any():
            return {}
        stacked = np.concatenate([moments[None] / np.abs(moments).max(initial=1e-300), drawn])
        sizes, axes = np.linalg.svd(stacked.reshape(-1, 3), full_matrices=False)[1:]
        direction, self._kept_in_oe = axes[0], bool(sizes[1] > 1e-3 * sizes[0])
        if self._kept_in_oe:
            return {}
        first, nodes = moments @ direction, drawn @ direction
        along = np.einsum('a,klab,b->kl', direction, whole, direction)
        if plain is not None:
            along -= np.einsum('a,klab,b->kl', direction, plain, direction)
        second = np.where(first != 0.0, along, 0.0)
        rest = whole - second[..., None, None] * np.outer(direction, direction)
        return {
            'modal_product': rest if plain is None else plain,
            'stiffening_direction': direction, 'stiffening_first': first,
            'stiffening_second': second, 'stiffening_nodes': nodes,
        }

    def _second_moment(self) -> np.ndarray:
        """Return tr(J)/2 - J, (3, 3)."""
        block = self._modal.only('J')
        if whole_number(block, 'nrow') == 6:
            inertia = np.array(symmetric_matrix(self._taylor(block, 6, 1)[0][:, 0]))
        else:
            inertia = self._taylor(block, 3, 3)[0]
        return 0.5 * np.trace(inertia) * np.eye(3) - 0.5 * (inertia + inertia.T)

    def _product(
        self,
        gyroscopic: Optional[np.ndarray],
        centrifugal: Optional[np.ndarray],
        rotary: Optional[np.ndarray],
    ) -> np.ndarray:
        """Return P_kl = int phi_k phi_l^T dm, (m, m, 3, 3), from the coefficients of order 1."""
        m = self._m
        if gyroscopic is not None:
            each = gyroscopic.reshape(3, m, m, 3).transpose(2, 1, 0, 3)
            product = 0.25 * trace_parts(each) - 0.5 * each
        else:
            product = np.zeros((m, m, 3, 3))
            if centrifugal is not None:
                square = centrifugal[..., :3]
                for a in range(3):
                    product[..., a, a] = square[..., a] - 0.5 * square.sum(axis=-1)
                for column, (a, b) in enumerate(_CENTRIFUGAL[3:], start=3):
                    product[..., a, b] = product[..., b, a] = 0.5 * centrifugal[..., column]
            across = rotary
            if across is None and 'Ge' in (block.name for block in self._modal.blocks):
                across = 0.5 * self._block('Ge', m, 3 * m)[0].reshape(m, m, 3)
            for a, (b, c) in enumerate(((1, 2), (2, 0), (0, 1))) if across is not None else ():
                product[..., c, b] += 0.5 * across[..., a]
                product[..., b, c] -= 0.5 * across[..., a]
        return 0.5 * (product + product.transpose(1, 0, 3, 2))

    def _notes(self, given: dict[str, Any], centrifugal: np.ndarray) -> tuple[str, ...]:
        second, notes = given['modal_second_moment'], []
        expected = np.stack([
            *(second[:, a, a] - np.trace(second, axis1=1, axis2=2) for a in range(3)),
            *(second[:, a, b] + second[:, b, a] for a, b in _CENTRIFUGAL[3:])], axis=1)
        if np.abs(centrifugal - expected).max() > 1e-3 * np.abs(expected).max():
            notes.append('its blocks Oe and Gr contradict each other; Gr is used')
        return tuple(notes)

    def _block(self, name: str, rows: int, columns: int) -> tuple[np.ndarray, Any]:
        return self._taylor(self._modal.only(name), rows, columns)

    def _taylor(
        self, block: Block, rows: int, columns: int, what: str = ''
    ) -> tuple[np.ndarray, Optional[np.ndarray]]:
        """Return coefficients (rows, columns) and (rows, m, columns), None where of order 0."""
        name = block.name + what
        order, structure = whole_number(block, 'order'), whole_number(block, 'structure')
        shape = (whole_number(block, 'nrow'), whole_number(block, 'ncol'))
        if shape != (rows, columns):
            raise ValueError(f'holds {name} with {shape[0]}x{shape[1]}, not {rows}x{columns}')
        if order not in (0, 1) or structure not in range(5) or whole_number(block, 'nqn', 0):
            raise ValueError(f'holds {name} of order {order} or structure {structure}, or nqn')
        if whole_number(block, 'nq', self._m) not in (self._m, 0 if order == 0 else self._m):
            raise ValueError(f'holds {name} with nq other than the {self._m} modes')
        if structure in (1, 2, 4) and rows != columns:
            raise ValueError(f'holds {name} of structure {structure}, and it is not square')
        constant = np.eye(rows) if structure == 4 else np.zeros((rows, columns))
        linear = np.zeros((rows, self._m, columns)) if order == 1 else None
        for (power, *index), value in block.entries.items():
            array: Any = linear if power else constant
            place = tuple(i - 1 for i in index)
            fits = array is not None and len(place) == array.ndim
            if not fits or not all(0 <= i < n for i, n in zip(place, array.shape)):
                raise ValueError(f'holds m{power}{tuple(index)} in {name}, outside of its shape')
            mirrored = (place[-1], *place[1:-1], place[0])
            if structure == 0 or structure == 1 and place != mirrored:
                raise ValueError(f'holds m{power}{tuple(index)} in {name}, which its structure '
                                 f'{structure} excludes')
            array[place] = value
            if structure == 2 and (power, *(i + 1 for i in mirrored)) not in block.entries:
                array[mirrored] = value
        return constant, linear


def _nonzero(array: Optional[np.ndarray]) -> bool:
    return array is not None and bool(array.any())

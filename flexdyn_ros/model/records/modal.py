# SPDX-License-Identifier: Apache-2.0
"""Modes of a link from a file: the file's arrays, the kept modes and the attachments."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Optional, Sequence

from flexdyn_ros.model.records.base import Record, symmetric_matrix3, Vector3
from flexdyn_ros.model.records.inertia import Inertia
import numpy as np


@dataclass(frozen=True, eq=False, kw_only=True)
class ModalIntegrals:
    """
    Inertia integrals and generalised matrices of m modes, in link axes about the link's origin.

    Attributes:
        mass: [kg].
        first_moment: int r dm, shape (3,) [kg m].
        second_moment: int r r^T dm with the cross-sections' rotary inertia J written as
            tr(J)/2 - J, shape (3, 3) [kg m^2].
        modal_first_moment: int phi_k dm, shape (m, 3).
        modal_second_moment: int r phi_k^T dm, shape (m, 3, 3).
        modal_product: int phi_k phi_l^T dm, shape (m, m, 3, 3).
        rotary_coupling: int J psi_k, angular momentum of the cross-sections, shape (m, 3).
        modal_mass: Generalised mass, shape (m, m).
        stiffness: Generalised stiffness, shape (m, m).
        damping: Generalised damping, shape (m, m).
    """

    mass: float
    first_moment: np.ndarray
    second_moment: np.ndarray
    modal_first_moment: np.ndarray
    modal_second_moment: np.ndarray
    modal_product: np.ndarray
    rotary_coupling: np.ndarray
    modal_mass: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray

    def integrals(self) -> dict[str, Any]:
        """Return the attributes above by name."""
        return {item.name: getattr(self, item.name) for item in fields(ModalIntegrals)}


@dataclass(frozen=True, eq=False)
class Stiffening:
    """
    Shortening of a slender body by m modes along a direction, to second order.

    A point moves along it by 1/2 sum_kl f_kl delta_k delta_l.

    Attributes:
        direction: Unit vector in link axes, shape (3,); the body lies along it from the origin.
        first: int f_kl dm, shape (m, m).
        second: int x f_kl dm with the distance x along the direction, shape (m, m).
        nodes: f_kl at the nodes, shape (n, m, m) [m].
    """

    direction: np.ndarray
    first: np.ndarray
    second: np.ndarray
    nodes: np.ndarray

    def with_modes(self, at: Sequence[int]) -> Stiffening:
        """Return that of the modes at some places."""
        pairs = np.ix_(at, at)
        nodes = self.nodes[:, at][:, :, at]
        return Stiffening(self.direction, self.first[pairs], self.second[pairs], nodes)


@dataclass(frozen=True, eq=False)
class ModalArrays(ModalIntegrals):
    """
    The contents of a modal file of n nodes and m modes.

    Attributes:
        node_ids: Numbers of the nodes, shape (n,).
        node_positions: Undeformed, in the link frame, shape (n, 3) [m].
        mode_numbers: Numbers of the modes, shape (m,).
        translation: Displacement of the nodes for unit modes, shape (m, n, 3).
        rotation: Rotation vectors of the nodes for unit modes, shape (m, n, 3).
        stiffening: Geometric stiffening, or None.
        comment: The file's own comment.
        notes: Data that its reader drops or finds doubtful, in a few words each.
    """

    node_ids: np.ndarray
    node_positions: np.ndarray
    mode_numbers: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    stiffening: Optional[Stiffening] = None
    comment: str = ''
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the sizes alone."""
        return f'<{len(self.mode_numbers)} modes at {len(self.node_ids)} nodes>'

    def with_modes(self, numbers: Sequence[int]) -> ModalArrays:
        """Return the arrays of some of the modes, in the order of their numbers given."""
        known = self.mode_numbers.tolist()
        if list(numbers) == known:
            return self
        at = [known.index(number) for number in numbers]
        square = ('modal_mass', 'stiffness', 'damping', 'modal_product')
        single = ('mode_numbers', 'translation', 'rotation', 'modal_first_moment',
                  'modal_second_moment', 'rotary_coupling')  # fmt: skip
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values.update({name: values[name][np.ix_(at, at)] for name in square})
        values.update({name: values[name][at] for name in single})
        if self.stiffening is not None:
            values['stiffening'] = self.stiffening.with_modes(at)
        return ModalArrays(**values)


@dataclass(frozen=True, repr=False)
class ModalData(Record):
    """
    Modes from a file, kept for one link.

    Attributes:
        file: The file's address as the description writes it.
        digest: Of the file's bytes; two files of one digest are equal.
        modes: Numbers of the modes kept.
        dropped: Numbers of the file's other modes.
        damping_ratio: Of every mode, instead of the file's damping; None for the file's.
        attachments: Origin of a child joint in the link frame [m], and the node that carries it.
        arrays: The modes kept.
    """

    file: str
    digest: str
    modes: tuple[int, ...]
    damping_ratio: Optional[float] = None
    attachments: tuple[tuple[Vector3, int], ...] = ()
    arrays: Optional[ModalArrays] = field(default=None, compare=False, repr=False)
    dropped: tuple[int, ...] = ()

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Mode names without the link: mode1, mode2, mode4."""
        return tuple(f'mode{number}' for number in self.modes)

    @property
    def inertia(self) -> Inertia:
        """Inertia of the undeformed body in the link frame."""
        arrays = self.arrays
        assert arrays is not None
        centre = arrays.first_moment / arrays.mass
        about = arrays.second_moment - arrays.mass * np.outer(centre, centre)
        x, y, z = centre.tolist()
        matrix = symmetric_matrix3(np.trace(about) * np.eye(3) - about)
        return Inertia(arrays.mass, (x, y, z), matrix)

    @property
    def size(self) -> float:
        """Largest distance of a node from the link frame's origin [m]."""
        assert self.arrays is not None
        return float(np.linalg.norm(self.arrays.node_positions, axis=1).max())

    @property
    def tip(self) -> Vector3:
        """The node farthest from the link frame's origin, undeformed [m]."""
        assert self.arrays is not None
        places = self.arrays.node_positions
        x, y, z = places[int(np.argmax(np.linalg.norm(places, axis=1)))].tolist()
        return (x, y, z)

    def node_index(self, point: np.ndarray) -> int:
        """Return the index of the node that carries a point of the link frame, (3,) [m]."""
        assert self.arrays is not None
        for origin, node in self.attachments:
            if np.array_equal(point, origin):
                return self.arrays.node_ids.tolist().index(node)
        return int(np.argmin(np.linalg.norm(self.arrays.node_positions - point, axis=1)))

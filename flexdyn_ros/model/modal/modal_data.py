# SPDX-License-Identifier: Apache-2.0
"""A link's modes out of a file: which file and modes, what hangs where, and the flexible body."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from typing import Optional

from flexdyn_ros.model.modal.modal_arrays import ModalArrays
from flexdyn_ros.model.modal.modal_body import ModalBody
from flexdyn_ros.model.modal.modal_body import Mode
from flexdyn_ros.model.modal.modal_body import Node
from flexdyn_ros.model.robot.link import Inertia
from flexdyn_ros.model.robot.record import Record
from flexdyn_ros.model.robot.vectors import symmetric_matrix3
from flexdyn_ros.model.robot.vectors import Vector3
import numpy as np


@dataclass(frozen=True, repr=False)
class ModalData(Record):
    """
    Modes from a file, kept for one link.

    Attributes:
        file: The file's address as the description writes it.
        digest: Of the file's bytes; two files of one digest are equal.
        modes: Numbers of the modes kept.
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


def file_body(name: str, data: ModalData) -> ModalBody:
    """
    Return the flexible body of a link whose modes come from a file.

    A point hangs on the node it is attached to, or the nearest one, rigidly. Rotary inertia of the
    modes is what modal_mass has beyond the products of displacements.

    Args:
        name: The link's name.
        data: Its modes.
    """
    arrays = data.arrays
    assert arrays is not None
    stiffness, mass = arrays.stiffness, arrays.modal_mass
    own = np.sqrt(np.diag(stiffness) * np.diag(mass))
    damping = arrays.damping
    if data.damping_ratio is not None:
        damping = np.diag(2.0 * data.damping_ratio * own)
    rates = np.sqrt(np.diag(stiffness) / np.diag(mass)).tolist()
    ratios = (np.diag(damping) / (2.0 * own)).tolist()

    def node_at(point: np.ndarray) -> Node:
        point = np.asarray(point, dtype=float)
        k = data.node_index(point)
        place = arrays.node_positions[k]
        return Node(place, point - place, arrays.translation[:, k], arrays.rotation[:, k])

    rotary = mass - np.trace(arrays.modal_product, axis1=2, axis2=3)
    return ModalBody(
        modes=tuple(
            Mode(f'{name}/{mode}', 'mode', rate, ratio, 'file')
            for mode, rate, ratio in zip(data.mode_names, rates, ratios)
        ),
        mass=arrays.mass,
        first_moment=arrays.first_moment,
        second_moment=arrays.second_moment,
        modal_first_moment=arrays.modal_first_moment,
        modal_second_moment=arrays.modal_second_moment,
        modal_product=arrays.modal_product,
        rotary_coupling=arrays.rotary_coupling,
        rotary_mass=np.where(np.abs(rotary) < 1e-13 * np.abs(mass).max(), 0.0, rotary),
        modal_mass=mass,
        stiffness=stiffness,
        damping=damping,
        node_at=node_at,
    )

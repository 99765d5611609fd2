# SPDX-License-Identifier: Apache-2.0
"""
A flexible body: its modes, its shape at any point, and the inertia integrals of its modes.

The displacement field over the undeformed body is u(r) = sum_k phi_k(r) delta_k. Every quantity of
the exact equations of motion is then a polynomial in delta. Its coefficients are the integrals
kept here (Shabana, Dynamics of Multibody Systems, section 5.5). Second moments stand in place of
inertia tensors. All vectors are in the link's axes, about the link frame's origin. A beam with
geometric stiffening moves along its axis besides, see foreshortening.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Callable, Optional

from flexdyn_ros.model.modal.foreshortening import Foreshortening
from flexdyn_ros.model.records.modal import ModalData, ModalIntegrals
import numpy as np


@dataclass(frozen=True)
class Mode:
    """
    One mode of a flexible link.

    Attributes:
        name: `<link>/<kind><number>`.
        kind: bending_y, bending_z, torsion or axial.
        frequency: Of the mode alone, root held [rad/s]; a loaded mode's with its load.
        damping_ratio: Against the mode's own stiffness and modal mass.
        shape: Where its shape comes from, in a few words.
    """

    name: str
    kind: str
    frequency: float
    damping_ratio: float
    shape: str = ''


@dataclass(frozen=True)
class ModalNode:
    """
    A cross-section of a flexible body and a frame that rides on it.

    Attributes:
        position: Point of the undeformed body that deflects, shape (3,) [m].
        offset: From there to the given point, rigid with the cross-section, (3,) [m].
        translation: Displacement of `position` for unit modes, shape (m, 3).
        rotation: Rotation vector of the cross-section for unit modes, shape (m, 3).
        shortening: Axial shapes at `position`, shape (J,) [m].
    """

    position: np.ndarray
    offset: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    shortening: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def moves(self) -> bool:
        """Whether any mode displaces or turns the cross-section."""
        parts = (self.translation, self.rotation, self.shortening)
        return any(bool(part.any()) for part in parts)


@dataclass(frozen=True)
class ModalBody(ModalIntegrals):
    """
    Inertia, stiffness and shape of a flexible link with m modes.

    Attributes:
        modes: The modes, length m.
        rotary_mass: Generalised mass of the cross-sections' rotary inertia, shape (m, m).
        node_at: Function from a point of the undeformed link, (3,) [m], to its ModalNode.
        centre_line: Function from a fraction of the length to the point on the axis, (3,) [m].
        foreshortening: Shortening of the axis by bending; None for none.
    """

    modes: tuple[Mode, ...]
    rotary_mass: np.ndarray
    node_at: Callable[[np.ndarray], ModalNode]
    centre_line: Optional[Callable[[float], np.ndarray]] = None
    foreshortening: Optional[Foreshortening] = None

    def with_point_mass(self, mass: float, node: ModalNode) -> ModalBody:
        """Return the body with a point mass [kg] riding on a cross-section's axis point."""
        r, phi = node.position, node.translation
        product = self.modal_product + mass * np.einsum('ka,lb->klab', phi, phi)
        drawn = self.foreshortening
        if drawn is not None:
            along = np.array([drawn.direction @ r])
            drawn = drawn.with_mass(
                np.array([mass]), along, node.shortening[:, None], phi[:, None]
            )
        return replace(
            self,
            mass=self.mass + mass,
            first_moment=self.first_moment + mass * r,
            second_moment=self.second_moment + mass * np.outer(r, r),
            modal_first_moment=self.modal_first_moment + mass * phi,
            modal_second_moment=self.modal_second_moment + mass * np.einsum('a,kb->kab', r, phi),
            modal_product=product,
            modal_mass=self.modal_mass + mass * phi @ phi.T,
            foreshortening=drawn,
        )


def file_body(name: str, data: ModalData, stiffens: bool = False) -> ModalBody:
    """
    Return the flexible body of a link whose modes come from a file.

    A point hangs on the node it is attached to, or the nearest one, rigidly. Rotary inertia of the
    modes is the part of modal_mass beyond the products of displacements.

    Args:
        name: The link's name.
        data: Its modes.
        stiffens: Whether the file's geometric stiffening acts.
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

    m = len(mass)
    stiffening = arrays.stiffening if stiffens else None
    pairs: tuple[Any, ...] = ([], [])
    drawn = None
    if stiffening is not None:
        acts = (stiffening.first != 0.0) | np.any(stiffening.nodes != 0.0, axis=0)
        pairs = np.nonzero(np.triu(acts))
        count = len(pairs[0])
        # SID holds no products of axial shapes: they are of higher order in the deflections.
        drawn = Foreshortening(
            stiffening.direction, tuple(((int(k), int(other), 1.0),) for k, other in zip(*pairs)),
            stiffening.first[pairs], stiffening.second[pairs], np.zeros((count, m, 3)),
            np.zeros((count, count)),
        )

    def node_at(point: np.ndarray) -> ModalNode:
        point = np.asarray(point, dtype=float)
        k = data.node_index(point)
        place = arrays.node_positions[k]
        values = np.zeros(0) if stiffening is None else stiffening.nodes[k][pairs]
        return ModalNode(
            place, point - place, arrays.translation[:, k], arrays.rotation[:, k], values
        )

    rotary = mass - np.trace(arrays.modal_product, axis1=2, axis2=3)
    return ModalBody(
        modes=tuple(
            Mode(f'{name}/{mode}', 'mode', rate, ratio, 'file')
            for mode, rate, ratio in zip(data.mode_names, rates, ratios)
        ),
        rotary_mass=np.where(np.abs(rotary) < 1e-13 * np.abs(mass).max(), 0.0, rotary),
        node_at=node_at,
        foreshortening=drawn,
        **{**arrays.integrals(), 'damping': damping},
    )

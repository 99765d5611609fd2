# SPDX-License-Identifier: Apache-2.0
"""
Shapes of a free body made relative to the node at its parent joint, and their inertia integrals.

With a_k and b_k the translation and rotation of that node in mode k, the relative shapes are
phi_k - a_k - b_k x r and psi_k - b_k. Rigid motion enters the integrals linearly. Those of the
relative shapes so follow from the file's without the mass distribution (Shabana, Dynamics of
Multibody Systems, section 5.3, on reference conditions). The stiffness is unchanged.
"""

from __future__ import annotations

from dataclasses import replace

from flexdyn_ros.model.modal.matrices import symmetric_part
from flexdyn_ros.model.records.modal import ModalArrays
import numpy as np


def clamped_at(arrays: ModalArrays, node: int) -> ModalArrays:
    """
    Return modes relative to a node at the origin, without geometric stiffening.

    Args:
        arrays: Modes of a free body.
        node: Index of the node at the origin of the link frame.

    Raises:
        ValueError: Relative to the node a mode does not move; the text continues `file="path"`.
    """
    a, b = arrays.translation[:, node], arrays.rotation[:, node]
    skew = np.zeros((len(b), 3, 3))
    for axis, (first, second) in enumerate(((1, 2), (2, 0), (0, 1))):
        skew[:, second, first], skew[:, first, second] = b[:, axis], -b[:, axis]
    mass, moment, second_moment = arrays.mass, arrays.first_moment, arrays.second_moment
    linear, coupled = arrays.modal_first_moment, arrays.modal_second_moment
    # A rigid motion a + b x r of the body: int r (a + b x r)^T dm, and its displacement products.
    rigid = np.einsum('a,kb->kab', moment, a) + second_moment @ skew.transpose(0, 2, 1)
    moved = mass * a + np.einsum('kab,b->ka', skew, moment)
    mixed = np.einsum('ka,lb->klab', linear, a) + np.einsum('kca,lbc->klab', coupled, skew)
    both = np.einsum('ka,lb->klab', a, moved) + np.einsum('kac,lcb->klab', skew, rigid)
    inertia = np.trace(second_moment) * np.eye(3) - second_moment
    angular = _axial(coupled) + arrays.rotary_coupling
    momentum = a @ linear.T + b @ angular.T
    turned = np.cross(moment, a) + b @ inertia
    own = a @ moved.T + b @ turned.T
    modal_mass = symmetric_part(arrays.modal_mass - momentum - momentum.T + own)
    if np.linalg.eigvalsh(modal_mass)[0] <= 1e-9 * np.abs(modal_mass).max():
        raise ValueError(
            'holds modes that are rigid motions relative to the parent joint; remove them'
        )
    second = coupled - rigid
    return replace(
        arrays,
        translation=arrays.translation - a[:, None] - np.cross(
            b[:, None], arrays.node_positions[None] - arrays.node_positions[node]),
        rotation=arrays.rotation - b[:, None],
        modal_first_moment=linear - moved,
        modal_second_moment=second,
        modal_product=arrays.modal_product - mixed - mixed.transpose(1, 0, 3, 2) + both,
        rotary_coupling=angular - turned - _axial(second),
        modal_mass=modal_mass,
        stiffening=None,
    )


def _axial(each: np.ndarray) -> np.ndarray:
    """Return int r x phi dm of int r phi^T dm, shape (m, 3)."""
    return np.stack([
        each[:, b, c] - each[:, c, b] for b, c in ((1, 2), (2, 0), (0, 1))
    ], axis=-1)

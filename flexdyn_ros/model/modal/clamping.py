# SPDX-License-Identifier: Apache-2.0
"""
Shapes of a free body: rigid modes separated, the others relative to the node at its parent joint.

Let a_k and b_k be the translation and rotation of that node in mode k. The relative shapes are
phi_k - a_k - b_k x r and psi_k - b_k. Rigid motion enters the integrals linearly. Those of the
relative shapes so follow from the file's without the mass distribution (Shabana, Dynamics of
Multibody Systems, section 5.3, on reference conditions). The stiffness is unchanged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping

from flexdyn_ros.model.modal.matrices import RIGID, symmetric_part
from flexdyn_ros.model.records.base import axial_vectors, cross_matrices
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
    skew = cross_matrices(b)
    mass, moment, second_moment = arrays.mass, arrays.first_moment, arrays.second_moment
    linear, coupled = arrays.modal_first_moment, arrays.modal_second_moment
    # A rigid motion a + b x r of the body: int r (a + b x r)^T dm, and its displacement products.
    rigid = np.einsum('a,kb->kab', moment, a) + second_moment @ skew.transpose(0, 2, 1)
    moved = mass * a + np.einsum('kab,b->ka', skew, moment)
    mixed = np.einsum('ka,lb->klab', linear, a) + np.einsum('kca,lbc->klab', coupled, skew)
    both = np.einsum('ka,lb->klab', a, moved) + np.einsum('kac,lcb->klab', skew, rigid)
    inertia = np.trace(second_moment) * np.eye(3) - second_moment
    angular = axial_vectors(coupled) + arrays.rotary_coupling
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
        rotary_coupling=angular - turned - axial_vectors(second),
        modal_mass=modal_mass,
        stiffening=None,
    )


def without_rigid_modes(
    given: dict[str, Any], axes_of: Mapping[str, str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """
    Return arrays without modes of rigid motion, and a note; those coupled with others stay.

    Args:
        given: The arrays of docs/modal_files.md by name.
        axes_of: A letter for each axis of an array, m for modes.
    """
    size = np.sqrt(np.abs(np.diag(given['modal_mass'])))
    scale = np.outer(size, size)
    rates = np.abs(given['stiffness']).max(axis=1) / np.maximum(size * size.max(), 1e-300)
    rigid = rates <= RIGID * rates.max()
    between = np.abs(given['modal_mass']) > 1e-6 * scale
    if not rigid.any() or rigid.all() or between[np.ix_(rigid, ~rigid)].any():
        return given, ()
    place, axes = given['node_positions'], np.eye(3)[:, None]
    along = np.broadcast_to(axes, (3, *place.shape))
    whole = np.concatenate([  # shifts, then turns: translations and rotations of the nodes
        np.concatenate([along, 0.0 * along], axis=2),
        np.concatenate([np.cross(axes, place[None]), along], axis=2)])
    moves = np.concatenate([given['translation'][rigid], given['rotation'][rigid]], axis=2)
    columns, motions = (each.reshape(len(each), -1).T for each in (moves, whole))
    rest = columns - motions @ np.linalg.lstsq(motions, columns, rcond=None)[0]
    if np.abs(rest).max() > 1e-3 * np.abs(columns).max():
        return given, ()
    numbers = given.get('mode_numbers', np.arange(1, len(rigid) + 1))
    kept = {**given, 'mode_numbers': numbers}
    if 'frequencies' in kept:  # the lowest, in any order
        kept['frequencies'] = np.sort(kept['frequencies'])[np.argsort(np.argsort(~rigid))]
    for name, letters in axes_of.items():
        for axis, letter in enumerate(letters if name in kept else ''):
            if letter == 'm':
                kept[name] = kept[name].compress(~rigid, axis=axis)
    found = ' '.join(str(int(number)) for number in numbers[rigid])
    return kept, (f'its modes {found} are rigid motions and are left out',)

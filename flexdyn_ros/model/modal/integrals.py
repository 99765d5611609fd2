# SPDX-License-Identifier: Apache-2.0
"""Inertia integrals of modes: given, or summed over nodes; and whether a body can have them."""

from __future__ import annotations

from flexdyn_ros.model.modal.matrices import ROUNDING, symmetric_part
from flexdyn_ros.model.records.base import axial_vectors, cross_matrices
import numpy as np

# Shape of each array: n nodes, m modes.
INTEGRALS = {
    'mass': '', 'first_moment': '3', 'second_moment': '33', 'modal_first_moment': 'm3',
    'modal_second_moment': 'm33', 'modal_product': 'mm33', 'rotary_coupling': 'm3',
}  # fmt: skip
LUMPED = {'node_masses': 'n', 'node_inertias': 'n33'}


def inertia_integrals(given: dict[str, np.ndarray], n_modes: int) -> dict[str, np.ndarray]:
    """
    Return the inertia integrals by name, summed over the nodes where the inertia is lumped.

    Args:
        given: The file's arrays by name, of the right shapes.
        n_modes: Number of modes.

    Raises:
        ValueError: No mass distribution has such integrals; the text continues `file="path"`.
    """
    if 'node_masses' not in given:
        found = {name: given[name] for name in INTEGRALS if name in given}
        found.setdefault('rotary_coupling', np.zeros((n_modes, 3)))
    else:
        found = _lumped(given)
    return found


def _lumped(given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    mass, place, phi = given['node_masses'], given['node_positions'], given['translation']
    if np.any(mass < 0.0):
        raise ValueError('holds a negative mass in node_masses')
    product = np.einsum('n,kna,lnb->klab', mass, phi, phi)
    summed = np.trace(product, axis1=2, axis2=3)
    own, coupling = np.zeros((3, 3)), np.zeros((len(phi), 3))
    if 'node_inertias' in given:
        each, rotation = given['node_inertias'], given['rotation']
        summed = summed + np.einsum('kna,nab,lnb->kl', rotation, each, rotation)
        own, coupling = np.sum(each, axis=0), np.einsum('nab,knb->ka', each, rotation)
    claimed = np.diag(given['modal_mass'])
    if np.any(np.abs(np.diag(summed) - claimed) > 0.05 * claimed):
        raise ValueError(
            f'holds modal_mass with the diagonal {np.round(claimed, 6).tolist()}, but its node '
            f'masses give {np.round(np.diag(summed), 6).tolist()}: more than 5 percent apart'
        )
    return {
        'mass': np.array(np.sum(mass)),
        'first_moment': mass @ place,
        'second_moment': np.einsum('n,na,nb->ab', mass, place, place)
        + 0.5 * np.trace(own) * np.eye(3)
        - own,
        'modal_first_moment': np.einsum('n,kna->ka', mass, phi),
        'modal_second_moment': np.einsum('n,na,knb->kab', mass, place, phi),
        'modal_product': product,
        'rotary_coupling': coupling,
    }


def doubtful_integrals(
    given: dict[str, np.ndarray], found: dict[str, np.ndarray]
) -> tuple[str, ...]:
    """
    Return findings on inertia that no mass distribution has, at rest and undeformed.

    Exporters lump masses, so that some motion can have negative kinetic energy. Coupling of a
    motion and a mode, or of two modes, is an error at twice the largest of any distribution.

    Args:
        given: The file's arrays by name.
        found: Its inertia integrals.

    Raises:
        ValueError: As above; the text continues `file="path"`.
    """
    if found['mass'] <= 0.0:
        raise ValueError(f'has the mass {found["mass"]:g} kg; it must be positive')
    product = found['modal_product']
    tolerance = ROUNDING * max(product.max(), -product.min())
    for k, row in enumerate(product):  # one by one, as the whole may be large
        if np.abs(row - product[:, k].transpose(0, 2, 1)).max() > tolerance:
            raise ValueError('holds modal_product with [k, l] other than the transpose of [l, k]')
    first, second = found['first_moment'], found['second_moment']
    np.outer(first / found['mass'], first)  # raises where the inertia about the centre overflows
    coupling = axial_vectors(found['modal_second_moment']) + found['rotary_coupling']
    lever, modal = cross_matrices(first).T, np.array(found['modal_first_moment'])
    whole = np.block([
        [found['mass'] * np.eye(3), lever, modal.T],
        [lever.T, np.trace(second) * np.eye(3) - second, coupling.T],
        [modal, coupling, symmetric_part(given['modal_mass'])],
    ])
    size = np.diag(whole).copy()
    size[3:6] = np.maximum(size[3:6], 1e-6 * size[3:6].max())  # a line has no moment about itself
    scale = np.sqrt(np.maximum(size, 1e-300))
    whole /= np.outer(scale, scale)
    lowest = np.linalg.eigvalsh(whole)[0]
    if lowest < -1.0 or np.linalg.eigvalsh(whole[:6, :6])[0] < -1e-6:
        raise ValueError(
            'holds inertia integrals that contradict each other: some motion would have negative '
            'kinetic energy. Check units (kg, m), origin (the link frame), and that modal_mass '
            'comes from the same mass distribution'
        )
    if lowest < -1e-6:
        return (
            f'its inertia integrals couple motions by {-100.0 * lowest:.2g} percent more than any '
            'mass distribution does, so that forward dynamics may fail',
        )
    return ()

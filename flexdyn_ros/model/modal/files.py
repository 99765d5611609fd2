# SPDX-License-Identifier: Apache-2.0
"""
Modes of a link in a NumPy archive (`.npz`, without pickle): what it holds, reading and writing.

docs/modal_files.md describes every array. With the displacement field sum_k phi_k(r) delta_k the
inertia is either given by the integrals of modal_body.py, or lumped at the nodes.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Collection, Optional, Sequence, Union

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.modal.archive import read_archive
from flexdyn_ros.model.modal.body import ModalBody
from flexdyn_ros.model.modal.matrices import (
    check_matrices,
    damping_of_file,
    ROUNDING,
    symmetric_part,
)
from flexdyn_ros.model.records.modal import ModalArrays
from flexdyn_ros.output_files import new_file
import numpy as np

VERSION = 1
# Bytes that a file and all its arrays may take.
LARGEST = 2**28
# Magnitude beyond which a number is no quantity in SI units: products of three stay finite.
LARGEST_NUMBER = 1e100
# Shape of each array: n nodes, m modes.
REQUIRED = {
    'format_version': '', 'node_ids': 'n', 'node_positions': 'n3', 'translation': 'mn3',
    'rotation': 'mn3', 'modal_mass': 'mm', 'stiffness': 'mm',
}  # fmt: skip
OPTIONAL = {'mode_numbers': 'm', 'damping': 'mm', 'damping_ratio': 'm', 'frequencies': 'm'}
# Shape of each array: n nodes, m modes.
INTEGRALS = {
    'mass': '', 'first_moment': '3', 'second_moment': '33', 'modal_first_moment': 'm3',
    'modal_second_moment': 'm33', 'modal_product': 'mm33', 'rotary_coupling': 'm3',
}  # fmt: skip
LUMPED = {'node_masses': 'n', 'node_inertias': 'n33'}


def read_modal_file(path: Path) -> ModalArrays:
    """
    Return the arrays of a modal file.

    Raises:
        ValueError: The file is no modal file, or not a consistent one; the text continues
            `file="path"`.
    """
    given = read_archive(path, _check_arrays, LARGEST)
    for name, values in given.items():
        _check_range(name, values)
    if given['format_version'] != VERSION:
        raise ValueError(f'has format_version {given["format_version"]:g}; supported is {VERSION}')
    numbers = given.get('mode_numbers', np.arange(1, len(given['translation']) + 1))
    for name, values in (('node_ids', given['node_ids']), ('mode_numbers', numbers)):
        if len(np.unique(values)) != len(values) or np.any(values % 1):
            raise ValueError(f'holds {name} that are not whole numbers, each once')
        if np.abs(values).max() >= 2**53:
            raise ValueError(f'holds {name} with {np.abs(values).max():g}, which is too large')
    try:
        with np.errstate(over='raise', divide='raise', invalid='raise'):
            return _arrays(given, numbers)
    except (ArithmeticError, np.linalg.LinAlgError):
        raise ValueError(
            'holds numbers that are too large, too small or too far apart for the computation'
        ) from None


def _arrays(given: dict[str, np.ndarray], numbers: np.ndarray) -> ModalArrays:
    check_matrices(given)
    integrals = inertia_integrals(given, len(numbers))
    mass = float(integrals.pop('mass'))
    return ModalArrays(
        node_ids=given['node_ids'].astype(int),
        node_positions=given['node_positions'],
        mode_numbers=numbers.astype(int),
        translation=given['translation'],
        rotation=given['rotation'],
        modal_mass=symmetric_part(given['modal_mass']),
        stiffness=symmetric_part(given['stiffness']),
        damping=damping_of_file(given),
        mass=mass,
        **integrals,  # type: ignore[arg-type]
    )


def write_modal_file(
    path: Union[str, os.PathLike],
    body: ModalBody,
    points: Sequence[Sequence[float]],
    node_ids: Optional[Sequence[int]] = None,
) -> None:
    """
    Write the modes of a flexible body, such as a beam's, to a modal file.

    Args:
        path: The file; `.npz` is added where it is missing.
        body: The body.
        points: Places of the nodes on its axis in the link frame, shape (n, 3) [m].
        node_ids: Their numbers; 1, 2, ... where None.
    """
    nodes = [body.node_at(np.asarray(point, dtype=float)) for point in points]
    place = os.fspath(path)
    with new_file(place if place.endswith('.npz') else place + '.npz') as file:
        np.savez_compressed(
            file,
            format_version=np.array(VERSION),
            node_ids=np.arange(1, len(nodes) + 1) if node_ids is None else np.array(node_ids),
            node_positions=np.array([node.position for node in nodes]),
            translation=np.stack([node.translation for node in nodes], axis=1),
            rotation=np.stack([node.rotation for node in nodes], axis=1),
            **body.integrals(),
        )


def _check_arrays(shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse unknown, missing and contradicting arrays, and shapes that do not go together."""
    known = {**REQUIRED, **INTEGRALS, **LUMPED, **OPTIONAL}
    for name in shapes:
        if name not in known:
            raise ValueError(f'holds an unknown array "{name}". {did_you_mean(name, known)}')
    for name in REQUIRED:
        if name not in shapes:
            raise ValueError(f'does not hold the array "{name}"')
    _check_choices(shapes)
    for name in ('node_ids', 'translation'):
        if not shapes[name]:
            raise ValueError(f'holds {name} as a single number')
    size = {'n': shapes['node_ids'][0], 'm': shapes['translation'][0]}
    if not size['m'] or not size['n']:
        raise ValueError('holds no modes' if size['n'] else 'holds no nodes')
    bytes_needed = 0
    for name, letters in known.items():
        expected = tuple(int(c) if c.isdigit() else size[c] for c in letters)
        if shapes.get(name, expected) != expected:
            raise ValueError(
                f'holds {name} with shape {shapes[name]}, not {expected}: there are '
                f'{size["n"]} nodes and {size["m"]} modes'
            )
        if name in shapes or name in INTEGRALS:  # which are summed up where they are not there
            bytes_needed += 8 * math.prod(expected)
    if bytes_needed > LARGEST:
        raise ValueError(
            f'holds {size["m"]} modes at {size["n"]} nodes, which take {bytes_needed} bytes; at '
            f'most {LARGEST} are read'
        )


def _check_range(name: str, values: np.ndarray) -> None:
    largest = max(values.max(), -values.min()) if values.size else 0.0
    if not np.isfinite(largest):
        raise ValueError(f'holds {name} with numbers that are not finite')
    if largest > LARGEST_NUMBER:
        raise ValueError(
            f'holds {name} with a magnitude of {largest:g}, and quantities in SI units stay below '
            f'{LARGEST_NUMBER:g}'
        )


def _check_choices(names: Collection[str]) -> None:
    """Refuse what is given in two ways, or in none."""
    if 'damping' in names and 'damping_ratio' in names:
        raise ValueError('holds damping and damping_ratio; keep one of them')
    lumped = 'node_masses' in names
    for name in LUMPED if not lumped else INTEGRALS:
        if name in names:
            raise ValueError(
                f'holds {name} {"without" if not lumped else "and"} node_masses; inertia is '
                'given by integrals or by node_masses (and node_inertias)'
            )
    for name in () if lumped else INTEGRALS:
        if name not in names and name != 'rotary_coupling':
            raise ValueError(f'holds neither node_masses nor the integral "{name}"')


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
    _check_integrals(given, found)
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


def _check_integrals(given: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> None:
    """Refuse inertia that no mass distribution has, at rest and undeformed."""
    if found['mass'] <= 0.0:
        raise ValueError(f'has the mass {found["mass"]:g} kg; it must be positive')
    product = found['modal_product']
    tolerance = ROUNDING * max(product.max(), -product.min())
    for k, row in enumerate(product):  # one by one, as the whole may be large
        if np.abs(row - product[:, k].transpose(0, 2, 1)).max() > tolerance:
            raise ValueError('holds modal_product with [k, l] other than the transpose of [l, k]')
    first, second = found['first_moment'], found['second_moment']
    np.outer(first / found['mass'], first)  # raises where the inertia about the centre overflows
    coupling = [
        np.array([m[1, 2] - m[2, 1], m[2, 0] - m[0, 2], m[0, 1] - m[1, 0]]) + rotary
        for m, rotary in zip(found['modal_second_moment'], found['rotary_coupling'])
    ]
    x, y, z = first
    lever = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    modal = np.array(found['modal_first_moment'])
    whole = np.block([
        [found['mass'] * np.eye(3), lever, modal.T],
        [lever.T, np.trace(second) * np.eye(3) - second, np.array(coupling).T],
        [modal, np.array(coupling), symmetric_part(given['modal_mass'])],
    ])
    size = np.diag(whole).copy()
    size[3:6] = np.maximum(size[3:6], 1e-6 * size[3:6].max())  # a line has no moment about itself
    scale = np.sqrt(np.maximum(size, 1e-300))
    lowest = np.linalg.eigvalsh(whole / np.outer(scale, scale))[0]
    if lowest < -1e-6:
        raise ValueError(
            'holds inertia integrals that contradict each other: some motion would have negative '
            'kinetic energy. Check units (kg, m), origin (the link frame), and that modal_mass '
            'comes from the same mass distribution'
        )

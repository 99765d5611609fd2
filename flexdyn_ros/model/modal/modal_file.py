# SPDX-License-Identifier: Apache-2.0
"""
Modes of a link in a NumPy archive (`.npz`, without pickle): what it holds, reading and writing.

docs/modal_files.md describes every array. With the displacement field sum_k phi_k(r) delta_k the
inertia is either given by the integrals of modal_body.py, or lumped at the nodes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional
from typing import Sequence
from typing import Union
from zipfile import BadZipFile

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.modal.eigenproblem import symmetric_part
from flexdyn_ros.model.modal.modal_arrays import ModalArrays
from flexdyn_ros.model.modal.modal_body import ModalBody
from flexdyn_ros.model.modal.modal_integrals import inertia_integrals
from flexdyn_ros.model.modal.modal_integrals import INTEGRALS
from flexdyn_ros.model.modal.modal_integrals import LUMPED
from flexdyn_ros.model.modal.modal_matrices import check_matrices
from flexdyn_ros.model.modal.modal_matrices import damping_matrix
import numpy as np
from numpy.lib.npyio import NpzFile

VERSION = 1
# Shape of each array: n nodes, m modes.
REQUIRED = {
    'format_version': '', 'node_ids': 'n', 'node_positions': 'n3', 'translation': 'mn3',
    'rotation': 'mn3', 'modal_mass': 'mm', 'stiffness': 'mm',
}  # fmt: skip
OPTIONAL = {'mode_numbers': 'm', 'damping': 'mm', 'damping_ratio': 'm', 'frequencies': 'm'}


def read_modal_file(path: Path) -> ModalArrays:
    """
    Return the arrays of a modal file.

    Raises:
        ValueError: The file is no modal file, or not a consistent one; the text continues
            `file="path"`.
    """
    given = _load(path)
    _check_names(given)
    size = {'n': len(given['node_ids']), 'm': len(given['translation'])}
    known = {**REQUIRED, **INTEGRALS, **LUMPED, **OPTIONAL}
    for name, shape in known.items():
        if name in given:
            expected = tuple(int(c) if c.isdigit() else size[c] for c in shape)
            if given[name].shape != expected:
                raise ValueError(
                    f'holds {name} with shape {given[name].shape}, not {expected}: there are '
                    f'{size["n"]} nodes and {size["m"]} modes'
                )
    if not size['m'] or not size['n']:
        raise ValueError('holds no modes' if size['n'] else 'holds no nodes')
    numbers = given.get('mode_numbers', np.arange(1, size['m'] + 1))
    for name, values in (('node_ids', given['node_ids']), ('mode_numbers', numbers)):
        if len(np.unique(values)) != len(values) or np.any(values % 1):
            raise ValueError(f'holds {name} that are not whole numbers, each once')
    check_matrices(given)
    integrals = inertia_integrals(given, size['m'])
    mass = float(integrals.pop('mass'))
    return ModalArrays(
        node_ids=given['node_ids'].astype(int),
        node_positions=given['node_positions'],
        mode_numbers=numbers.astype(int),
        translation=given['translation'],
        rotation=given['rotation'],
        modal_mass=symmetric_part(given['modal_mass']),
        stiffness=symmetric_part(given['stiffness']),
        damping=damping_matrix(given),
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
    np.savez_compressed(
        path,
        format_version=np.array(VERSION),
        node_ids=np.arange(1, len(nodes) + 1) if node_ids is None else np.array(node_ids),
        node_positions=np.array([node.position for node in nodes]),
        translation=np.stack([node.translation for node in nodes], axis=1),
        rotation=np.stack([node.rotation for node in nodes], axis=1),
        modal_mass=body.modal_mass,
        stiffness=body.stiffness,
        damping=body.damping,
        mass=np.array(body.mass),
        first_moment=body.first_moment,
        second_moment=body.second_moment,
        modal_first_moment=body.modal_first_moment,
        modal_second_moment=body.modal_second_moment,
        modal_product=body.modal_product,
        rotary_coupling=body.rotary_coupling,
    )


def _load(path: Path) -> dict[str, np.ndarray]:
    """Return the named arrays of an archive, without unpickling anything."""
    try:
        archive = np.load(path, allow_pickle=False)
    except (BadZipFile, EOFError, OSError, ValueError):
        raise ValueError('is no NumPy .npz archive') from None
    if not isinstance(archive, NpzFile):
        raise ValueError('is a single array, not an .npz archive of named arrays')
    given = {}
    with archive:
        for name in archive.files:
            try:
                given[name] = archive[name]
            except (BadZipFile, EOFError, OSError):
                raise ValueError(f'is damaged: {name} cannot be read') from None
            except ValueError:
                raise ValueError(
                    f'holds {name} as pickled objects; only plain numbers are read'
                ) from None
    return given


def _check_names(given: dict[str, np.ndarray]) -> None:
    """Refuse unknown and missing arrays, and numbers that are not finite."""
    known = {**REQUIRED, **INTEGRALS, **LUMPED, **OPTIONAL}
    for name in given:
        if name not in known:
            raise ValueError(f'holds an unknown array "{name}". {did_you_mean(name, known)}')
    for name in REQUIRED:
        if name not in given:
            raise ValueError(f'does not hold the array "{name}"')
    for name, values in given.items():
        if values.dtype.kind not in 'iuf':
            raise ValueError(f'holds {name} as {values.dtype}, not as real numbers')
        given[name] = values.astype(float)
        if not np.all(np.isfinite(given[name])):
            raise ValueError(f'holds {name} with numbers that are not finite')
    if given['format_version'].shape != () or given['format_version'] != VERSION:
        raise ValueError(f'has format_version {given["format_version"]}; known is {VERSION}')
    for name in ('node_ids', 'translation'):
        if given[name].ndim == 0:
            raise ValueError(f'holds {name} as a single number')
    if 'damping' in given and 'damping_ratio' in given:
        raise ValueError('holds damping and damping_ratio; keep one of them')
    lumped = 'node_masses' in given
    for name in LUMPED if not lumped else INTEGRALS:
        if name in given:
            raise ValueError(
                f'holds {name} {"without" if not lumped else "and"} node_masses; inertia is '
                'given by integrals or by node_masses (and node_inertias)'
            )
    for name in () if lumped else INTEGRALS:
        if name not in given and name != 'rotary_coupling':
            raise ValueError(f'holds neither node_masses nor the integral "{name}"')

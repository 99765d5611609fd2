# SPDX-License-Identifier: Apache-2.0
"""
Files of modes: their readers, the one form that all of them return, its check, and writing it.

docs/modal_files.md describes every array. With the displacement field sum_k phi_k(r) delta_k the
inertia is either given by the integrals of modal_body.py, or lumped at the nodes.
"""

from __future__ import annotations

from dataclasses import fields
import math
import os
from pathlib import Path
from typing import Any, Callable, Collection, Optional, Sequence, Union

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.modal.archive import read_archive
from flexdyn_ros.model.modal.body import ModalBody, ModalNode
from flexdyn_ros.model.modal.clamping import without_rigid_modes
from flexdyn_ros.model.modal.integrals import (
    doubtful_integrals,
    inertia_integrals,
    INTEGRALS,
    LUMPED,
)
from flexdyn_ros.model.modal.matrices import check_matrices, damping_of_file, symmetric_part
from flexdyn_ros.model.modal.mbdyn import read_fem
from flexdyn_ros.model.modal.sid import read_sid
from flexdyn_ros.model.modal.sid_blocks import LARGEST_NUMBER
from flexdyn_ros.model.modal.sid_writer import sid_text
from flexdyn_ros.model.records.modal import ModalArrays, Stiffening
from flexdyn_ros.output_files import new_file, write_text
import numpy as np

VERSION = 1
# Bytes that a file and all its arrays may take.
LARGEST = 2**28
# Shape of each array: n nodes, m modes.
REQUIRED = {
    'format_version': '', 'node_ids': 'n', 'node_positions': 'n3', 'translation': 'mn3',
    'rotation': 'mn3', 'modal_mass': 'mm', 'stiffness': 'mm',
}  # fmt: skip
OPTIONAL = {
    'mode_numbers': 'm', 'damping': 'mm', 'damping_ratio': 'm', 'frequencies': 'm', 'comment': '',
}  # fmt: skip
STIFFENING = {
    'stiffening_direction': '3', 'stiffening_first': 'mm', 'stiffening_second': 'mm',
    'stiffening_nodes': 'nmm',
}  # fmt: skip
KNOWN = {**REQUIRED, **INTEGRALS, **LUMPED, **OPTIONAL, **STIFFENING}
# Characters of a comment that are kept.
MOST_TEXT = 400


def read_modal_file(path: Path, form: str = 'npz') -> ModalArrays:
    """
    Return the arrays of a modal file.

    Args:
        path: The file.
        form: Its format, a key of READERS.

    Raises:
        ValueError: The file is no modal file, or not a consistent one; the text continues
            `file="path"`.
    """
    if path.suffix.lower() in DECLINED:
        raise ValueError(f'cannot be read: {DECLINED[path.suffix.lower()]}')
    return modal_arrays(READERS[form](path))


def read_npz(path: Path) -> dict[str, Any]:
    """Return the arrays of a NumPy archive by name."""
    given = read_archive(path, check_arrays, LARGEST, text=True)
    for name, values in given.items():
        if (values.dtype.kind == 'U') is not (name == 'comment'):
            raise ValueError(f'holds {name} as {values.dtype}')
    if given['format_version'] != VERSION:
        raise ValueError(f'has format_version {given["format_version"]:g}; supported is {VERSION}')
    return given


# Remedies for formats that are not read.
DECLINED = {
    '.mnf': 'ADAMS MNF is proprietary: export SID, or mass and stiffness matrices',
    '.op2': 'write Nastran matrices as OUTPUT4 (.op4) or DMIG (.pch) for flexdyn reduce',
    '.sub': 'write ANSYS matrices as MatrixMarket for flexdyn reduce',
    '.unv': 'measured shapes have no mass distribution: flexdyn update-modes adjusts a model',
    '.uff': 'measured shapes have no mass distribution: flexdyn update-modes adjusts a model',
    '.h5': 'write the arrays as .npz',
    '.pkl': 'pickled files can execute code and are never read: write the arrays as .npz',
}
# Each reader returns the arrays of docs/modal_files.md by name, `modal_arrays` checks them.
READERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    'sid': read_sid, 'npz': read_npz, 'fem': read_fem,
}


def modal_arrays(given: dict[str, Any]) -> ModalArrays:
    """
    Return modes by the arrays of docs/modal_files.md, which every reader gives.

    Args:
        given: The arrays by name, of the right shapes; `comment` is text, `notes` are sentences
            on data that the reader drops.

    Raises:
        ValueError: They contradict each other; the text continues `file="path"`.
    """
    comment, notes = str(given.pop('comment', '')), tuple(given.pop('notes', ()))
    for name, values in given.items():
        _check_range(name, values)
    given, separated = without_rigid_modes(given, KNOWN)
    numbers = given.get('mode_numbers', np.arange(1, len(given['translation']) + 1))
    for name, values in (('node_ids', given['node_ids']), ('mode_numbers', numbers)):
        if len(np.unique(values)) != len(values) or np.any(values % 1):
            raise ValueError(f'holds {name} that are not whole numbers, each once')
        if np.abs(values).max() >= 2**53:
            raise ValueError(f'holds {name} with {np.abs(values).max():g}, which is too large')
    try:
        with np.errstate(over='raise', divide='raise', invalid='raise'):
            check_matrices(given)
            integrals = inertia_integrals(given, len(numbers))
            doubt = doubtful_integrals(given, integrals)
            return ModalArrays(
                node_ids=given['node_ids'].astype(int),
                node_positions=given['node_positions'],
                mode_numbers=numbers.astype(int),
                translation=given['translation'],
                rotation=given['rotation'],
                modal_mass=symmetric_part(given['modal_mass']),
                stiffness=symmetric_part(given['stiffness']),
                damping=damping_of_file(given),
                mass=float(integrals.pop('mass')),
                stiffening=_stiffening(given),
                comment=comment[:MOST_TEXT],
                notes=notes + separated + doubt,
                **integrals,  # type: ignore[arg-type]
            )
    except (ArithmeticError, np.linalg.LinAlgError):
        raise ValueError(
            'holds numbers that are too large, too small or too far apart for the computation'
        ) from None


def _stiffening(given: dict[str, Any]) -> Optional[Stiffening]:
    """Return the geometric stiffening, with symmetric pairs of modes, or None."""
    if 'stiffening_direction' not in given:
        return None
    direction, *pairs = (given[name] for name in STIFFENING)
    if abs(np.linalg.norm(direction) - 1.0) > 1e-6:
        raise ValueError('holds stiffening_direction that is no unit vector')
    first, second, nodes = (0.5 * (each + np.swapaxes(each, -1, -2)) for each in pairs)
    return Stiffening(direction, first, second, nodes)


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
    place = os.fspath(path)
    write_arrays(place if place.endswith('.npz') else place + '.npz',
                 body_arrays(body, points, node_ids))


def body_arrays(
    body: ModalBody,
    points: Sequence[Sequence[float]],
    node_ids: Optional[Sequence[int]] = None,
) -> ModalArrays:
    """Return the modes of a flexible body with nodes at points, as `write_modal_file` does."""
    nodes = [body.node_at(np.asarray(point, dtype=float)) for point in points]
    return ModalArrays(
        node_ids=np.arange(1, len(nodes) + 1) if node_ids is None else np.array(node_ids),
        node_positions=np.array([node.position for node in nodes]),
        mode_numbers=np.arange(1, len(body.modal_mass) + 1),
        translation=np.stack([node.translation for node in nodes], axis=1),
        rotation=np.stack([node.rotation for node in nodes], axis=1),
        stiffening=_beam_stiffening(body, nodes),
        **body.integrals(),
    )


def _beam_stiffening(body: ModalBody, nodes: Sequence[ModalNode]) -> Optional[Stiffening]:
    """Return the axial shapes of a body by pairs of its modes, or None."""
    drawn, m = body.foreshortening, len(body.modal_mass)
    if drawn is None:
        return None
    first, second, at_nodes = np.zeros((m, m)), np.zeros((m, m)), np.zeros((len(nodes), m, m))
    values = np.array([node.shortening for node in nodes])
    for j, terms in enumerate(drawn.terms):
        for k, other, factor in terms:
            for pair in ((k, other), (other, k)):
                first[pair], second[pair] = factor * drawn.first[j], factor * drawn.second[j]
                at_nodes[:, pair[0], pair[1]] = factor * values[:, j]
    return Stiffening(drawn.direction, first, second, at_nodes)


def write_arrays(path: Union[str, os.PathLike], arrays: ModalArrays) -> None:
    """Write modes to a NumPy archive, or to an SID file where the name does not end in .npz."""
    place = os.fspath(path)
    if not place.endswith('.npz'):
        write_text(place, sid_text(arrays))
        return
    values = {item.name: getattr(arrays, item.name) for item in fields(arrays)}
    del values['notes']
    stiffening = values.pop('stiffening')
    for name in STIFFENING if stiffening is not None else ():
        values[name] = getattr(stiffening, name.partition('_')[2])
    with new_file(place) as file:
        np.savez_compressed(file, format_version=np.array(VERSION), **values)


def check_arrays(shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse unknown, missing and contradicting arrays, and shapes that do not go together."""
    for name in shapes:
        if name not in KNOWN:
            raise ValueError(f'holds an unknown array "{name}". {did_you_mean(name, KNOWN)}')
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
    for name, letters in KNOWN.items():
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
    """Refuse quantities that are given in two ways, or in none."""
    if 'damping' in names and 'damping_ratio' in names:
        raise ValueError('holds damping and damping_ratio; keep one of them')
    if len([name for name in STIFFENING if name in names]) not in (0, len(STIFFENING)):
        raise ValueError(f'holds some of {", ".join(STIFFENING)}, not all of them')
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

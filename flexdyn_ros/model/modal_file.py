# SPDX-License-Identifier: Apache-2.0
"""
Modes of a link in a NumPy archive (`.npz`, without pickle): what it holds, reading and writing.

docs/modal_files.md describes every array. With the displacement field sum_k phi_k(r) delta_k the
inertia is either given by the integrals of modal_body.py, or lumped at the nodes, from which they
are summed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields
import os
from pathlib import Path
from typing import Optional
from typing import Sequence
from typing import Union
from zipfile import BadZipFile

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.modal_body import ModalBody
import numpy as np
from numpy.lib.npyio import NpzFile

VERSION = 1
# Shape of each array: n nodes, m modes.
REQUIRED = {
    'format_version': '', 'node_ids': 'n', 'node_positions': 'n3', 'translation': 'mn3',
    'rotation': 'mn3', 'modal_mass': 'mm', 'stiffness': 'mm',
}  # fmt: skip
INTEGRALS = {
    'mass': '', 'first_moment': '3', 'second_moment': '33', 'modal_first_moment': 'm3',
    'modal_second_moment': 'm33', 'modal_product': 'mm33', 'rotary_coupling': 'm3',
}  # fmt: skip
LUMPED = {'node_masses': 'n', 'node_inertias': 'n33'}
OPTIONAL = {'mode_numbers': 'm', 'damping': 'mm', 'damping_ratio': 'm', 'frequencies': 'm'}
# Relative to the largest entry: asymmetry that is rounding.
ROUNDING = 1e-8


@dataclass(frozen=True, eq=False)
class ModalArrays:
    """
    The arrays of a modal file with n nodes and m modes; integrals as in ModalBody.

    Attributes:
        node_ids: Numbers of the nodes, shape (n,).
        node_positions: Undeformed, in the link frame, shape (n, 3) [m].
        mode_numbers: Numbers of the modes, shape (m,).
        translation: Displacement of the nodes for unit modes, shape (m, n, 3).
        rotation: Rotation vectors of the nodes for unit modes, shape (m, n, 3).
        modal_mass: Shape (m, m).
        stiffness: Shape (m, m).
        damping: Shape (m, m).
        mass: [kg].
        first_moment: Shape (3,).
        second_moment: Shape (3, 3).
        modal_first_moment: Shape (m, 3).
        modal_second_moment: Shape (m, 3, 3).
        modal_product: Shape (m, m, 3, 3).
        rotary_coupling: Shape (m, 3).
    """

    node_ids: np.ndarray
    node_positions: np.ndarray
    mode_numbers: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    modal_mass: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    mass: float
    first_moment: np.ndarray
    second_moment: np.ndarray
    modal_first_moment: np.ndarray
    modal_second_moment: np.ndarray
    modal_product: np.ndarray
    rotary_coupling: np.ndarray

    def __repr__(self) -> str:
        """Return the sizes alone."""
        return f'<{len(self.mode_numbers)} modes at {len(self.node_ids)} nodes>'

    def with_modes(self, numbers: Sequence[int]) -> ModalArrays:
        """Return the arrays of some of the modes, in the order of their numbers given."""
        at = [self.mode_numbers.tolist().index(number) for number in numbers]
        square = ('modal_mass', 'stiffness', 'damping', 'modal_product')
        single = ('mode_numbers', 'translation', 'rotation', 'modal_first_moment',
                  'modal_second_moment', 'rotary_coupling')  # fmt: skip
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values.update({name: values[name][np.ix_(at, at)] for name in square})
        values.update({name: values[name][at] for name in single})
        return ModalArrays(**values)


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
    _check_matrices(given)
    integrals = _integrals(given, size['m'])
    mass = float(integrals.pop('mass'))
    return ModalArrays(
        node_ids=given['node_ids'].astype(int),
        node_positions=given['node_positions'],
        mode_numbers=numbers.astype(int),
        translation=given['translation'],
        rotation=given['rotation'],
        modal_mass=_symmetric(given['modal_mass']),
        stiffness=_symmetric(given['stiffness']),
        damping=_damping(given),
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


def _check_matrices(given: dict[str, np.ndarray]) -> None:
    for name in ('modal_mass', 'stiffness', 'damping'):
        if name in given:
            matrix = given[name]
            if np.abs(matrix - matrix.T).max() > ROUNDING * np.abs(matrix).max():
                raise ValueError(f'holds {name} that is not symmetric')
    if np.linalg.eigvalsh(_symmetric(given['modal_mass']))[0] <= 0.0:
        raise ValueError('holds modal_mass that is not positive definite')
    squares = _natural(given)[0]
    if squares[0] < 1e-9 * squares[-1] or squares[-1] <= 0.0:
        raise ValueError(
            'holds modes without stiffness (rigid-body modes); take them out and give shapes '
            'relative to the parent joint'
        )
    if 'frequencies' in given:
        ours = np.sqrt(squares) / (2.0 * np.pi)
        theirs = np.sort(given['frequencies'])
        if np.any(np.abs(ours - theirs) > 1e-3 * np.abs(theirs)):
            raise ValueError(
                f'holds frequencies {np.round(theirs, 4).tolist()} Hz, but modal_mass and '
                f'stiffness have {np.round(ours, 4).tolist()} Hz'
            )
    if 'damping' in given:
        values = np.linalg.eigvalsh(_symmetric(given['damping']))
        if values[0] < -ROUNDING * np.abs(values).max():
            raise ValueError('holds damping that gives energy: a negative eigenvalue')
    if 'damping_ratio' in given and np.any(given['damping_ratio'] < 0.0):
        raise ValueError('holds a negative damping_ratio')


def _natural(given: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    lower = np.linalg.cholesky(_symmetric(given['modal_mass']))
    reduced = np.linalg.solve(lower, np.linalg.solve(lower, _symmetric(given['stiffness'])).T)
    return np.linalg.eigh(_symmetric(reduced))


def _damping(given: dict[str, np.ndarray]) -> np.ndarray:
    if 'damping' in given:
        return _symmetric(given['damping'])
    ratio = given.get('damping_ratio', np.zeros(len(given['modal_mass'])))
    own = np.sqrt(np.diag(given['stiffness']) * np.diag(given['modal_mass']))
    return np.diag(2.0 * ratio * own)


def _integrals(given: dict[str, np.ndarray], n_modes: int) -> dict[str, np.ndarray]:
    """Return the inertia integrals, summed over the nodes where the inertia is lumped."""
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
    own = given.get('node_inertias', np.zeros((len(mass), 3, 3)))
    half_trace = 0.5 * np.trace(own, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    product = np.einsum('n,kna,lnb->klab', mass, phi, phi)
    rotary = np.einsum('kna,nab,lnb->kl', given['rotation'], own, given['rotation'])
    summed = np.trace(product, axis1=2, axis2=3) + rotary
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
        + np.sum(half_trace - own, axis=0),
        'modal_first_moment': np.einsum('n,kna->ka', mass, phi),
        'modal_second_moment': np.einsum('n,na,knb->kab', mass, place, phi),
        'modal_product': product,
        'rotary_coupling': np.einsum('nab,knb->ka', own, given['rotation']),
    }


def _check_integrals(given: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> None:
    """Refuse inertia that no mass distribution has, at rest and undeformed."""
    if found['mass'] <= 0.0:
        raise ValueError(f'has the mass {found["mass"]:g} kg; it must be positive')
    product = found['modal_product']
    if np.abs(product - product.transpose(1, 0, 3, 2)).max() > ROUNDING * np.abs(product).max():
        raise ValueError('holds modal_product with [k, l] other than the transpose of [l, k]')
    first, second = found['first_moment'], found['second_moment']
    coupling = [
        np.array([m[1, 2] - m[2, 1], m[2, 0] - m[0, 2], m[0, 1] - m[1, 0]]) + spin
        for m, spin in zip(found['modal_second_moment'], found['rotary_coupling'])
    ]
    x, y, z = first
    lever = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    modal = np.array(found['modal_first_moment'])
    whole = np.block([
        [found['mass'] * np.eye(3), lever, modal.T],
        [lever.T, np.trace(second) * np.eye(3) - second, np.array(coupling).T],
        [modal, np.array(coupling), _symmetric(given['modal_mass'])],
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


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)

# SPDX-License-Identifier: Apache-2.0
"""Generalised mass, stiffness and damping out of a modal file: what they must be, and damping."""

from __future__ import annotations

from flexdyn_ros.model.modal.eigenproblem import reduced_eigenproblem
from flexdyn_ros.model.modal.eigenproblem import symmetric_part
import numpy as np

# Relative to the largest entry: asymmetry that is rounding.
ROUNDING = 1e-8


def check_matrices(given: dict[str, np.ndarray]) -> None:
    """
    Refuse matrices that no body held at its root has, and frequencies that are not theirs.

    Args:
        given: The file's arrays by name, of the right shapes.

    Raises:
        ValueError: The text continues `file="path"`.
    """
    for name in ('modal_mass', 'stiffness', 'damping'):
        if name in given:
            matrix = given[name]
            if np.abs(matrix - matrix.T).max() > ROUNDING * np.abs(matrix).max():
                raise ValueError(f'holds {name} that is not symmetric')
    if np.linalg.eigvalsh(symmetric_part(given['modal_mass']))[0] <= 0.0:
        raise ValueError('holds modal_mass that is not positive definite')
    squares, _, _ = reduced_eigenproblem(
        symmetric_part(given['stiffness']), symmetric_part(given['modal_mass'])
    )
    if squares[0] < 1e-9 * squares[-1] or squares[-1] <= 0.0:
        raise ValueError(
            'holds modes without stiffness (rigid-body modes); take them out and give shapes '
            'relative to the parent joint'
        )
    if not np.all(np.diag(given['stiffness']) * np.diag(given['modal_mass']) > 0.0):
        raise ValueError('holds stiffness and modal_mass that are too small to compute with')
    if 'frequencies' in given:
        ours = np.sqrt(squares) / (2.0 * np.pi)
        theirs = np.sort(given['frequencies'])
        if np.any(np.abs(ours - theirs) > 1e-3 * np.abs(theirs)):
            raise ValueError(
                f'holds frequencies {np.round(theirs, 4).tolist()} Hz, but modal_mass and '
                f'stiffness have {np.round(ours, 4).tolist()} Hz'
            )
    if 'damping' in given:
        values = np.linalg.eigvalsh(symmetric_part(given['damping']))
        if values[0] < -ROUNDING * np.abs(values).max():
            raise ValueError('holds damping that gives energy: a negative eigenvalue')
    if 'damping_ratio' in given and np.any(given['damping_ratio'] < 0.0):
        raise ValueError('holds a negative damping_ratio')


def damping_matrix(given: dict[str, np.ndarray]) -> np.ndarray:
    """Return the damping, (m, m), as given or by the ratios of the modes."""
    if 'damping' in given:
        return symmetric_part(given['damping'])
    ratio = given.get('damping_ratio', np.zeros(len(given['modal_mass'])))
    own = np.sqrt(np.diag(given['stiffness']) * np.diag(given['modal_mass']))
    return np.diag(2.0 * ratio * own)

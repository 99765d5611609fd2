# SPDX-License-Identifier: Apache-2.0
"""
Choice of the terms of friction of each joint, by cross validation.

From the plain law on, terms are tried from the simplest to the richest. One stays where it lowers
the residual of its joint on data that the fit leaves out. These are one motion after the other, or
blocks of a single one.
"""

from __future__ import annotations

from typing import Sequence

from flexdyn_ros.identification.friction import DEFAULT
from flexdyn_ros.identification.least_squares import Fit, Rows
from flexdyn_ros.identification.torque_model import TorqueModel
import numpy as np

TRIED = ('presliding', 'load', 'quadratic', 'stribeck')
GAIN = 0.02  # part of the residual that a term must save
BLOCKS = 5  # of a single motion


def chosen_terms(
    model: TorqueModel, rows: Sequence[Rows], fit: Fit, columns: np.ndarray
) -> dict[str, tuple[str, ...]]:
    """
    Return the terms of each joint.

    Args:
        model: The parameters, with all terms.
        rows: Rows of the regression with all terms.
        fit: Its fit, which gives the weights.
        columns: Columns of its base parameters.
    """
    folds = _folds(rows, columns)
    normals = [_normal(fold, fit.noise) for fold in folds]
    terms = {joint.name: list(DEFAULT) for joint in model.joints}

    def score(at: int) -> float:
        change, total = _columns(model, columns, terms), 0.0
        for left, fold in enumerate(folds):
            parts = [each for k, each in enumerate(normals) if k != left]
            normal = change.T @ sum(each[0] for each in parts) @ change
            moment = change.T @ sum(each[1] for each in parts)
            scale = np.sqrt(np.maximum(np.diag(normal), 1e-300))
            scaled = normal / np.outer(scale, scale)
            base = change @ (np.linalg.pinv(scaled, 1e-12, hermitian=True) @ (
                moment / scale) / scale)
            total += sum(float(np.sum((right[:, at] - matrix[:, at] @ base) ** 2))
                         for matrix, right in fold)
        return total

    for joint in model.joints:
        at = model.coordinates.index(joint.name)
        least = score(at)
        for term in TRIED:
            terms[joint.name].append(term)
            found = score(at)
            if found < (1.0 - GAIN) ** 2 * least:
                least = found
            else:
                terms[joint.name].remove(term)
    return {name: tuple(own) for name, own in terms.items()}


Fold = list[tuple[np.ndarray, np.ndarray]]


def _folds(rows: Sequence[Rows], columns: np.ndarray) -> list[Fold]:
    """Return columns and right sides of the sound rows, by motion or by block."""
    found: dict[int, Fold] = {}
    single = len({part.motion for part in rows}) == 1
    for part in rows:
        matrix = part.matrix[:, :, columns] * part.sound[:, :, None]
        right = part.right * part.sound
        for block, places in enumerate(np.array_split(np.arange(len(right)), BLOCKS)):
            key = block if single else part.motion
            found.setdefault(key, []).append((matrix[places], right[places]))
    return list(found.values())


def _normal(fold: Fold, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted normal matrix and right side of a fold."""
    size = fold[0][0].shape[2]
    normal, moment = np.zeros((size, size)), np.zeros(size)
    for matrix, right in fold:
        flat = (matrix / noise[:, None]).reshape(-1, size)
        normal += flat.T @ flat
        moment += flat.T @ (right / noise).ravel()
    return normal, moment


def _columns(
    model: TorqueModel, columns: np.ndarray, terms: dict[str, list[str]]
) -> np.ndarray:
    """Return the matrix from the parameters of fewer terms to those of all, (b, b')."""
    place = {model.names[column]: row for row, column in enumerate(columns.tolist())}
    change, dropped = np.eye(len(columns)), []
    for joint in model.joints:
        own = {term: place.get(f'{joint.name}/{term}') for term in model.terms}
        dropped += [own[term] for term in own
                    if term not in terms[joint.name] and own[term] is not None]
        if own.get('stribeck') in dropped and own.get('coulomb') is not None:
            # Without a level of its own at low speed, Coulomb's holds there too.
            change[own['stribeck'], own['coulomb']] = 1.0
    return np.delete(change, dropped, axis=1)

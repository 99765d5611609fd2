# SPDX-License-Identifier: Apache-2.0
"""
Geometric stiffening of modes of a slender link along a straight line, by foreshortening.

A line that does not stretch shortens its projection: its points move along it by
1/2 sum_kl f_kl delta_k delta_l with f_kl(x) = -int_0^x phi_k' . phi_l' dx, slopes across the line
(foreshortening.py). For nodes on the line the slopes are their rotations, of plane cross-sections,
or else the derivatives of cubic splines through their displacements. For nodes beside it, as those
of a solid, they are the derivatives of cubic splines w(x). These fit the displacements
w(x) + theta(x) d x r across the line best, with the twist theta along d.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

# Nodes that resolve the slopes of some modes.
FEWEST = 17
# Distance from the line, relative to its length.
_STRAIGHT = 1e-3
# Distance from the line of a slender link and of the middle of its sections, relative to its
# length; pieces of its splines.
_SLENDER, _CENTRED, _PIECES = 0.2, 0.03, 24


def line_stiffening(
    positions: np.ndarray,
    translation: np.ndarray,
    rotation: np.ndarray,
    masses: np.ndarray,
    has_rotations: bool,
) -> dict[str, np.ndarray]:
    """
    Return the arrays `stiffening_...` of docs/modal_files.md.

    Args:
        positions: Of the nodes, shape (n, 3) [m].
        translation: Displacement of the nodes for unit modes, shape (m, n, 3).
        rotation: Rotation vectors for unit modes, shape (m, n, 3).
        masses: Of the nodes, shape (n,) [kg].
        has_rotations: Whether the rotations are those of the finite elements.

    Raises:
        ValueError: The nodes are too few, or not on a line from the origin; the text continues
            "the model".
    """
    direction, length = line_of(positions)
    along = positions @ direction
    beside = np.linalg.norm(positions - along[:, None] * direction, axis=1).max()
    x = np.unique(np.round(along / (_STRAIGHT * length))) * _STRAIGHT * length
    if len(x) < FEWEST or x[0] > _STRAIGHT * length:
        raise ValueError(f'has no {FEWEST} different nodes on the line from its root, so that it '
                         'cannot be stiffened')
    if beside > _STRAIGHT * length:
        nodes = _of_sections(positions, translation, direction, along, len(x))
    else:
        nodes = _of_nodes(along, translation, rotation if has_rotations else None, direction)
    return {
        'stiffening_direction': direction,
        'stiffening_first': np.einsum('n,nkl->kl', masses, nodes),
        'stiffening_second': np.einsum('n,n,nkl->kl', masses, along, nodes),
        'stiffening_nodes': nodes,
    }


def line_of(positions: np.ndarray) -> tuple[np.ndarray, float]:
    """
    Return the unit vector along a slender link, (3,), and its length [m].

    Args:
        positions: Of the nodes, shape (n, 3) [m].

    Raises:
        ValueError: The nodes are not on a line from the origin; the text continues "the model".
    """
    tip = positions[int(np.argmax(np.linalg.norm(positions, axis=1)))]
    ends = positions[positions @ tip > 0.98 * tip @ tip]
    if len(ends) > 2:  # the middle of a face
        tip = 0.5 * (ends.min(axis=0) + ends.max(axis=0))
    length = float(np.linalg.norm(tip))
    direction = tip / max(length, 1e-300)
    along = positions @ direction
    across = positions - along[:, None] * direction
    beside = np.linalg.norm(across, axis=1).max()
    section = np.clip(along / length * _PIECES, 0.0, _PIECES - 1.0).astype(int)
    middles = [across[section == k].mean(axis=0) for k in np.unique(section)]
    if (along.min() < -_STRAIGHT * length or beside > _SLENDER * length
            or np.linalg.norm(middles, axis=1).max() > _CENTRED * length):
        raise ValueError('has nodes or sections beside a line from the origin, or behind it, '
                         'so that it cannot be stiffened')
    return direction, length


def _of_nodes(
    along: np.ndarray, translation: np.ndarray, rotation: Optional[np.ndarray],
    direction: np.ndarray,
) -> np.ndarray:
    """Return f_kl at nodes on the line, (n, m, m) [m]."""
    from scipy.interpolate import CubicSpline

    x, first, back = np.unique(along, return_index=True, return_inverse=True)
    if rotation is not None:
        slopes = np.cross(rotation[:, first], direction)
    else:
        across = translation[:, first]
        across = across - (across @ direction)[..., None] * direction
        slopes = CubicSpline(x, across, axis=1)(x, 1)
    products = np.einsum('kna,lna->nkl', slopes, slopes)
    return np.asarray(-CubicSpline(x, products).antiderivative()(x)[back.ravel()])


def _of_sections(
    positions: np.ndarray, translation: np.ndarray, direction: np.ndarray, along: np.ndarray,
    sections: int,
) -> np.ndarray:
    """Return f_kl at nodes about the line, (n, m, m) [m]."""
    from scipy.interpolate import BSpline, CubicSpline

    m, start, end = len(translation), min(0.0, along.min()), along.max()
    pieces = min(_PIECES, sections // 2)
    knots = np.concatenate([[start] * 3, np.linspace(start, end, pieces + 1), [end] * 3])
    basis = BSpline.design_matrix(np.clip(along, start, end), knots, 3).toarray()
    one, two = np.linalg.svd(direction[None])[2][1:]
    twist = np.cross(direction, positions)
    design = np.block([
        [basis, np.zeros_like(basis), basis * (twist @ one)[:, None]],
        [np.zeros_like(basis), basis, basis * (twist @ two)[:, None]],
    ])
    wanted = np.concatenate([(translation @ one).T, (translation @ two).T])
    fitted = np.linalg.lstsq(design, wanted, rcond=1e-10)[0][: 2 * basis.shape[1]]
    lines = fitted.reshape(2, basis.shape[1], m).transpose(1, 0, 2)
    x = np.linspace(start, end, 8 * pieces + 1)
    slopes = BSpline(knots, lines, 3)(x, 1)
    products = np.einsum('nak,nal->nkl', slopes, slopes)
    return np.asarray(-CubicSpline(x, products).antiderivative()(np.clip(along, start, end)))

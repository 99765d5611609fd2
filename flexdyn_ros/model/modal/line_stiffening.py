# SPDX-License-Identifier: Apache-2.0
"""
Geometric stiffening of modes at nodes along a straight line, by foreshortening.

A line that does not stretch shortens its projection: its points move along it by
1/2 sum_kl f_kl delta_k delta_l with f_kl(x) = -int_0^x phi_k' . phi_l' dx, slopes across the line
(foreshortening.py). The slopes are the nodes' rotations, of plane cross-sections, or else the
derivatives of cubic splines through their displacements.
"""

from __future__ import annotations

import numpy as np

# Nodes that resolve the slopes of some modes.
FEWEST = 17
# Distance from the line, relative to its length.
_STRAIGHT = 1e-3


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
    from scipy.interpolate import CubicSpline

    tip = positions[int(np.argmax(np.linalg.norm(positions, axis=1)))]
    length = float(np.linalg.norm(tip))
    direction = tip / length
    along = positions @ direction
    beside = np.linalg.norm(positions - along[:, None] * direction, axis=1).max()
    if beside > _STRAIGHT * length or along.min() < -_STRAIGHT * length:
        raise ValueError('has nodes beside a line from the origin, so that it cannot be stiffened')
    order = np.argsort(along, kind='stable')
    x = along[order]
    if len(x) < FEWEST or np.diff(x).min() <= 0.0 or x[0] > _STRAIGHT * length:
        raise ValueError(f'has no {FEWEST} different nodes on the line from its root, so that it '
                         'cannot be stiffened')
    if has_rotations:
        slopes = np.cross(rotation[:, order], direction)
    else:
        across = translation[:, order] - (translation[:, order] @ direction)[..., None] * direction
        slopes = CubicSpline(x, across, axis=1)(x, 1)
    products = np.einsum('kna,lna->nkl', slopes, slopes)
    values = -CubicSpline(x, products).antiderivative()(x)
    nodes = np.empty_like(values)
    nodes[order] = values
    return {
        'stiffening_direction': direction,
        'stiffening_first': np.einsum('n,nkl->kl', masses, nodes),
        'stiffening_second': np.einsum('n,n,nkl->kl', masses, along, nodes),
        'stiffening_nodes': nodes,
    }

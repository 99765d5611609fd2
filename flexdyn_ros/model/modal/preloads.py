# SPDX-License-Identifier: Apache-2.0
"""
Geometric stiffening of modes from pairs of stiffness matrices, with and without a load.

A slender link lies along a line with the direction d from its root. Its points move along d by
1/2 sum_kl f_kl delta_k delta_l (foreshortening.py), on which loads along d do work. With shapes
Phi and the change dK of the stiffness matrix by a load, Phi^T dK Phi is

- -F f of a node, by a force F at that node along d,
- -a int f dm, by an acceleration field a along d, as gravity,
- -w^2 int x f dm, by rotation at the rate w about an axis through the root across d.

The loads are reference loads of unit size (Wallrapp, "Standardization of flexible body modeling in
multibody system codes, part I", Mechanics of Structures and Machines 22, 1994, section 4). The
change must be that by stress alone: spin softening, of the load's direction, follows from the
motion.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Optional, Sequence

import numpy as np

# Negative part of a change of stiffness by tension that is rounding or discretisation.
_SOFTER = 1e-2
_LOADS = ('acceleration', 'rotation', 'force')


@dataclass(frozen=True, eq=False)
class Preload:
    """
    A load and the stiffness matrix of the link under it.

    Attributes:
        kind: acceleration, rotation or force.
        amount: Acceleration [m/s^2], rate [rad/s] or force [N], in tension positive.
        stiffness: In SI units, shape (N, N).
        node: Number of the node that the force acts on.
    """

    kind: str
    amount: float
    stiffness: Any
    node: Optional[int] = None

    @property
    def name(self) -> str:
        """Return it as the command line names it."""
        return self.kind if self.node is None else f'{self.kind}:{self.node}'


def parsed_load(text: str, amount: str) -> tuple[str, float, Optional[int]]:
    """Return kind, amount and node of `acceleration`, `rotation` or `force:NODE`."""
    kind, _, node = text.partition(':')
    if kind not in _LOADS or (kind == 'force') is not node.isdecimal() or len(node) > 15:
        raise ValueError(f'the load "{text}" is none of acceleration, rotation and force:NODE')
    try:
        size = float(amount)
    except ValueError:
        size = 0.0
    if not math.isfinite(size) or size == 0.0:
        raise ValueError(f'the load "{text}" has the amount "{amount}", not a finite number other '
                         'than zero')
    return kind, size, int(node) if node else None


def preload_stiffening(
    preloads: Sequence[Preload], stiffness: Any, shapes: np.ndarray, direction: np.ndarray,
    node_ids: Sequence[int], interface: Sequence[int],
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """
    Return the arrays `stiffening_...` of docs/modal_files.md, and their nodes.

    Args:
        preloads: The loads.
        stiffness: Without load, (N, N).
        shapes: Of the modes, (N, m).
        direction: Along the link, unit vector (3,).
        node_ids: Numbers of the nodes, length n; f is zero where no force acts.
        interface: Numbers of the nodes that carry loads, each of which needs a force.

    Raises:
        ValueError: A load is missing, given twice or softens the link; the text continues
            "the model".
    """
    found: dict[str, np.ndarray] = {}
    for load in preloads:
        change = shapes.T @ ((load.stiffness - stiffness) @ shapes)
        size = load.amount**2 if load.kind == 'rotation' else load.amount
        change = -0.5 * (change + change.T) / size
        values = np.linalg.eigvalsh(change)
        if not values[0] < 0.0 or values[-1] > -_SOFTER * values[0]:
            raise ValueError(
                f'does not grow stiffer by the preload "{load.name}". Give amounts that pull at '
                'the link as positive, and stiffness by stress alone, without spin softening')
        if load.name in found:
            raise ValueError(f'has the preload "{load.name}" twice')
        found[load.name] = change
    for name in ('acceleration', 'rotation', *(f'force:{node}' for node in interface)):
        if name not in found:
            raise ValueError(f'lacks the preload "{name}"')
    nodes = np.zeros((len(node_ids), *found['rotation'].shape))
    given = np.zeros(len(nodes), dtype=bool)
    for load in preloads:
        if load.node is not None:
            if load.node not in node_ids:
                raise ValueError(f'has no node {load.node}')
            at = list(node_ids).index(load.node)
            nodes[at], given[at] = found[load.name], True
    return {
        'stiffening_direction': direction, 'stiffening_first': found['acceleration'],
        'stiffening_second': found['rotation'], 'stiffening_nodes': nodes,
    }, given

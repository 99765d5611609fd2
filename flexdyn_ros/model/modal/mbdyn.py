# SPDX-License-Identifier: Apache-2.0
"""
Modes of a link in MBDyn's `.fem` text: numbered groups of numbers, with lumped masses at nodes.

Sources are the MBDyn input manual, section "Modal joint", and its program femgen. Group 1 holds
the numbers of nodes and modes, 2 the nodes' numbers, 5 to 7 their x, y and z. Group 8 holds the
shapes (six numbers a node, mode by mode), 9 and 10 modal mass and stiffness. Group 11 holds six
lumped masses a node, 13 damping. Lines
that start with ** are comments, but for the headings of groups.
"""

from __future__ import annotations

from pathlib import Path
import re
from typing import Any, Iterable

from flexdyn_ros.model.modal.sid_blocks import LARGEST_NUMBER
import numpy as np

# Bytes of a file.
LARGEST = 2**27
_NAMES = {
    2: 'nodes', 5: 'x coordinates', 6: 'y coordinates', 7: 'z coordinates', 8: 'shapes',
    9: 'modal mass', 10: 'modal stiffness', 11: 'lumped masses', 13: 'damping',
}


def read_fem(path: Path) -> dict[str, Any]:
    """
    Return the arrays of a .fem file by their names in docs/modal_files.md.

    Raises:
        ValueError: The file is no .fem file, or has no lumped masses; the text continues
            `file="path"`.
    """
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise ValueError(f'is no file of at most {LARGEST} bytes')
    with open(path, encoding='latin-1') as lines:
        groups = _groups(lines)
    head = re.fullmatch(r'\S+ (\d{1,8}) (\d{1,8})( \d+)*', ' '.join(groups.get(1, ['?'])))
    if head is None or not int(head[1]) or not int(head[2]):
        raise ValueError('is no .fem file: "RECORD GROUP 1" does not count nodes and modes')
    n, m = int(head[1]), int(head[2])

    def numbers(group: int, *shape: int) -> np.ndarray:
        words = groups.get(group)
        size = int(np.prod(shape))
        if words is None or len(words) != size:
            found = 'no' if words is None else len(words)
            raise ValueError(f'holds {found} numbers of {_NAMES[group]} (group {group}), not '
                             f'{size} for {n} nodes and {m} modes')
        try:
            values = np.array([float(word.upper().replace('D', 'E')) for word in words])
        except ValueError:
            values = np.array([np.nan])
        if not np.all(np.abs(values) <= LARGEST_NUMBER):
            raise ValueError(f'holds {_NAMES[group]} (group {group}) that are no finite numbers')
        return values.reshape(shape)

    shapes, masses = numbers(8, m, n, 6), numbers(11, n, 6)
    mass = masses[:, :3].mean(axis=1)
    if np.abs(masses[:, :3] - mass[:, None]).max() > 1e-6 * np.abs(mass).max():
        raise ValueError('holds lumped masses (group 11) that depend on the direction')
    given = {
        'node_ids': numbers(2, n),
        'node_positions': np.stack([numbers(5 + a, n) for a in range(3)], axis=1),
        'translation': shapes[..., :3], 'rotation': shapes[..., 3:],
        'modal_mass': numbers(9, m, m), 'stiffness': numbers(10, m, m),
        'node_masses': mass, 'node_inertias': masses[:, 3:, None] * np.eye(3),
    }
    return given if 13 not in groups else {**given, 'damping': numbers(13, m, m)}


def _groups(lines: Iterable[str]) -> dict[int, list[str]]:
    """Return the words of each group."""
    found: dict[int, list[str]] = {}
    current: list[str] = []
    for line in lines:
        heading = re.match(r'\*\*\s*RECORD GROUP\s+(\d{1,3})\b', line.strip())
        if heading:
            if int(heading[1]) in found:
                raise ValueError(f'holds group {int(heading[1])} twice')
            current = found.setdefault(int(heading[1]), [])
        elif not line.lstrip().startswith('**'):
            current.extend(line.split())
    return found

# SPDX-License-Identifier: Apache-2.0
"""
URDF text of chains in van der Merwe's notation: gimbal rotations and displacements.

The rotation of a link's frame comes from its own gamma, the place of its origin from the
displacement of the link before. A displacement that the joint moves carries the link along.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np
from validation.studies import turn

AXES = ('rx', 'ry', 'rz', 'tx', 'ty', 'tz')
SIX = ' '.join(AXES)


def numbers(values: Any) -> str:
    """Return numbers as the text of an attribute, with all their digits."""
    return ' '.join(repr(float(x)) for x in np.ravel(values))


def origin(position: Any, rotation: Optional[np.ndarray] = None) -> str:
    """Return an <origin>."""
    r = np.eye(3) if rotation is None else rotation
    angles = (
        np.arctan2(r[2, 1], r[2, 2]), -np.arcsin(np.clip(r[2, 0], -1, 1)),
        np.arctan2(r[1, 0], r[0, 0]),
    )
    return f'<origin xyz="{numbers(position)}" rpy="{numbers(angles)}"/>'


def joint(name: str, kind: str, parent: str, child: str, where: str, inner: str = '') -> str:
    """Return a <joint>."""
    return (
        f'<joint name="{name}" type="{kind}">{where}<parent link="{parent}"/>'
        f'<child link="{child}"/>{inner}</joint>'
    )


def body(name: str, mass: float, com: Any, moments: Any) -> str:
    """Return a <link> with a diagonal inertia about its centre of mass."""
    xx, yy, zz = (numbers(m) for m in moments)
    return (
        f'<link name="{name}"><inertial><origin xyz="{numbers(com)}"/>'
        f'<mass value="{numbers(mass)}"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


class Chain:
    """
    A chain of links from a root link.

    Args:
        links: Tables with gamma, axes, mass, com and inertia_com.
        base: Place of the first frame in the root frame [m].
        prefix: Begins the names of its links and joints, `<prefix>link1`, `<prefix>joint1`.
        root: Name of the root link, which the caller writes.
        cut: Whether each link hangs on a joint of all six axes at its frame's origin, so that the
            load passed there is a joint force. The frames then stay at the gimbals' centres.
        orientation: Rotation of the base of the chain.

    Attributes:
        text: Links and joints; `<prefix>tip` is a frame at the end of the last link.
        extension: The content of <flexdyn>.
        coordinates: Names of the coordinates in the order of the axes, chain outward.
    """

    def __init__(
        self, links: Sequence[dict], base: Any = (0, 0, 0), prefix: str = '', root: str = 'base',
        cut: bool = False, orientation: Optional[np.ndarray] = None,
    ):
        self.text, self.extension = '', ''
        self.coordinates: list[str] = []
        self.prefix = prefix
        parent, place = root, np.array(base, float)
        start = np.eye(3) if orientation is None else orientation
        for number, link in enumerate(links, 1):
            gamma, axes = np.array(link['gamma'], float), link['axes']
            name = f'{prefix}link{number}'
            moved = np.array([gamma[k] if k in axes else 0.0 for k in range(3, 6)])
            com = np.array(link['com'], float)
            parent = self._joints(number, gamma, axes, parent, place, start, name, cut)
            if cut:
                self.text += joint(
                    f'{prefix}cut{number}', 'floating', parent, name, origin(-moved)
                )
                self.extension += f'<multi_axis_joint joint="{prefix}cut{number}" axes="{SIX}"/>'
                place = gamma[3:]
            else:
                com = com - moved
                place = gamma[3:] - moved
            self.text += body(name, link['mass'], com, link['inertia_com'])
            parent, start = name, np.eye(3)
        self.end = parent
        self.text += f'<link name="{prefix}tip"/>' + joint(
            f'{prefix}end', 'fixed', parent, f'{prefix}tip', origin(place)
        )

    def _joints(
        self, number: int, gamma: np.ndarray, axes: Sequence[int], parent: str, place: np.ndarray,
        rotation: np.ndarray, name: str, cut: bool,
    ) -> str:
        """Write the joints to a link, one for each group of axes without a fixed turn inside."""
        groups: list[list[Any]] = [[rotation, []]]
        for k in range(3):
            if k in axes:
                groups[-1][1].append(k)
            elif gamma[k]:
                if groups[-1][1]:
                    groups.append([np.eye(3), []])
                groups[-1][0] = groups[-1][0] @ turn(k, gamma[k])
        groups[-1][1] += [k for k in axes if k >= 3]
        for part, (rotation, group) in enumerate(groups):
            last = part == len(groups) - 1 and not cut
            child = name if last else f'{name}_{part}'
            label = f'{self.prefix}joint{number}' + (f'_{part}' if len(groups) > 1 else '')
            kind = 'floating' if group else 'fixed'
            self.text += joint(label, kind, parent, child, origin(place, rotation))
            if group:
                words = ' '.join(AXES[k] for k in group)
                self.extension += f'<multi_axis_joint joint="{label}" axes="{words}"/>'
                self.coordinates += [f'{label}/{AXES[k]}' for k in group]
            if not last:
                self.text += f'<link name="{child}"/>'
            parent, place = child, np.zeros(3)
        return parent


def chain_urdf(
    links: Sequence[dict], gravity: Any, extension: str = '', **options: Any
) -> str:
    """Return the URDF text of one chain on a link `base`."""
    chain = Chain(links, **options)
    return robot_text([chain], gravity, extension)


def robot_text(
    chains: Sequence[Chain], gravity: Any, extension: str = '', links: str = ''
) -> str:
    """Return the URDF text of several chains on a link `base`, with more links and extension."""
    inside = ''.join(chain.extension for chain in chains) + extension
    return (
        f'<robot name="chain"><link name="base"/>{links}'
        + ''.join(chain.text for chain in chains)
        + f'<flexdyn version="1.0"><gravity xyz="{numbers(gravity)}"/>{inside}</flexdyn></robot>'
    )

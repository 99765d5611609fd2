# SPDX-License-Identifier: Apache-2.0
"""URDF text of serial arms given by standard Denavit-Hartenberg parameters."""

from __future__ import annotations

import numpy as np
from oracles.random_robots import inertial_xml, numbers

TAGS = ('bending axis="y"', 'bending axis="z"', 'torsion')


def rotation_x(angle: float) -> np.ndarray:
    """Return the rotation about x by `angle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _joint_xml(k: int, kind: str, a: float, alpha: float, offset: float, previous: str) -> str:
    place = np.array([a, 0.0, 0.0]) + rotation_x(alpha) @ np.array([0.0, 0.0, offset])
    return (
        f'<joint name="joint{k}" type="{kind}"><origin xyz="{numbers(place)}" '
        f'rpy="{numbers([alpha, 0.0, 0.0])}"/><parent link="{previous}"/><child link="link{k}"/>'
        '<axis xyz="0 0 1"/><limit lower="-10" upper="10" effort="1e4" velocity="100"/></joint>'
    )


def chain_urdf(links, name: str = 'chain', extension: str = '') -> str:
    """
    Return the URDF of a chain whose link frames stand at the proximal joints.

    Args:
        links: Dicts with `type` (R or P), `alpha` [rad], `a` and `d` [m]. For rigid links also `m`
            [kg], `com` and `J_cm` (diagonal), both in the distal frame.
        name: The robot's name.
        extension: Content of the <flexdyn> element.
    """
    text = [f'<robot name="{name}"><link name="base"/>']
    previous, a, alpha = 'base', 0.0, 0.0
    for k, link in enumerate(links, 1):
        kind = 'prismatic' if link.get('type', 'R') == 'P' else 'continuous'
        text.append(_joint_xml(k, kind, a, alpha, link.get('d', 0.0), previous))
        a, alpha = link.get('a', 0.0), link['alpha']
        body = ''
        if 'm' in link:
            turn = rotation_x(alpha)
            com = np.array([a, 0.0, 0.0]) + turn @ np.asarray(link['com'], float)
            body = inertial_xml(link['m'], com, turn @ np.diag(link['J_cm']) @ turn.T)
        text.append(f'<link name="link{k}">{body}</link>')
        previous = f'link{k}'
    text.append(
        f'<link name="tip"/><joint name="tip_joint" type="fixed"><origin xyz="{numbers(a)} 0 0" '
        f'rpy="{numbers([alpha, 0.0, 0.0])}"/><parent link="{previous}"/>'
        '<child link="tip"/></joint>'
    )
    text.append(f'<flexdyn version="1.0">{extension}</flexdyn></robot>')
    return '\n'.join(text)


def king_extension(links, rotation: str = 'linear', gravity=(0.0, 0.0, -9.81)) -> str:
    """Return the <flexdyn> content of KingLinks (oracles.king) named link1, link2, ..."""
    text = [f'<gravity xyz="{numbers(gravity)}"/>']
    young, area = 1e9, 1e-3
    for k, link in enumerate(links, 1):
        y_axis = rotation_x(link.alpha)[:, 1]
        density = link.mass / (area * link.length)
        along_y, along_z, twist = (r / young for r in link.rigidity)
        polar = numbers(link.polar_line / density)
        families = ''.join(
            f'<{tag} modes="{n}"/>'
            for tag, n in zip(TAGS, link.modes, strict=True) if n
        )
        point = f'<point_mass at="1" mass="{numbers(link.tip_mass)}"/>' if link.tip_mass else ''
        text.append(
            f'<flexible_link link="link{k}" geometric_stiffening="false" rotation="{rotation}">'
            f'<beam tip="{numbers(link.length)} 0 0" y_axis="{numbers(y_axis)}" '
            f'young="{young!r}" shear="{young!r}" area="{area!r}" iy="{numbers(along_z)}" '
            f'iz="{numbers(along_y)}" j="{numbers(twist)}" polar="{polar}" '
            f'mass="{numbers(link.mass)}">'
            f'{families}{point}</beam></flexible_link>'
        )
    return ''.join(text)

# SPDX-License-Identifier: Apache-2.0
"""
The SDOF notation of a serial chain of rigid links.

A link has six numbers gamma. Three are gimbal rotations of its frame against the frame before,
about x, the turned y, the twice turned z [rad]. Three are the displacement of the next frame's
origin, in axes of its own frame [m]. `axes` are the numbers, 0 to 5, of those that its joint
moves: q replaces them. A link slides through its gimbal: a displacement that the joint moves
carries it along (van der Merwe, Multi-body dynamics of robotic structures, Rand Afrikaans
University, 1995, section 2.6).

A file is YAML text:

    name: arm
    gravity: [0, -9.81, 0]                # root frame [m/s^2]
    base: [0, 0, 0]                       # first frame's origin in the root frame [m]
    links:
      - name: upper                       # "link1" and so on where it is omitted
        gamma: [0, 0, 0, 0.8, 0, 0]
        axes: [2, 3]
        mass: 2.0                         # [kg]
        com: [0.3, 0, 0]                  # own frame, axes of gamma at its values [m]
        inertia_com: [0.002, 0.25, 0.25]  # three moments or three rows, about com [kg m^2]
        viscous: [0.1, 0]                 # of each of the axes [N m s/rad | N s/m]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from flexdyn_ros.errors import did_you_mean, ModelError
import numpy as np
import yaml

_CHAIN = ('name', 'gravity', 'base', 'links')
_LINK = ('name', 'gamma', 'axes', 'mass', 'com', 'inertia_com', 'viscous')


@dataclass
class SdofLink:
    """
    A link and the joint before it.

    Attributes:
        name: Its name.
        gamma: Three rotations [rad] and three displacements [m], (6,).
        axes: Numbers of the entries that the joint moves, rising.
        mass: [kg].
        com: Centre of mass, (3,) [m].
        inertia: About it, (3, 3) [kg m^2].
        viscous: Friction of each of the axes [N m s/rad | N s/m].
    """

    name: str
    gamma: np.ndarray = field(default_factory=lambda: np.zeros(6))
    axes: tuple[int, ...] = ()
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    viscous: tuple[float, ...] = ()


@dataclass
class SdofChain:
    """
    A chain of links.

    Attributes:
        name: Its name.
        gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
        base: Place of the first frame's origin in the root frame, (3,) [m].
        links: Its links, outward.
    """

    name: str
    gravity: np.ndarray
    base: np.ndarray
    links: list[SdofLink]


def turn(axis: int, angle: float) -> np.ndarray:
    """Return the rotation by an angle [rad] about frame axis number `axis`, (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    second, third = (axis + 1) % 3, (axis + 2) % 3
    rotation = np.eye(3)
    rotation[second, second] = rotation[third, third] = c
    rotation[third, second], rotation[second, third] = s, -s
    return rotation


def read_sdof(text: str, file: str) -> SdofChain:
    """
    Return the chain that a text describes.

    Args:
        text: YAML, see above.
        file: Its name, for errors.

    Raises:
        ModelError: It is no YAML, a key is unknown or missing, or a value is wrong.
    """
    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ModelError(f'is no YAML: {error}', file=file) from error
    _check_keys(given, _CHAIN, 'chain', file)
    if not isinstance(given.get('links'), list) or not given['links']:
        raise ModelError('has no links', file=file, advice='Write a list "links"')
    links = []
    for number, each in enumerate(given['links'], 1):
        _check_keys(each, _LINK, f'link {number}', file)
        links.append(_link(each, f'link{number}', file))
    names = [link.name for link in links]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None or 'base' in names or 'tip' in names:
        raise ModelError(
            f'names a link "{twice or "base or tip"}"', file=file,
            advice='Give each link its own name; "base" and "tip" are taken',
        )
    return SdofChain(
        str(given.get('name', 'chain')),
        _numbers(given, 'gravity', (3,), file, (0.0, 0.0, -9.81)),
        _numbers(given, 'base', (3,), file, np.zeros(3)), links,
    )


def write_sdof(chain: SdofChain) -> str:
    """Return the text of a chain, which `read_sdof` reads."""
    return yaml.safe_dump({
        'name': chain.name, 'gravity': chain.gravity.tolist(), 'base': chain.base.tolist(),
        'links': [{
            'name': link.name, 'gamma': link.gamma.tolist(), 'axes': list(link.axes),
            'mass': float(link.mass), 'com': link.com.tolist(),
            'inertia_com': link.inertia.tolist(), 'viscous': list(map(float, link.viscous)),
        } for link in chain.links],
    }, sort_keys=False, default_flow_style=None, width=10000)


def _check_keys(given: Any, known: tuple[str, ...], what: str, file: str) -> None:
    if not isinstance(given, Mapping):
        raise ModelError(f'{what} is {given!r:.40}, expected keys and values', file=file)
    for key in given:
        if key not in known:
            raise ModelError(
                f'{what} has the unknown key "{key}"', file=file, advice=did_you_mean(key, known)
            )


def _link(given: Mapping[str, Any], name: str, file: str) -> SdofLink:
    name = str(given.get('name', name))
    axes = given.get('axes', [])
    if not isinstance(axes, list) or axes != [k for k in range(6) if k in axes]:
        raise ModelError(
            f'axes of link "{name}" are {axes}', file=file,
            advice='Write some of 0 1 2 (rotations) 3 4 5 (displacements), rising',
        )
    moments = given.get('inertia_com', [0.0, 0.0, 0.0])
    rows = isinstance(moments, list) and bool(moments) and isinstance(moments[0], list)
    inertia = _numbers(given, 'inertia_com', (3, 3) if rows else (3,), file, np.zeros(3))
    return SdofLink(
        name, _numbers(given, 'gamma', (6,), file), tuple(axes),
        float(_numbers(given, 'mass', (), file, 0.0)),
        _numbers(given, 'com', (3,), file, np.zeros(3)),
        inertia if rows else np.diag(inertia),
        tuple(_numbers(given, 'viscous', (len(axes),), file, np.zeros(len(axes)))),
    )


def _numbers(
    given: Mapping[str, Any], key: str, shape: tuple[int, ...], file: str, default: Any = None
) -> np.ndarray:
    value = given.get(key, default)
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.shape != shape or not np.isfinite(found).all():
        count = ' by '.join(map(str, shape)) or 'one'
        raise ModelError(
            f'{key} is {value}', file=file, advice=f'Write {count} finite numbers'
        )
    return found

# SPDX-License-Identifier: Apache-2.0
"""From a chain in the SDOF notation to URDF text with the extension."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

from flexdyn_ros.model.records.robot import DIRECTIONS
from flexdyn_ros.model.sdof.notation import SdofChain, SdofLink, turn
import numpy as np


def sdof_to_urdf(chain: SdofChain) -> str:
    """
    Return the URDF text of a chain on a link "base"; "tip" is a frame at its end.

    A joint `<link>_joint` that turns about one axis is continuous, others are <multi_axis_joint>.
    Positions are those of the notation. A gimbal with a fixed turn inside has oblique axes, which
    this turn has carried.
    """
    parts, inner = ['<link name="base"/>'], [f'<gravity xyz="{_text(chain.gravity)}"/>']
    parent, place = 'base', chain.base
    for link in chain.links:
        moved = np.array([link.gamma[k] if k in link.axes else 0.0 for k in range(3, 6)])
        rotation, directions = _gimbal(link)
        name = f'{link.name}_joint'
        kind, axis = 'floating', ''
        if not link.axes:
            kind = 'fixed'
        elif len(link.axes) == 1 and link.axes[0] < 3:
            kind, axis = 'continuous', f'<axis xyz="{_text(directions[0])}"/>'
        else:
            inner.append(_multi_axis(name, link, directions))
        inner += _friction(name, link, kind)
        parts += [_joint(name, kind, parent, link.name, place, rotation, axis),
                  _body(link, link.com - moved)]
        parent, place = link.name, link.gamma[3:] - moved
    parts += ['<link name="tip"/>', _joint('tip_joint', 'fixed', parent, 'tip', place, np.eye(3))]
    inside = '\n    '.join(inner)
    body = '\n  '.join(parts)
    return (
        f'<robot name={quoteattr(chain.name)}>\n  {body}\n  <flexdyn version="1.0">\n'
        f'    {inside}\n  </flexdyn>\n</robot>\n'
    )


def _gimbal(link: SdofLink) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the product of the fixed turns, and the axes as the turns after them leave them."""
    after = np.eye(3)
    directions: list[np.ndarray] = []
    for k in (2, 1, 0):
        if k in link.axes:
            directions.insert(0, after.T @ np.eye(3)[k])
        else:
            after = turn(k, link.gamma[k]) @ after
    return after, directions + [np.eye(3)[k - 3] for k in link.axes if k >= 3]


def _multi_axis(name: str, link: SdofLink, directions: list[np.ndarray]) -> str:
    names = [DIRECTIONS[k] for k in link.axes]
    if all(np.array_equal(each, np.eye(3)[k % 3]) for k, each in zip(link.axes, directions)):
        return f'<multi_axis_joint joint={quoteattr(name)} axes="{" ".join(names)}"/>'
    axes = ''.join(
        f'<axis name="{each}" xyz="{_text(direction)}"'
        f'{" motion=" + quoteattr("slide") if each[0] == "t" else ""}/>'
        for each, direction in zip(names, directions)
    )
    return f'<multi_axis_joint joint={quoteattr(name)}>{axes}</multi_axis_joint>'


def _friction(name: str, link: SdofLink, kind: str) -> list[str]:
    return [
        '<joint_dynamics joint={} damping="{!r}"/>'.format(
            quoteattr(name if kind == 'continuous' else f'{name}/{DIRECTIONS[k]}'), float(value)
        )
        for k, value in zip(link.axes, link.viscous) if value
    ]


def _body(link: SdofLink, com: np.ndarray) -> str:
    if not link.mass and not link.inertia.any():
        return f'<link name={quoteattr(link.name)}/>'
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertia.tolist()
    return (
        f'<link name={quoteattr(link.name)}><inertial><origin xyz="{_text(com)}"/>'
        f'<mass value="{link.mass!r}"/><inertia ixx="{xx!r}" ixy="{xy!r}" ixz="{xz!r}" '
        f'iyy="{yy!r}" iyz="{yz!r}" izz="{zz!r}"/></inertial></link>'
    )


def _joint(
    name: str, kind: str, parent: str, child: str, place: Any, rotation: np.ndarray,
    inner: str = '',
) -> str:
    r = rotation
    yaw = np.arctan2(r[1, 0], r[0, 0])
    # Of the rotation without yaw, as a pitch of 90 degrees leaves either angle arbitrary alone.
    aside = np.cos(yaw) * r[1] - np.sin(yaw) * r[0]
    pitch = np.arctan2(-r[2, 0], np.hypot(r[0, 0], r[1, 0]))
    angles = np.arctan2(-aside[2], aside[1]), pitch, yaw
    return (
        f'<joint name={quoteattr(name)} type="{kind}"><origin xyz="{_text(place)}" '
        f'rpy="{_text(angles)}"/><parent link={quoteattr(parent)}/>'
        f'<child link={quoteattr(child)}/>{inner}</joint>'
    )


def _text(values: Any) -> str:
    """Return numbers as the text of an attribute, with all their digits."""
    return ' '.join(repr(float(x)) for x in values)

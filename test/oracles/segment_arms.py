# SPDX-License-Identifier: Apache-2.0
"""A boom in segments as URDF, and the same chain written out as a plain URDF of small links."""

from __future__ import annotations

import numpy as np
from oracles.random_robots import inertial_xml, numbers, rpy_of

# Aluminium, a solid square of 40 mm, 1.25 m long.
LENGTH, AREA, SECOND, TORSION = 1.25, 1.6e-3, 0.04**4 / 12.0, 3.6e-7
YOUNG, SHEAR, DENSITY = 70e9, 26e9, 2700.0
MASS = DENSITY * AREA * LENGTH
STIFFNESS = {'x': SHEAR * TORSION, 'y': YOUNG * SECOND, 'z': YOUNG * SECOND}
POLAR = 2.0 * SECOND

BODY = inertial_xml(0.8, [0.1, 0.05, -0.02], np.diag([0.01, 0.02, 0.025]))
WRIST = (
    f'<link name="hand">{BODY}</link><joint name="wrist" type="continuous"><parent link="boom"/>'
    '<child link="hand"/><origin xyz="1.25 0.06 0" rpy="0.3 -0.2 0.5"/><axis xyz="0 1 0"/></joint>'
)


def boom(count, directions='z', placement='centred', joint='fixed', attributes='', inner='',
         more='', flexible='', inertial='', gravity='0 -9.81 0', extension=''):
    """Return a boom in segments on a joint at the root, its frame `tip` at its end."""
    return (
        f'<robot name="boom"><link name="base"/><link name="boom">{inertial}</link>'
        f'<joint name="root" type="{joint}"><parent link="base"/><child link="boom"/>'
        '<axis xyz="0 0 1"/></joint><link name="tip"/><joint name="end" type="fixed">'
        f'<parent link="boom"/><child link="tip"/><origin xyz="{LENGTH} 0 0"/></joint>{more}'
        f'<flexdyn version="1.0"><gravity xyz="{gravity}"/>{extension}'
        f'<flexible_link link="boom" {flexible}><segments count="{count}" '
        f'directions="{directions}" placement="{placement}" tip="{LENGTH} 0 0" young="{YOUNG}" '
        f'shear="{SHEAR}" area="{AREA}" iy="{SECOND!r}" iz="{SECOND!r}" j="{TORSION}" '
        f'polar="{POLAR!r}" density="{DENSITY}" {attributes}>{inner}</segments></flexible_link>'
        '</flexdyn></robot>'
    )


def plain_boom(count, directions, placement, more_at=()):
    """
    Return the boom on a continuous joint as a chain of plain links, one a rotation axis.

    Args:
        count: Bodies.
        directions: Rotation axes, such as "y z".
        placement: "centred" or "reference".
        more_at: An attached link. Distance along the boom of its joint frame, offset from there
            (3,), rotation matrix of the joint frame, axis, name, and <inertial>.
    """
    if placement == 'centred':
        hinges = (np.arange(count - 1) + 0.5) * LENGTH / (count - 1)
    else:
        hinges = np.arange(1, count) * LENGTH / count
    ends = np.array([0.0, *hinges, LENGTH])
    parts = ['<link name="base"/>', _rod('boom', ends[1]), _joint('root', 'base', 'boom')]
    carrier = ['boom']
    for number in range(1, count):
        parent, place = carrier[-1], (ends[number] - ends[number - 1], 0.0, 0.0)
        for axis in directions.split():
            name = f'boom/segment{number + 1}_{axis}'
            last = axis == directions.split()[-1]
            length = ends[number + 1] - ends[number]
            parts.append(_rod(name, length) if last else f'<link name="{name}"/>')
            direction = np.eye(3)['xyz'.index(axis)]
            parts.append(_joint(name, parent, name, place, axis=direction))
            parent, place = name, (0.0, 0.0, 0.0)
        carrier.append(parent)
    for distance, offset, rotation, axis, name, inertial in more_at:
        number = int(np.sum(hinges < distance - 1e-9))
        place = np.array([distance - ends[number], 0.0, 0.0]) + offset
        parts.append(f'<link name="{name}">{inertial}</link>')
        parts.append(_joint(f'{name}_joint', carrier[number], name, place, rotation, axis))
    return f'<robot name="plain">{"".join(parts)}</robot>'


def _rod(name, length):
    """Return a link with the inertia of a piece of the boom."""
    mass = DENSITY * AREA * length
    moments = [DENSITY * POLAR * length, mass * length**2 / 12.0, mass * length**2 / 12.0]
    return f'<link name="{name}">{inertial_xml(mass, [length / 2, 0, 0], np.diag(moments))}</link>'


def _joint(name, parent, child, place=(0.0, 0.0, 0.0), rotation=None, axis=(0.0, 0.0, 1.0)):
    rpy = np.zeros(3) if rotation is None else rpy_of(rotation)
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{numbers(place)}" rpy="{numbers(rpy)}"/><axis xyz="{numbers(axis)}"/>'
        '</joint>'
    )

# SPDX-License-Identifier: Apache-2.0
"""From <beam> to a `Beam`: its geometry, its mass, and whether it has all that its modes need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.extension_reader import Item
from flexdyn_ros.model.joint import Joint
from flexdyn_ros.model.link import Beam
from flexdyn_ros.model.link import Link
from flexdyn_ros.model.link import ModeFamily
from flexdyn_ros.model.link import PointMass
from flexdyn_ros.model.robot import Robot
from flexdyn_ros.model.values import vector3
import numpy as np

# Sine of the smallest angle between two directions that are not called parallel.
_PARALLEL = 1e-6
# Shortest length of a beam [m].
_SHORTEST = 1e-9


@dataclass(frozen=True)
class BeamFrame:
    """Length [m] of a beam and the rotation, shape (3, 3), from its axes to link axes."""

    length: float
    axes: np.ndarray


def read_beam(item: Item, link: Link, robot: Robot, hub_only: bool) -> Beam:
    """
    Return the beam of a link.

    Args:
        item: The <beam> element.
        link: The link as the URDF has it.
        robot: The robot without its extension.
        hub_only: Whether <inertial> describes the hub alone (inertial="hub").

    Raises:
        ModelError: The geometry is degenerate, or data that the modes need are missing.
    """
    frame = beam_frame(item, link, robot)
    x, y, z = (frame.axes + 0.0).tolist()
    mass = beam_mass(item, link, frame.length, hub_only)
    families = _families(item)
    _check_sections(item, families)
    polar = item.value('polar')
    return Beam(
        tip=item.value('tip'),
        axes=((x[0], x[1], x[2]), (y[0], y[1], y[2]), (z[0], z[1], z[2])),
        length=frame.length,
        mass=mass,
        young=item.value('young'),
        shear=item.value('shear'),
        area=item.value('area'),
        iy=item.value('iy'),
        iz=item.value('iz'),
        j=item.value('j'),
        polar=item.value('j') if polar is None else polar,
        rotary_inertia=item.value('rotary_inertia'),
        families=families,
        point_masses=tuple(
            PointMass(
                at=point.value('at'),
                mass=point.value('mass'),
                inertia=(point.value('ixx'), point.value('iyy'), point.value('izz')),
            )
            for point in item.all('point_mass')
        ),
    )


def beam_frame(item: Item, link: Link, robot: Robot) -> BeamFrame:
    """Return length and axes of a beam from its `tip` and, where it has one, its `y_axis`."""
    tip = _tip_position(item, link, robot)
    length = float(np.linalg.norm(tip))
    if length < _SHORTEST:
        raise item.place.error(
            f'The tip "{item.value("tip")}" lies at the origin of the link, so the beam has no '
            'length',
            'Name a joint or link away from it, or write the tip as "x y z"',
        )
    x_axis = tip / length
    written = item.value('y_axis') if item.schema.attribute('y_axis') else None
    candidates = [written] if written is not None else [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    for candidate in candidates:
        towards = np.array(candidate) / np.linalg.norm(candidate)
        across = towards - (towards @ x_axis) * x_axis
        size = np.linalg.norm(across)
        if size > _PARALLEL:
            y_axis = across / size
            axes = np.column_stack([x_axis, y_axis, np.cross(x_axis, y_axis)])
            return BeamFrame(length, axes)
    raise item.place.error(
        f'y_axis="{item.texts["y_axis"]}" is parallel to the beam',
        'Give a direction across the beam, in the link frame',
    )


def _tip_position(item: Item, link: Link, robot: Robot) -> np.ndarray:
    """Return the tip in the link frame, all joints at zero."""
    tip = item.value('tip')
    children = {joint.name: joint for joint in robot.joints if joint.parent == link.name}
    if tip in children:
        return np.array(children[tip].origin.position)
    if tip in robot.frame_names:
        return _frame_position(item, tip, link, robot)
    try:
        return np.array(vector3(tip))
    except ValueError as error:
        if any(character.isalpha() for character in tip.replace('e', '')):
            other = next((joint for joint in robot.joints if joint.name == tip), None)
            problem = f'The tip "{tip}" is neither a child joint of the link nor a link'
            if other is not None:
                problem = (
                    f'The tip "{tip}" is a joint of link "{other.parent}", not of this link'
                )
            raise item.place.error(
                problem, did_you_mean(tip, [*children, *robot.frame_names])
            ) from None
        raise item.place.error(f'tip="{tip}" {error}') from None


def _frame_position(item: Item, frame: str, link: Link, robot: Robot) -> np.ndarray:
    parent_joint: dict[str, Joint] = {joint.child: joint for joint in robot.joints}
    position, at = np.zeros(3), frame
    while at != link.name:
        if at not in parent_joint:
            raise item.place.error(
                f'The tip link "{frame}" does not hang on this link',
                'Name a link further out, a child joint, or "x y z"',
            )
        joint = parent_joint[at]
        origin = joint.origin
        position = np.array(origin.rotation) @ position + np.array(origin.position)
        at = joint.parent
    return position


def beam_mass(item: Item, link: Link, length: float, hub_only: bool) -> float:
    """Return the mass of a beam [kg]: written in one of three ways, or that of <inertial>."""
    given = [name for name in ('mass', 'density', 'linear_density') if item.written(name)]
    if len(given) > 1:
        raise item.place.error(
            f'The mass is given twice, by {" and ".join(given)}', 'Keep one of them'
        )
    if item.written('density'):
        if not item.written('area'):
            raise item.place.error('density needs area', 'Write area="..." [m^2]')
        return float(item.value('density') * item.value('area') * length)
    if item.written('linear_density'):
        return float(item.value('linear_density') * length)
    if item.written('mass'):
        return float(item.value('mass'))
    if hub_only:
        raise item.place.error(
            'The beam has no mass, and inertial="hub" leaves it none of <inertial>',
            'Write mass="..." [kg], density or linear_density',
        )
    if link.inertia is None or link.inertia.mass == 0.0:
        raise item.place.error(
            'The beam has no mass, and the link has no <inertial> to take it from',
            'Write mass="..." [kg], density or linear_density',
        )
    return link.inertia.mass


def _families(item: Item) -> tuple[ModeFamily, ...]:
    """Return the families that have modes, in the order bending_y, bending_z, torsion."""
    bending = {child.value('axis'): child for child in item.all('bending')}
    candidates: list[tuple[str, Optional[Item]]] = [
        ('bending_y', bending.get('y')),
        ('bending_z', bending.get('z')),
        ('torsion', item.child('torsion')),
    ]
    families = []
    for kind, child in candidates:
        if child is None:
            continue
        if child.value('modes') == 0:
            for name in ('damping_ratio', 'boundary'):
                if child.schema.attribute(name) and child.says(name):
                    raise child.place.error(
                        f'{name}="{child.texts[name]}" has no effect, as modes="0"',
                        'Take it out, or ask for modes',
                    )
            continue
        families.append(
            ModeFamily(
                kind=kind,
                count=child.value('modes'),
                damping_ratio=child.value('damping_ratio'),
                boundary=child.value('boundary') if 'bending' in kind else 'clamped-free',
            )
        )
    return tuple(families)


# What each kind of modes needs, and the unit of it.
_NEEDS = {
    'bending_y': (('young', 'Pa'), ('iz', 'm^4')),
    'bending_z': (('young', 'Pa'), ('iy', 'm^4')),
    'torsion': (('shear', 'Pa'), ('j', 'm^4'), ('area', 'm^2')),
}


def _check_sections(item: Item, families: tuple[ModeFamily, ...]) -> None:
    place = item.place
    for family in families:
        for name, unit in _NEEDS[family.kind]:
            if not item.written(name):
                what = family.kind.replace('_', ' along ')
                raise place.error(
                    f'Modes of {what} need {name}', f'Write {name}="..." [{unit}]'
                )
        if family.kind == 'torsion' and item.value('polar') == 0.0:
            raise place.error(
                'Torsion modes need polar inertia, but polar="0"',
                'Write polar="..." [m^4], or leave it out for polar = j',
            )
    name = 'polar' if item.written('polar') else 'j'
    if item.value(name) and not item.written('area'):
        raise place.error(
            f'{name} gives the beam inertia about its axis, rho {name} with rho = '
            'mass / (area length), and so needs area',
            'Write area="..." [m^2]',
        )
    if item.value('rotary_inertia'):
        for name, unit in (('area', 'm^2'), ('iy', 'm^4'), ('iz', 'm^4')):
            if not item.written(name):
                raise place.error(
                    f'rotary_inertia="true" needs {name}', f'Write {name}="..." [{unit}]'
                )

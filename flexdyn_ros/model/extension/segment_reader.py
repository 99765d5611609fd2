# SPDX-License-Identifier: Apache-2.0
"""From <segments> to `Segments`: geometry, mass, and whether all is there that its axes need."""

from __future__ import annotations

from flexdyn_ros.model.extension.beam_reader import beam_frame
from flexdyn_ros.model.extension.beam_reader import plain_beam
from flexdyn_ros.model.extension.drive_reader import read_friction
from flexdyn_ros.model.extension.extension_reader import Item
from flexdyn_ros.model.extension.section_reader import beam_mass
from flexdyn_ros.model.robot.joint import Friction
from flexdyn_ros.model.robot.link import Link
from flexdyn_ros.model.robot.robot import Robot
from flexdyn_ros.model.segments.segments import Segments

# What a rotation axis of the passive joints needs of the cross-section.
_NEEDS = {
    'x': (('shear', 'Pa'), ('j', 'm^4'), ('area', 'm^2')),
    'y': (('young', 'Pa'), ('iy', 'm^4')),
    'z': (('young', 'Pa'), ('iz', 'm^4')),
}


def read_segments(item: Item, link: Link, robot: Robot, hub_only: bool) -> Segments:
    """
    Return the segments of a link.

    Args:
        item: The <segments> element.
        link: The link as the URDF has it.
        robot: The robot without its extension.
        hub_only: Whether <inertial> describes the hub alone (inertial="hub").

    Raises:
        ModelError: The geometry is degenerate, or data that the axes need are missing.
    """
    frame = beam_frame(item, link, robot)
    if item.value('count') < 2:
        raise item.place.error('count must be at least 2', 'Write count="5" or the like')
    mass = beam_mass(item, link, frame.length, hub_only)
    _check_section(item)
    friction = item.child('friction')
    return Segments(
        beam=plain_beam(item, frame, mass),
        count=item.value('count'),
        directions=item.value('directions'),
        placement=item.value('placement'),
        damping_ratio=item.value('damping_ratio'),
        friction=Friction() if friction is None else read_friction(friction),
    )


def _check_section(item: Item) -> None:
    place = item.place
    for axis in item.value('directions'):
        for name, unit in _NEEDS[axis]:
            if not item.written(name):
                raise place.error(
                    f'Rotation about {axis} needs {name}', f'Write {name}="..." [{unit}]'
                )
        if axis == 'x' and item.value('polar') == 0.0:
            raise place.error(
                'Rotation about x needs polar inertia, but polar="0"',
                'Write polar="..." [m^4], or leave it out for polar = j',
            )
    name = 'polar' if item.written('polar') else 'j'
    if item.value(name) and not item.written('area'):
        raise place.error(
            f'{name} gives the segments inertia about the beam axis, rho {name} with rho = '
            'mass / (area length), and so needs area',
            'Write area="..." [m^2]',
        )

# SPDX-License-Identifier: Apache-2.0
"""From <beam> and <segments> to a beam: its geometry, families, sections and mass."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.extension.items import Item
from flexdyn_ros.model.extension.joint_reader import read_friction
from flexdyn_ros.model.extension.mass_reader import beam_mass, has_own_mass
from flexdyn_ros.model.extension.section_reader import (
    check_needs,
    check_product,
    check_sections,
    NEEDS,
    read_families,
    read_sections,
    written_properties,
)
from flexdyn_ros.model.records.beam import Beam, ModeFamily, PointMass
from flexdyn_ros.model.records.joint import Friction, Joint
from flexdyn_ros.model.records.link import Link
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.segments import PseudoRigidSegments
from flexdyn_ros.model.urdf.values import vector3
import numpy as np

# Sine of the smallest angle between two directions that are not called parallel.
_PARALLEL = 1e-6
# Shortest length of a beam [m].
_SHORTEST = 1e-9
# Modes of a beam that a rotation axis of the passive joints of segments stands for.
_KINDS = {'x': 'torsion', 'y': 'bending_z', 'z': 'bending_y'}


@dataclass(frozen=True)
class BeamFrame:
    """Length [m] of a beam and the rotation, shape (3, 3), from its axes to link axes."""

    length: float
    axes: np.ndarray


def read_beam(
    item: Item, link: Link, robot: Robot, hub_only: bool, start: np.ndarray
) -> Beam:
    """
    Return the beam of a link.

    Args:
        item: The <beam> element.
        link: The link as in the URDF, or its piece.
        robot: The robot without its extension.
        hub_only: Whether <inertial> describes the hub alone (inertial="hub").
        start: Start of the beam in the frame of the URDF's link, (3,) [m].

    Raises:
        ModelError: The geometry is degenerate, or data that the modes need are missing.
    """
    frame = beam_frame(item, link, robot, start)
    families = read_families(item)
    whole = robot.link(link.part_of or link.name)
    sections = read_sections(item, whole, frame.length, hub_only)
    check_sections(item, families, sections)
    _check_effects(item, families)
    return replace(
        plain_beam(item, frame, sections.mass),
        rotary_inertia=item.value('rotary_inertia'),
        families=families,
        stations=sections.stations,
        interpolation=item.value('interpolation'),
        loaded=item.value('loaded'),
        loss_factor=item.value('loss_factor'),
        rayleigh_mass=item.value('rayleigh_mass'),
        rayleigh_stiffness=item.value('rayleigh_stiffness'),
        shear_centre=item.value('shear_centre'),
    )


def plain_beam(item: Item, frame: BeamFrame, mass: float) -> Beam:
    """
    Return the uniform beam without modes that a <beam> and a <segments> have in common.

    Args:
        item: The element.
        frame: Length and axes of the beam.
        mass: Mass of the beam [kg].
    """
    x, y, z = (frame.axes + 0.0).tolist()
    polar = item.value('polar')
    return Beam(
        tip=item.value('tip'),
        axes=((x[0], x[1], x[2]), (y[0], y[1], y[2]), (z[0], z[1], z[2])),
        length=frame.length,
        mass=mass,
        **{name: item.value(name) for name in ('young', 'shear', 'area', 'iy', 'iz', 'j', 'iyz')},
        polar=item.value('j') if polar is None else polar,
        point_masses=tuple(
            PointMass(
                at=point.value('at'),
                mass=point.value('mass'),
                inertia=(point.value('ixx'), point.value('iyy'), point.value('izz')),
            )
            for point in item.all('point_mass')
        ),
    )


def _check_effects(item: Item, families: tuple[ModeFamily, ...]) -> None:
    """Refuse attributes that act on modes, or between stations, where there are none."""
    for name in ('loaded', 'loss_factor', 'rayleigh_mass', 'rayleigh_stiffness'):
        if item.is_set(name) and not families:
            raise item.without_effect(
                name, ', since the beam has no modes', 'Remove it, or add modes')
    if item.is_set('distribution'):
        _check_fit(item)
    if item.is_set('interpolation') and item.child('station') is None:
        raise item.without_effect(
            'interpolation', ' without stations', 'Write <station> elements, or remove it')


def _check_fit(item: Item) -> None:
    """Refuse to fit a distribution that is given."""
    if has_own_mass(item):
        raise item.without_effect(
            'distribution', ', as the beam has a mass of its own', 'Take one of them out')
    if item.child('station') is not None:
        raise item.place.error(
            'distribution="fit" contradicts the stations, along which mass is distributed like '
            'the area',
            'Take one of them out',
        )


def beam_start(item: Item, link: Link, robot: Robot, before: np.ndarray) -> np.ndarray:
    """Return the start of a beam in the link frame: its `root`, or the end of one before it."""
    if not item.written('root'):
        return before
    start = _position(item, 'root', link, robot)
    if np.array_equal(start, before):
        raise item.place.error(
            f'root="{item.texts["root"]}" is the start of the beam without it', 'Take it out'
        )
    return start


def beam_end(item: Item, link: Link, robot: Robot) -> np.ndarray:
    """Return the end of a beam in the link frame."""
    return _position(item, 'tip', link, robot)


def beam_frame(item: Item, link: Link, robot: Robot, start: np.ndarray) -> BeamFrame:
    """Return length and axes of a beam from its `tip` and, where it has one, its `y_axis`."""
    tip = beam_end(item, link, robot) - start
    length = float(np.linalg.norm(tip))
    if length < _SHORTEST:
        raise item.place.error(
            f'The tip "{item.value("tip")}" lies at the {"start" if start.any() else "origin"} of '
            f'the {"beam" if start.any() else "link"}, so the beam has no length',
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


def _position(item: Item, end: str, link: Link, robot: Robot) -> np.ndarray:
    """Return the root or tip in the frame of the URDF's link, all joints at zero."""
    tip, name = item.value(end), link.part_of or link.name
    children = {joint.name: joint for joint in robot.joints if joint.parent == name}
    if tip in children:
        return np.array(children[tip].origin.position)
    if tip in robot.frame_names:
        return _frame_position(item, tip, name, robot)
    try:
        return np.array(vector3(tip))
    except ValueError as error:
        if any(character.isalpha() for character in tip.replace('e', '')):
            other = next((joint for joint in robot.joints if joint.name == tip), None)
            problem = f'The {end} "{tip}" is neither a child joint of the link nor a link'
            if other is not None:
                problem = (
                    f'The {end} "{tip}" is a joint of link "{other.parent}", not of this link'
                )
            raise item.place.error(
                problem, did_you_mean(tip, [*children, *robot.frame_names])
            ) from None
        raise item.place.error(f'{end}="{tip}" {error}') from None


def _frame_position(item: Item, frame: str, link: str, robot: Robot) -> np.ndarray:
    parent_joint: dict[str, Joint] = {joint.child: joint for joint in robot.joints}
    position, at = np.zeros(3), frame
    while at != link:
        if at not in parent_joint:
            raise item.place.error(
                f'The link "{frame}" is not a descendant of this link',
                'Name a link further out, a child joint, or "x y z"',
            )
        joint = parent_joint[at]
        origin = joint.origin
        position = np.array(origin.rotation) @ position + np.array(origin.position)
        at = joint.parent
    return position


def read_segments(
    item: Item, link: Link, robot: Robot, hub_only: bool, start: np.ndarray
) -> PseudoRigidSegments:
    """
    Return the segments of a link.

    Args:
        item: The <segments> element.
        link: The link as in the URDF.
        robot: The robot without its extension.
        hub_only: Whether <inertial> describes the hub alone (inertial="hub").
        start: Their start in the frame of the URDF's link, (3,) [m].

    Raises:
        ModelError: The geometry is degenerate, or data that the axes need are missing.
    """
    frame = beam_frame(item, link, robot, start)
    if item.value('count') < 2:
        raise item.place.error('count must be at least 2', 'Write count="5", for instance')
    mass = beam_mass(item, link, frame.length, hub_only)
    needs = [(name, f'Rotation about {axis} needs') for axis in item.value('directions')
             for name in NEEDS[_KINDS[axis]]]
    twisting = 'Rotation about x needs' if 'x' in item.value('directions') else ''
    check_needs(item, written_properties(item), needs, twisting)
    check_product(
        item, item.written('iyz'), {'y', 'z'} <= set(item.value('directions')),
        [[item.value(name) for name in ('iy', 'iz', 'iyz')]],
    )
    friction = item.child('friction')
    return PseudoRigidSegments(
        beam=plain_beam(item, frame, mass),
        count=item.value('count'),
        directions=item.value('directions'),
        placement=item.value('placement'),
        damping_ratio=item.value('damping_ratio'),
        friction=Friction() if friction is None else read_friction(friction),
    )

# SPDX-License-Identifier: Apache-2.0
"""The extension applied to a robot: names looked up, values weighed against each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional, Sequence

from flexdyn_ros.model.beam.inertia import rigid_remainder, with_carried_bodies
from flexdyn_ros.model.beam.mass_share import massless_reason, OWN_MASS, shared_inertia
from flexdyn_ros.model.beam.tip_inertia import check_massless_beams
from flexdyn_ros.model.extension.beam_reader import read_beam, read_segments
from flexdyn_ros.model.extension.beam_row import (
    piece_of,
    placed_remainder,
    starts_of,
    with_hub,
    with_pieces,
)
from flexdyn_ros.model.extension.items import Item, link_name
from flexdyn_ros.model.extension.joint_reader import (
    driven_joint,
    with_base_motion,
    with_multi_axis_joints,
)
from flexdyn_ros.model.extension.loop_reader import read_actuated, read_loops
from flexdyn_ros.model.extension.mass_reader import has_own_mass
from flexdyn_ros.model.extension.modal_reader import (
    read_couplings,
    read_modal,
    read_mode_springs,
)
from flexdyn_ros.model.extension.sensor_reader import read_sensors
from flexdyn_ros.model.records.base import symmetric_matrix, symmetric_matrix3
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.inertia import failed_tests, Inertia, principal_moments
from flexdyn_ros.model.records.joint import Joint
from flexdyn_ros.model.records.link import Link, Payload
from flexdyn_ros.model.records.reduced import contradicting_forms, form_notes
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.section import beam_inertia
from flexdyn_ros.model.urdf.reader import TRANSMISSIONS
import numpy as np


def apply_extension(robot: Robot, extension: Optional[Item]) -> Robot:
    """
    Return the robot with its extension applied.

    Args:
        robot: The robot of the URDF proper.
        extension: All <flexdyn> elements, merged; None where there are none.

    Raises:
        ModelError: A name does not exist, or a value is out of range or has no effect.
    """
    if extension is None:
        movable = (joint.name for joint in robot.joints if joint.coordinate_names)
        return replace(robot, actuated=tuple(movable))
    robot = with_base_motion(robot, extension.child('base'))
    robot = with_multi_axis_joints(robot, extension)
    notes: list[str] = []
    links: dict[str, Link] = {}
    pieces: dict[str, Sequence[Link]] = {}
    starts: dict[str, Sequence[np.ndarray]] = {}
    for item in extension.all('flexible_link'):
        link, own, places = _bent_link(item, robot, notes)
        links[link.name] = link
        if own:
            pieces[link.name], starts[link.name] = own, places
    drives: dict[str, Joint] = {}
    for item in extension.all('joint_dynamics'):
        joint = driven_joint(item, {j.name: j for j in robot.joints} | drives, robot)
        drives[joint.name] = joint
    geared = any(item.written('gear_ratio') for item in extension.all('joint_dynamics'))
    kept = (n for n in robot.notes if not (geared and n.startswith(TRANSMISSIONS)))
    gravity = extension.child('gravity')
    changed = replace(
        robot,
        links=tuple(links.get(link.name, link) for link in robot.links),
        joints=tuple(drives.get(joint.name, joint) for joint in robot.joints),
        gravity_vector=robot.gravity_vector if gravity is None else gravity.value('xyz'),
        payloads=tuple(_payload(item, robot) for item in extension.all('payload')),
        actuated=read_actuated(extension, robot),
        notes=(*kept, *notes),
    )
    changed = with_pieces(changed, pieces, starts)
    contradiction = contradicting_forms(changed.links)
    if contradiction:
        raise extension.place.error(contradiction, 'Give all of them one form, or "exact"')
    cut_off = [link for link in changed.links if link.deflection != 'exact']
    changed = replace(changed, notes=changed.notes + form_notes(cut_off))
    changed = replace(changed, couplings=read_couplings(extension, changed))
    changed = with_carried_bodies(replace(changed, loops=read_loops(extension, changed)))
    check_massless_beams(changed)
    return replace(changed, sensors=read_sensors(extension, changed))


def _bent_link(
    item: Item, robot: Robot, notes: list[str]
) -> tuple[Link, list[Link], list[np.ndarray]]:
    """Return a link that bends, or its hub with its pieces and their starts."""
    link = robot.link(link_name(item, item.value('link'), robot))
    described = [child for child in item.children if child.schema.name != 'mode_spring']
    kinds = [child.schema.name for child in described]
    if len(set(kinds)) != 1 or (len(kinds) > 1 and kinds[0] != 'beam'):
        given = ' and '.join(f'<{kind}>' for kind in kinds) or 'nothing'
        raise item.place.error(
            f'The link is described by {given}',
            'Write exactly one of <beam>, <modal> and <segments>, or several <beam> in a row',
        )
    if item.value('inertial') == 'hub' and link.inertia is None:
        raise item.without_effect('inertial', ', since the link has no <inertial>', 'Take it out')
    if kinds == ['modal']:
        bent = _modal_link(item, described[0], link, robot, notes)
        return replace(bent, mode_springs=read_mode_springs(item, [bent])[0]), [], []
    read = {'beam': _beam_link, 'segments': _segmented_link}[kinds[0]]
    starts = starts_of(described, link, robot)
    if len(kinds) == 1 and not starts[0].any():
        bent = read(item, described[0], link, robot, notes, starts[0])
        return replace(bent, mode_springs=read_mode_springs(item, [bent])[0]), [], []
    pieces = []
    for number, (each, start) in enumerate(zip(described, starts), start=1):
        piece = piece_of(link, start, number, alone=len(kinds) == 1)
        if piece.name in (*robot.frame_names, *(joint.name for joint in robot.joints)):
            raise item.place.error(f'There is a "{piece.name}" already', 'Rename that one')
        bent = read(item, each, piece, robot, notes, start)
        pieces.append(replace(bent, part_of=piece.part_of, number=piece.number))
    hub, pieces = with_hub(item, described, link, pieces, starts, notes)
    springs = read_mode_springs(item, pieces)
    pieces = [replace(piece, mode_springs=own) for piece, own in zip(pieces, springs)]
    return hub, pieces, starts


def _beam_link(
    item: Item, given: Item, link: Link, robot: Robot, notes: list[str], start: np.ndarray
) -> Link:
    hub_only = item.value('inertial') == 'hub'
    beam = read_beam(given, link, robot, hub_only, start)
    beam, hub = _parted(link.inertia, beam, given, hub_only, notes)
    tip_inertia = None
    if given.is_set('remainder') and not link.number:
        hub, tip_inertia = placed_remainder(given, hub, beam, hub_only)
    _check_options(item, beam)
    stiffening = item.value('geometric_stiffening')
    return Link(
        link.name, hub, beam, item.value('rotation'), stiffening,
        deflection=item.value('deflection'), tip_inertia=tip_inertia,
    )


def _modal_link(item: Item, given: Item, link: Link, robot: Robot, notes: list[str]) -> Link:
    modal = read_modal(given, link, robot)
    assert modal.arrays is not None
    stiffens = modal.arrays.stiffening is not None and item.value('geometric_stiffening')
    if item.texts.get('geometric_stiffening') == 'true' and not stiffens:
        raise item.place.error(
            'geometric_stiffening="true" needs its terms, which the modal file lacks',
            'Write geometric_stiffening="false", or describe the link by <beam>',
        )
    for note in modal.arrays.notes:
        notes.append(f'Link "{link.name}": {note}. Check the export of file="{modal.file}".')
    if modal.arrays.comment:
        comment = modal.arrays.comment.rstrip('.')
        notes.append(f'Link "{link.name}": its modal file has a comment. It is: {comment}.')
    if not item.written('geometric_stiffening') and not stiffens:
        notes.append(
            f'Link "{link.name}": its modal file has no geometric stiffening. '
            'geometric_stiffening="false" avoids this note.'
        )
    hub = link.inertia
    if hub is not None and item.value('inertial') == 'total':
        hub, note = rigid_remainder(hub, modal.inertia, modal.size, 'file', given.place)
        notes.extend([note] if note else [])
    _check_reduction(item)
    return Link(
        link.name, hub, None, item.value('rotation'), stiffens, modal=modal,
        deflection=item.value('deflection'),
    )


def _segmented_link(
    item: Item, given: Item, link: Link, robot: Robot, notes: list[str], start: np.ndarray
) -> Link:
    for name, inherent in (
        ('rotation', 'exact'), ('geometric_stiffening', 'true'), ('deflection', 'exact')
    ):
        if item.texts.get(name, inherent) != inherent:
            raise item.place.error(
                f'{name}="{item.texts[name]}" is impossible with <segments>, which rotate exactly '
                'and shorten the link',
                'Remove it, or describe the link by <beam>',
            )
    hub_only = item.value('inertial') == 'hub'
    segments = read_segments(given, link, robot, hub_only, start)
    beam, hub = _parted(link.inertia, segments.beam, given, hub_only, notes)
    if beam.mass == 0.0:
        raise given.place.error(
            f'{massless_reason(beam.share or 0.0)}, and segments need mass',
            f'Describe the link by <beam>, or write {OWN_MASS}',
        )
    return Link(link.name, hub, segments=replace(segments, beam=beam))


def _parted(
    inertial: Optional[Inertia], beam: Beam, item: Item, hub_only: bool, notes: list[str]
) -> tuple[Beam, Optional[Inertia]]:
    """Return the beam and the rigid part of a link with this <inertial>."""
    if inertial is None or hub_only:
        return beam, inertial
    if not has_own_mass(item):
        fit = item.schema.name == 'beam' and item.value('distribution') == 'fit'
        beams, rest = shared_inertia(inertial, [beam], [np.zeros(3)], item.place, fit)
        return beams[0], rest
    part = beam_inertia(beam)
    hub, note = rigid_remainder(inertial, part, beam.length, 'beam', item.place)
    notes.extend([note] if note else [])
    return beam, hub


def _check_options(item: Item, beam: Beam) -> None:
    """Refuse attributes that act on modes where there are none."""
    for name, inactive in (
        ('rotation', 'exact'), ('geometric_stiffening', 'false'), ('deflection', 'exact')
    ):
        if not beam.families and item.texts.get(name, inactive) != inactive:
            raise item.without_effect(
                name, ', since the beam has no modes', 'Remove it, or add modes')
    _check_reduction(item)


def _check_reduction(item: Item) -> None:
    """Refuse two reduced forms at once, and stiffening of King's equations."""
    if item.value('rotation') == 'linear' and item.texts.get('geometric_stiffening') == 'true':
        raise item.place.error(
            'geometric_stiffening="true" contradicts rotation="linear", King\'s equations, which '
            'omit foreshortening',
            'Write rotation="exact", or geometric_stiffening="false"',
        )
    if item.value('rotation') == 'linear' and item.value('deflection') != 'exact':
        raise item.place.error(
            f'deflection="{item.value("deflection")}" contradicts rotation="linear", King\'s '
            'equations, which drop its terms of second order',
            'Keep one of them',
        )


def _payload(item: Item, robot: Robot) -> Payload:
    link = link_name(item, item.value('link'), robot)
    matrix = np.array(symmetric_matrix(
        [item.value(name) for name in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')]))
    moments = principal_moments(item.value('mass'), matrix)
    if 'positive' in failed_tests(item.value('mass'), moments):
        raise item.place.error(
            f'The inertia has a negative principal moment, {moments[0]:.4g} kg m^2',
            'Check the signs of ixy, ixz and iyz, and the units',
        )
    return Payload(link, Inertia(item.value('mass'), item.value('com'), symmetric_matrix3(matrix)))

# SPDX-License-Identifier: Apache-2.0
"""
Beams that start away from the link's frame, and several in a row: the pieces of a link.

Each piece is a link of its own behind a fixed joint, at the start of its beam and parallel to the
link's frame. It rides on the last cross-section of the piece before it. A chain of straight beams
with exact rotations thus follows a bent or curved centre line. Joints and payloads on the link are
on the piece that is nearest to them. A row's rigid remainder of <inertial> stays in the link, or
is at the row's tip.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Optional, Sequence

from flexdyn_ros.model.beam.inertia import rigid_remainder
from flexdyn_ros.model.beam.mass_share import parts_of_row, row_inertia, shared_inertia
from flexdyn_ros.model.extension.beam_reader import beam_end, beam_start
from flexdyn_ros.model.extension.items import Item
from flexdyn_ros.model.extension.mass_reader import has_own_mass
from flexdyn_ros.model.records.beam import Beam
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.joint import Joint, Pose
from flexdyn_ros.model.records.link import Link, Payload
from flexdyn_ros.model.records.robot import Robot
import numpy as np


def starts_of(described: Sequence[Item], link: Link, robot: Robot) -> list[np.ndarray]:
    """
    Return the starts of the beams or segments of a link, in its frame [m].

    Args:
        described: Its <beam> elements, from the link's frame outward, or its <segments>.
        link: The link as in the URDF.
        robot: The robot without its extension.

    Raises:
        ModelError: A start is the default, or one beam has a setting of the whole row.
    """
    starts, end = [], np.zeros(3)
    for item in described:
        starts.append(beam_start(item, link, robot, end))
        end = beam_end(item, link, robot)
        if item.schema.name == 'beam' and len(described) > 1:
            _check_in_row(item, described)
    return starts


def _check_in_row(item: Item, described: Sequence[Item]) -> None:
    """Refuse settings that one beam of a row cannot have for itself."""
    if has_own_mass(item) != has_own_mass(described[0]):
        raise item.place.error(
            'Some beams of the row have a mass of their own, and others have none',
            'Write mass="..." [kg], density or linear_density in all of them, or in none',
        )
    if item.is_set('distribution'):
        raise item.without_effect(
            'distribution', ' on a row of beams, whose density is one',
            'Take it out, or describe the link by one <beam>')
    if item.is_set('remainder') and item is not described[-1]:
        raise item.without_effect(
            'remainder', ' inside a row of beams',
            'Write it in the last one, at whose tip the remainder can be')


def piece_of(link: Link, start: np.ndarray, number: int, alone: bool) -> Link:
    """Return the link, without shape, that a piece starts from; one alone has all inertia."""
    x, y, z = start.tolist()
    inertia = link.inertia.seen_from((x, y, z)) if alone and link.inertia else None
    name = f'{link.name}/beam' + ('' if alone else str(number))
    return Link(name, inertia, part_of=link.name, number=0 if alone else number)


def with_hub(
    item: Item, described: Sequence[Item], link: Link, pieces: Sequence[Link],
    starts: Sequence[np.ndarray], notes: list[str],
) -> tuple[Link, list[Link]]:
    """
    Return the link without its pieces, and these with their mass and the last one's tip inertia.

    Args:
        item: The <flexible_link> element.
        described: Its <beam> elements, or its <segments>.
        link: The link as in the URDF.
        pieces: The links that are read from these.
        starts: Where they start in the link frame, each (3,) [m].
        notes: Receives a note where the beams replace <inertial>.

    Raises:
        ModelError: The beams leave no real body of <inertial>.
    """
    if len(pieces) == 1 or link.inertia is None:
        return Link(link.name), list(pieces)
    rest: Optional[Inertia] = link.inertia
    beams = [piece.beam for piece in pieces if piece.beam is not None]
    if item.value('inertial') == 'total' and has_own_mass(described[0]):
        part, length = row_inertia(beams, starts).rigid_body(0.0), sum(b.length for b in beams)
        rest, note = rigid_remainder(link.inertia, part, length, 'row of beams', item.place)
        notes.extend([note] if note else [])
    elif item.value('inertial') == 'total':
        beams, rest = shared_inertia(link.inertia, parts_of_row(beams), starts, item.place)
    found = [replace(piece, beam=beam) for piece, beam in zip(pieces, beams)]
    if described[-1].is_set('remainder'):
        hub_only = item.value('inertial') == 'hub'
        rest, tip = placed_remainder(described[-1], rest, beams[-1], hub_only)
        x, y, z = starts[-1].tolist()
        found[-1] = replace(found[-1], tip_inertia=tip.seen_from((x, y, z)) if tip else None)
    return Link(link.name, rest), found


def placed_remainder(
    item: Item, rest: Optional[Inertia], beam: Beam, hub_only: bool
) -> tuple[Optional[Inertia], Optional[Inertia]]:
    """Return the rigid bodies at root and tip that the rest of <inertial> becomes."""
    if rest is None or hub_only or not beam.families:
        why = 'does not share <inertial>' if hub_only else 'leaves nothing of <inertial>'
        why = why if beam.families else 'has no modes'
        raise item.without_effect('remainder', f': the beam {why}', 'Take it out')
    if item.value('remainder') == 'both':
        return rest.times(0.5), rest.times(0.5)
    return (None, rest) if item.value('remainder') == 'tip' else (rest, None)


def with_pieces(
    robot: Robot, pieces: Mapping[str, Sequence[Link]], starts: Mapping[str, Sequence[np.ndarray]]
) -> Robot:
    """
    Return the robot with pieces of links, and with these links' joints and payloads on the pieces.

    Args:
        robot: The robot; the links with pieces are rigid.
        pieces: Of each divided link, from its frame outward.
        starts: Their starts in the link's frame [m].
    """
    if not pieces:
        return robot
    links: list[Link] = []
    for link in robot.links:
        links += [link, *pieces.get(link.name, ())]
    joints = _fixed_joints(pieces.get(robot.root, ()), starts.get(robot.root, ()))
    for joint in robot.joints:
        joints.append(joint)
        joints += _fixed_joints(pieces.get(joint.child, ()), starts.get(joint.child, ()))
    divided = replace(robot, links=tuple(links), joints=tuple(joints))
    moved = []
    for joint in joints:
        if joint.parent in pieces and joint.child not in [p.name for p in pieces[joint.parent]]:
            parent, position = divided.holder(joint.parent, joint.origin.position)
            origin = replace(joint.origin, position=position)
            joint = replace(joint, parent=parent, origin=origin)
        moved.append(joint)
    payloads = []
    for payload in divided.payloads:
        carrier, com = divided.holder(payload.link, payload.inertia.com)
        payloads.append(Payload(carrier, replace(payload.inertia, com=com)))
    return replace(divided, joints=tuple(moved), payloads=tuple(payloads))


def _fixed_joints(pieces: Sequence[Link], starts: Sequence[np.ndarray]) -> list[Joint]:
    """Return the joints that hold the pieces of a link, each on the one before it."""
    found, before, parent = [], np.zeros(3), ''
    for piece, start in zip(pieces, starts):
        x, y, z = (start - before).tolist()
        found.append(
            Joint(piece.name, 'fixed', parent or piece.part_of, piece.name, Pose((x, y, z))))
        before, parent = start, piece.name
    return found

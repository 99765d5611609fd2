# SPDX-License-Identifier: Apache-2.0
"""
Beams that start away from the link's frame, and several in a row: the pieces of a link.

Each piece is a link of its own behind a fixed joint, at the start of its beam and parallel to the
link's frame. It rides on the last cross-section of the piece before it. A chain of straight beams
with exact rotations thus follows a bent or curved centre line. What hangs on the link hangs on the
piece that is nearest to it. A row's rigid remainder of <inertial> stays in the link.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence

from flexdyn_ros.model.beam.inertia import rigid_remainder
from flexdyn_ros.model.extension.beam_reader import beam_end, beam_start
from flexdyn_ros.model.extension.items import Item
from flexdyn_ros.model.extension.mass_reader import has_own_mass
from flexdyn_ros.model.records.inertia import MassMoments, NO_MASS
from flexdyn_ros.model.records.joint import Joint, Pose
from flexdyn_ros.model.records.link import Link, Payload
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.section import beam_inertia
import numpy as np


def starts_of(described: Sequence[Item], link: Link, robot: Robot) -> list[np.ndarray]:
    """
    Return where the beams or segments of a link start, in its frame [m].

    Args:
        described: Its <beam> elements, from the link's frame outward, or its <segments>.
        link: The link as the URDF has it.
        robot: The robot without its extension.

    Raises:
        ModelError: A beam of a row has no mass of its own, or a start is the default.
    """
    starts, end = [], np.zeros(3)
    for item in described:
        starts.append(beam_start(item, link, robot, end))
        if len(described) > 1 and not has_own_mass(item):
            raise item.place.error(
                'A beam in a row needs a mass of its own',
                'Write mass="..." [kg], density or linear_density',
            )
        end = beam_end(item, link, robot)
    return starts


def piece_of(link: Link, start: np.ndarray, number: int, alone: bool) -> Link:
    """Return the link, without shape, that a piece starts from; one alone has all inertia."""
    x, y, z = start.tolist()
    inertia = link.inertia.seen_from((x, y, z)) if alone and link.inertia else None
    name = f'{link.name}/beam' + ('' if alone else str(number))
    return Link(name, inertia, part_of=link.name, number=0 if alone else number)


def hub_of(
    item: Item, link: Link, pieces: Sequence[Link], starts: Sequence[np.ndarray],
    notes: list[str],
) -> Link:
    """Return the link without its pieces: what these leave of <inertial>."""
    if len(pieces) == 1 or link.inertia is None or item.value('inertial') == 'hub':
        return Link(link.name, None if len(pieces) == 1 else link.inertia)
    total, length = NO_MASS, 0.0
    for piece, start in zip(pieces, starts):
        assert piece.beam is not None
        x, y, z = (-start).tolist()
        total += MassMoments.of(beam_inertia(piece.beam).seen_from((x, y, z)))
        length += piece.beam.length
    part = total.rigid_body(0.0)
    hub, note = rigid_remainder(link.inertia, part, length, 'row of beams', item.place)
    notes.extend([note] if note else [])
    return Link(link.name, hub)


def with_pieces(
    robot: Robot, pieces: Mapping[str, Sequence[Link]], starts: Mapping[str, Sequence[np.ndarray]]
) -> Robot:
    """
    Return the robot with pieces of links, and with what hangs on these links on the pieces.

    Args:
        robot: The robot; the links with pieces are rigid.
        pieces: Of each divided link, from its frame outward.
        starts: Where they start in the link's frame [m].
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

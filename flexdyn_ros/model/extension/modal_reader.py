# SPDX-License-Identifier: Apache-2.0
"""From <modal> and <mode_spring> to the modes of a link from a file, and nonlinear stiffness."""

from __future__ import annotations

from dataclasses import replace
import hashlib
from pathlib import Path
from typing import Sequence

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.extension.items import Item, joint_name
from flexdyn_ros.model.modal.clamping import clamped_at
from flexdyn_ros.model.modal.files import read_modal_file
from flexdyn_ros.model.records.base import Vector3
from flexdyn_ros.model.records.link import Link, ModeSpring
from flexdyn_ros.model.records.modal import ModalArrays, ModalData
from flexdyn_ros.model.records.robot import ModeCoupling, Robot
from flexdyn_ros.model.urdf.document import resolve_file
import numpy as np

# A node whose shapes move less than this fraction of their largest does not move.
STILL = 1e-6


def read_modal(item: Item, link: Link, robot: Robot) -> ModalData:
    """
    Return the modes of a link out of a file.

    Args:
        item: The <modal> element.
        link: The link as in the URDF.
        robot: The robot without its extension.

    Raises:
        ModelError: The file is missing or wrong, or does not fit the link.
    """
    address = item.value('file')
    attached = _attached_nodes(item, link, robot)
    try:
        path = resolve_file(address, item.document.base_dir)
    except ValueError as error:
        raise item.place.error(
            f'file="{address}" {error}', 'Correct the path, or give base_dir'
        ) from None
    try:
        arrays = read_modal_file(path, item.value('format'))
    except ValueError as error:
        raise item.place.error(
            f'file="{address}" {error}', 'Compare it with docs/modal_files.md'
        ) from None
    known = arrays.mode_numbers.tolist()
    modes = item.value('modes') or tuple(known)
    for number in modes:
        if number not in known:
            raise item.place.error(
                f'modes="{item.texts["modes"]}" holds {number}, which the file lacks',
                f'Known modes: {" ".join(map(str, known))}',
            )
    arrays = arrays.with_modes(modes)
    if item.value('body_frame') == 'free':
        arrays = _clamped(item, arrays)
    _check_root(item, arrays)
    return ModalData(
        file=address,
        digest=_digest(path),
        modes=tuple(modes),
        damping_ratio=item.value('damping_ratio'),
        attachments=_attachments(item, link, robot, arrays, attached),
        arrays=arrays,
        dropped=tuple(number for number in known if number not in modes),
    )


def _digest(path: Path) -> str:
    """Return a digest of a file, read piece by piece."""
    digest = hashlib.sha256()
    with open(path, 'rb') as file:
        while piece := file.read(2**20):
            digest.update(piece)
    return digest.hexdigest()


def _attached_nodes(item: Item, link: Link, robot: Robot) -> dict[str, Item]:
    """Return the <attach> element of each child joint that has one."""
    children = [joint.name for joint in robot.joints if joint.parent == link.name]
    found = {}
    for attach in item.all('attach'):
        name = joint_name(attach, attach.value('joint'), robot)
        if name not in children:
            raise attach.place.error(
                f'Joint "{name}" is not a child joint of link "{link.name}"',
                did_you_mean(name, children),
            )
        found[name] = attach
    return found


def _clamped(item: Item, arrays: ModalArrays) -> ModalArrays:
    """Return shapes of a free body relative to its node at the parent joint."""
    away = np.linalg.norm(arrays.node_positions, axis=1)
    node = int(np.argmin(away))
    if away[node] > item.value('tolerance'):
        raise item.place.error(
            f'body_frame="free" needs a node at the parent joint; the nearest one, '
            f'{arrays.node_ids[node]}, is {away[node]:.4g} m away',
            'Export a node there, or raise tolerance',
        )
    try:
        return clamped_at(arrays, node)
    except ValueError as error:
        raise item.place.error(
            f'file="{item.value("file")}" {error}', 'Choose others by modes="..."'
        ) from None


def _check_root(item: Item, arrays: ModalArrays) -> None:
    """Refuse shapes that move the parent joint, where the link frame is clamped."""
    places = np.linalg.norm(arrays.node_positions, axis=1)
    for k in np.flatnonzero(places <= 1e-6 * places.max()):
        for what, shape in (('move', arrays.translation), ('turn', arrays.rotation)):
            largest = np.maximum(shape.max(axis=(1, 2)), -shape.min(axis=(1, 2)))
            moved = np.abs(shape[:, k]).max(axis=1)
            if np.any(moved > STILL * np.maximum(largest, 1e-300)):
                mode = int(arrays.mode_numbers[int(np.argmax(moved > STILL * largest))])
                raise item.place.error(
                    f'Mode {mode} {what}s node {arrays.node_ids[k]}, which is at the parent joint',
                    'Write body_frame="free" for modes of the free body, or give shapes relative '
                    'to the parent joint and their inertia',
                )


def _attachments(
    item: Item, link: Link, robot: Robot, arrays: ModalArrays, attached: dict[str, Item]
) -> tuple[tuple[Vector3, int], ...]:
    """Return the node of each child joint: the one that is named, or the one that stands there."""
    known, found = arrays.node_ids.tolist(), []
    for joint in robot.joints:
        if joint.parent != link.name:
            continue
        origin = np.array(joint.origin.position)
        distance = np.linalg.norm(arrays.node_positions - origin, axis=1)
        attach = attached.get(joint.name)
        tolerance = item.value('tolerance')
        if attach is None:
            k = int(np.argmin(distance))
        else:
            node = attach.value('node')
            if node not in known:
                raise attach.place.error(
                    f'The file has no node {node}',
                    f'Use {known[int(np.argmin(distance))]}, the nearest to joint "{joint.name}"',
                )
            k = known.index(node)
        if distance[k] > tolerance:
            place = ' '.join(f'{x:.6g}' for x in arrays.node_positions[k])
            there = ' '.join(f'{x:.6g}' for x in origin)
            which = 'Node' if attach is not None else 'Nearest node'
            raise (attach or item).place.error(
                f'{which} {known[k]} at ({place}) m is {distance[k]:.4g} m away from joint '
                f'"{joint.name}" at ({there}) m',
                _advice(arrays.node_positions[k], origin, tolerance),
            )
        found.append((joint.origin.position, known[k]))
    return tuple(found)


def _advice(node: np.ndarray, origin: np.ndarray, tolerance: float) -> str:
    """Return advice about a node away from its joint."""
    if np.linalg.norm(1e-3 * node - origin) <= max(tolerance, 1e-3 * np.linalg.norm(origin)):
        return ('The file is in millimetres: export it in SI units (m, kg, s), shapes and inertia '
                'included')
    return ('Correct the positions (metres, link frame), or raise tolerance: a rigid arm then '
            'connects them')


def read_mode_springs(
    item: Item, links: Sequence[Link]
) -> tuple[tuple[ModeSpring, ...], ...]:
    """
    Return the nonlinear springs that a <flexible_link> gives to modes, of each piece of its link.

    Args:
        item: The <flexible_link> element.
        links: The link with its modes, or its pieces.

    Raises:
        ModelError: The link has no such mode, or the law is given twice, not at all or is zero.
    """
    names = [{name.rpartition('/')[2]: plain for name, plain in zip(
        link.mode_names, link.short_mode_names)} for link in links]
    found: list[list[ModeSpring]] = [[] for _ in links]
    for child in item.all('mode_spring'):
        mode = child.value('mode')
        owner = next((k for k, own in enumerate(names) if mode in own), None)
        if owner is None:
            known = [name for own in names for name in own]
            raise child.place.error(
                f'Link "{item.value("link")}" has no mode "{mode}"', did_you_mean(mode, known)
            )
        found[owner].append(replace(_read(child), mode=names[owner][mode]))
    return tuple(map(tuple, found))


def read_couplings(extension: Item, robot: Robot) -> tuple[ModeCoupling, ...]:
    """
    Return the energies that modes share, in file order.

    Raises:
        ModelError: A mode is unknown, there is one alone, or powers or energy have no effect.
    """
    return tuple(_coupling(item, robot) for item in extension.all('mode_coupling'))


def _coupling(item: Item, robot: Robot) -> ModeCoupling:
    modes, powers = item.value('modes'), item.value('powers')
    for mode in modes:
        if mode not in robot.mode_names:
            raise item.place.error(
                f'The robot has no mode "{mode}"', did_you_mean(mode, robot.mode_names)
            )
    if len(modes) < 2:
        raise item.place.error(
            'There is one mode alone', 'Name two or more; <mode_spring> is for one'
        )
    powers = powers * len(modes) if len(powers) == 1 else powers
    if len(powers) != len(modes):
        raise item.place.error(
            f'powers="{item.texts["powers"]}" holds {len(powers)} numbers, and there are '
            f'{len(modes)} modes', 'Write one number for each mode, or one for all'
        )
    if item.value('energy') == 0.0:
        raise item.place.error('The energy is zero', 'Take the element out')
    return ModeCoupling(modes, powers, item.value('energy'))


def _read(item: Item) -> ModeSpring:
    mode = item.value('mode')
    if item.written('points') == item.written('polynomial'):
        both = item.written('points')
        raise item.place.error(
            f'The spring of mode "{mode}" has {"both" if both else "neither"} points '
            f'{"and" if both else "nor"} polynomial',
            'Write one of them',
        )
    replaces = item.value('linear') == 'replace'
    points, polynomial = item.value('points') or (), item.value('polynomial') or ()
    if not replaces and not any([*polynomial, *(force for _, force in points)]):
        raise item.place.error(f'The spring of mode "{mode}" is zero', 'Take it out')
    return ModeSpring(mode, points, polynomial, replaces)

# SPDX-License-Identifier: Apache-2.0
"""From <mode_spring> to the nonlinear stiffness of a mode."""

from __future__ import annotations

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.extension.extension_reader import Item
from flexdyn_ros.model.robot.link import Link
from flexdyn_ros.model.robot.mode_spring import ModeSpring


def read_mode_springs(item: Item, link: Link) -> tuple[ModeSpring, ...]:
    """
    Return the nonlinear springs that a <flexible_link> gives to modes of its link.

    Args:
        item: The <flexible_link> element.
        link: The link with its modes.

    Raises:
        ModelError: The link has no such mode, or the law is given twice, not at all or is zero.
    """
    return tuple(_read(child, link) for child in item.all('mode_spring'))


def _read(item: Item, link: Link) -> ModeSpring:
    known = [name.rpartition('/')[2] for name in link.mode_names]
    mode = item.value('mode')
    if mode not in known:
        raise item.place.error(
            f'Link "{link.name}" has no mode "{mode}"', did_you_mean(mode, known)
        )
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

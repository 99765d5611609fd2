# SPDX-License-Identifier: Apache-2.0
"""Nonlinear stiffness of a mode: <mode_spring>, its record and how it is read."""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.extension_reader import Item
from flexdyn_ros.model.link import Link
from flexdyn_ros.model.record import Record


@dataclass(frozen=True, repr=False)
class ModeSpring(Record):
    """
    A force of one mode's own coordinate x, beside the forces of the linear stiffness matrix.

    Attributes:
        mode: Name of the mode without the link.
        points: A table of deflection and force [m, N | rad, N m], deflections rising; () where
            the polynomial is given.
        polynomial: k_1, k_2, ... of the force k_1 x + k_2 x^2 + ... [N/m, N/m^2, ... |
            N m/rad, N m/rad^2, ...]; () where the table is given.
        replaces: Whether the mode's own entry of the stiffness matrix is left out.
    """

    mode: str
    points: tuple[tuple[float, float], ...] = ()
    polynomial: tuple[float, ...] = ()
    replaces: bool = False


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

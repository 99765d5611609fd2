# SPDX-License-Identifier: Apache-2.0
"""Closed chains: frozen records of what closes between two links."""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.model.robot.record import Record

DIRECTIONS = ('rx', 'ry', 'rz', 'tx', 'ty', 'tz')


@dataclass(frozen=True, repr=False)
class Loop(Record):
    """
    A loop: frame1 may not move against frame2 in some directions.

    Attributes:
        name: Its name.
        frame1: Name of a link.
        frame2: Name of another link, in whose axes the directions are expressed.
        constrain: Directions without motion, a subset of rx ry rz tx ty tz in that order.
    """

    name: str
    frame1: str
    frame2: str
    constrain: tuple[str, ...]

    @property
    def free(self) -> tuple[str, ...]:
        """The directions in which the frames may move against each other."""
        return tuple(name for name in DIRECTIONS if name not in self.constrain)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints, `<loop>/tx` and so on."""
        return tuple(f'{self.name}/{direction}' for direction in self.constrain)

# SPDX-License-Identifier: Apache-2.0
"""Names of coordinates: each stands for one, since states and messages are read by name."""

from __future__ import annotations

from typing import Iterator

from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.robot.robot import Robot


def refuse_equal_names(robot: Robot) -> None:
    """
    Refuse a robot in which a joint's or a mode's coordinate has the name of another's.

    Raises:
        ModelError: Names them and the elements that they belong to.
    """
    owners: dict[str, tuple[str, str]] = {}
    for name, element, owner in _named(robot):
        first = owners.setdefault(name, (element, owner))
        if first != (element, owner):
            raise ModelError(
                f'It has a coordinate "{name}", and so has {first[0]} "{first[1]}"',
                file=robot.source, element=element, name=owner, advice='Rename one of them',
            )


def _named(robot: Robot) -> Iterator[tuple[str, str, str]]:
    """Yield each coordinate's names, of positions and of rates, and what it belongs to."""
    for joint in robot.joints:
        for name in dict.fromkeys((*joint.position_names, *joint.coordinate_names)):
            yield name, 'joint', joint.name
        if joint.elastic_name:
            yield joint.elastic_name, 'joint', joint.name
    for link in robot.links:
        for name in link.mode_names:
            yield name, 'link', link.name

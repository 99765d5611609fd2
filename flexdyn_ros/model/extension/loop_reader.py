# SPDX-License-Identifier: Apache-2.0
"""The part of the extension about the whole robot: its loops, and its joints with motors."""

from __future__ import annotations

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.model.extension.items import Item, link_name
from flexdyn_ros.model.records.robot import Loop, Robot


def read_loops(extension: Item, robot: Robot) -> tuple[Loop, ...]:
    """
    Return the loops of an extension, in file order.

    Args:
        extension: The extension.
        robot: The robot with its joints and flexible links as the extension has them.

    Raises:
        ModelError: A frame is unknown, or the two frames cannot move against each other.
    """
    return tuple(_loop(item, robot) for item in extension.all('loop'))


def _loop(item: Item, robot: Robot) -> Loop:
    first = link_name(item, item.value('frame1'), robot)
    second = link_name(item, item.value('frame2'), robot)
    if first == second:
        raise item.place.error(
            f'frame1 and frame2 are both "{first}"',
            'Name two links, between which the loop closes',
        )
    reduced = next((link for link in robot.links if link.reduced_form), None)
    if reduced is not None:
        raise item.place.error(
            f'Loops need exact motion, and link "{reduced.name}" has {reduced.reduced_form}',
            f'Remove {reduced.reduced_form} from its <flexible_link>',
        )
    if not _moves(first, second, robot):
        raise item.place.error(
            f'"{first}" and "{second}" cannot move relative to each other: the loop has no effect',
            'Close the loop between links with movable joints or flexible links between them',
        )
    return Loop(item.value('name'), first, second, item.value('constrain'))


def _moves(first: str, second: str, robot: Robot) -> bool:
    """Return whether a joint or a mode lies on the path between two links."""
    parents = {joint.child: joint for joint in robot.joints}

    def path(link: str) -> list[str]:
        links = [link]
        while links[-1] in parents:
            links.append(parents[links[-1]].parent)
        return links

    one, other = path(first), path(second)
    common = next(link for link in one if link in other)
    between = [parents[link] for links in (one, other) for link in links[: links.index(common)]]
    return any(
        j.type != 'fixed' or j.mode_names or robot.link(j.parent).mode_names for j in between
    )


def read_actuated(extension: Item, robot: Robot) -> tuple[str, ...]:
    """
    Return the names that <actuated> lists, in the order of the joints.

    A joint of several coordinates may have motors on some of them, `<joint>/tx`.

    Raises:
        ModelError: A name is unknown, or its joint cannot be actuated.
    """
    own = robot.joints[robot.base_motion != 'fixed' :]
    movable = tuple(joint.name for joint in own if joint.coordinate_names)
    item = extension.child('actuated')
    if item is None:
        return movable
    known = [joint.name for joint in robot.joints]
    coordinates = [name for joint in own for name in joint.coordinate_names]
    for name in item.value('joints'):
        if name in movable or name in coordinates:
            continue
        if name not in known:
            raise item.place.error(
                f'No joint is called "{name}"', did_you_mean(name, [*known, *coordinates])
            )
        joint = robot.joint(name)
        why = 'follows another joint' if joint.mimic else 'is fixed'
        why = 'moves the base' if joint.type == 'floating' else why
        raise item.place.error(
            f'Joint "{name}" {why} and cannot be actuated', did_you_mean(name, movable)
        )
    order = []
    for joint in robot.joints:
        order += [joint.name, *(n for n in joint.coordinate_names if n != joint.name)]
    return tuple(name for name in order if name in item.value('joints'))

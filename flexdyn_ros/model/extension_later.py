# SPDX-License-Identifier: Apache-2.0
"""Parts of the extension that are checked in full and cannot be computed yet."""

from __future__ import annotations

from flexdyn_ros.errors import did_you_mean
from flexdyn_ros.errors import NotYetSupported
from flexdyn_ros.model.extension_reader import Item
from flexdyn_ros.model.extension_reader import joint_name
from flexdyn_ros.model.link import Link
from flexdyn_ros.model.paths import resolve_file
from flexdyn_ros.model.robot import Robot


def check_modal(item: Item, link: Link, robot: Robot, later: list[NotYetSupported]) -> None:
    """Check <modal>: the file exists, and each node carries a child joint of the link."""
    address = item.value('file')
    try:
        resolve_file(address, item.document.base_dir)
    except ValueError as error:
        raise item.place.error(
            f'file="{address}" {error}', 'Correct the path, or give base_dir'
        ) from None
    children = [joint.name for joint in robot.joints if joint.parent == link.name]
    for attach in item.all('attach'):
        name = joint_name(attach, attach.value('joint'), robot)
        if name not in children:
            raise attach.place.error(
                f'Joint "{name}" is not a child joint of link "{link.name}"',
                did_you_mean(name, children),
            )
    later.append(
        item.place.not_yet(
            'Modes from files (<modal>) are understood but not computed yet',
            'Describe the link by <beam>',
        )
    )

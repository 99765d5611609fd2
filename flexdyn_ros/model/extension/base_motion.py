# SPDX-License-Identifier: Apache-2.0
"""<base motion="free|prescribed">: a floating joint between a frame that rests and the root."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

from flexdyn_ros.model.extension.extension_reader import Item
from flexdyn_ros.model.robot.joint import Joint
from flexdyn_ros.model.robot.link import Link
from flexdyn_ros.model.robot.robot import Robot

BASE_JOINT = 'base_motion'
# Velocity coordinates of the base: linear, then angular, in its own axes.
BASE_COORDINATES = 6
RESTING_FRAME = 'world'


def with_base_motion(robot: Robot, item: Optional[Item]) -> Robot:
    """
    Return the robot on a base that moves as its description says.

    A new root link that rests, "world", carries the former root on the floating joint
    "base_motion"; where a link is called "world" already, the new one is "base_motion/world".

    Args:
        robot: The robot of the URDF proper.
        item: Its <base> element, or None.

    Raises:
        ModelError: The robot has a joint called "base_motion" already.
    """
    if item is None or item.value('motion') == 'fixed':
        return robot
    if any(joint.name == BASE_JOINT for joint in robot.joints):
        raise item.place.error(
            f'The robot has a joint "{BASE_JOINT}", and motion="{item.value("motion")}" adds one',
            'Rename that joint, or take <base> out',
        )
    taken = RESTING_FRAME in robot.frame_names
    rest = Link(f'{BASE_JOINT}/{RESTING_FRAME}' if taken else RESTING_FRAME)
    joint = Joint(BASE_JOINT, 'floating', rest.name, robot.root)
    return replace(
        robot,
        links=(rest, *robot.links),
        joints=(joint, *robot.joints),
        base_motion=item.value('motion'),
    )

# SPDX-License-Identifier: Apache-2.0
"""From <multi_axis_joint> to joints of several axes."""

from __future__ import annotations

from dataclasses import replace

from flexdyn_ros.model.extension.extension_reader import Item
from flexdyn_ros.model.extension.extension_reader import joint_name
from flexdyn_ros.model.robot.robot import Robot

_ROTATIONS = ('rx', 'ry', 'rz')


def with_multi_axis_joints(robot: Robot, extension: Item) -> Robot:
    """
    Return the robot with its floating joints limited to the axes that the extension gives them.

    Raises:
        ModelError: The joint is not of type floating, or a quaternion lacks rotations.
    """
    changed = {}
    for item in extension.all('multi_axis_joint'):
        joint = robot.joint(joint_name(item, item.value('joint'), robot))
        if joint.type != 'floating':
            raise item.place.error(
                f'The joint is of type "{joint.type}"',
                'Write it on a URDF joint of type "floating"',
            )
        axes, quaternion = item.value('axes'), item.value('rotation') == 'quaternion'
        if quaternion and axes[:3] != _ROTATIONS:
            raise item.place.error(
                f'rotation="quaternion" needs all three rotations, and axes is "{" ".join(axes)}"',
                'Begin axes with "rx ry rz", or write rotation="angles"',
            )
        changed[joint.name] = replace(joint, type='multi_axis', axes=axes, quaternion=quaternion)
    return replace(robot, joints=tuple(changed.get(j.name, j) for j in robot.joints))

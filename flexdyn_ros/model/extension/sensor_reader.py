# SPDX-License-Identifier: Apache-2.0
"""The sensors of an extension."""

from __future__ import annotations

from flexdyn_ros.model.extension.items import Item, joint_name, link_name
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.records.sensor import AT_JOINTS, MountedSensor
import numpy as np

_POSITIONS = ('motor_position', 'link_position')
_AXIS, _DISTANCE = 'axis', 'distance'
_NEEDED: dict[str, set[str]] = {'strain': {_AXIS, _DISTANCE}, **dict.fromkeys(_POSITIONS, set())}


def read_sensors(extension: Item, robot: Robot) -> tuple[MountedSensor, ...]:
    """
    Return the sensors of an extension, in file order.

    Args:
        extension: The extension.
        robot: The robot with its joints and flexible links as the extension has them.

    Raises:
        ModelError: A frame is unknown, or cannot have such a sensor; an attribute has no effect.
    """
    return tuple(_sensor(item, robot) for item in extension.all('sensor'))


def _sensor(item: Item, robot: Robot) -> MountedSensor:
    measures, frame = item.value('measures'), item.value('frame')
    needed = _NEEDED.get(measures, {_AXIS})
    allowed = needed | {'at'} if measures == 'strain' else needed
    for name in (_AXIS, _DISTANCE, 'at'):
        if item.written(name) and name not in allowed:
            raise item.without_effect(name, f' on measures="{measures}"', 'Take it out')
        if name in needed and not item.written(name):
            raise item.place.error(
                f'The attribute {name} is missing for measures="{measures}"',
                f'Write {name}="..."')
    if measures in AT_JOINTS:
        _check_joint(item, joint_name(item, frame, robot), robot)
    else:
        link = robot.link(link_name(item, frame, robot))
        if measures == 'strain' and link.beam is None:
            raise item.place.error(
                f'Link "{frame}" has no <beam>, and strain is that of a beam',
                'Choose a link with a <beam>')
    axis = np.array(item.value(_AXIS) or (1.0, 0.0, 0.0))
    x, y, z = (axis / np.linalg.norm(axis)).tolist()
    return MountedSensor(
        item.value('name'), measures, frame, item.value('noise'), (x, y, z),
        item.value('at') if measures == 'strain' else 0.0, item.value('distance') or 0.0)


def _check_joint(item: Item, name: str, robot: Robot) -> None:
    joint, measures = robot.joint(name), item.value('measures')
    if measures not in _POSITIONS:
        if joint.type != 'fixed' or joint.dynamics.bearing:
            raise item.place.error(
                f'Joint "{name}" is not fixed, and measures="{measures}" needs a fixed joint',
                'Place the sensor in a fixed joint of the URDF')
    elif joint.coordinate_names != (name,):
        raise item.place.error(
            f'Joint "{name}" has no coordinate of its own name', 'Choose a joint with one axis')
    elif measures == 'link_position' and not joint.dynamics.elastic:
        raise item.place.error(
            f'Joint "{name}" has no spring, so that its two sides are one',
            'Write measures="motor_position", or give <joint_dynamics> a stiffness')

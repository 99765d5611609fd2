# SPDX-License-Identifier: Apache-2.0
"""The fields of active_damping.hpp: the numbers of a design."""

from __future__ import annotations

from typing import Optional

from flexdyn_ros.active_damping import ActiveDamping
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.ros2_control.robot_numbers import array_text, number_text
import numpy as np

LIMIT_SHARE = 0.1  # of a joint's effort limit, for its damping torque


def damping_fields(robot: Robot, design: Optional[ActiveDamping]) -> dict[str, str]:
    """Return the fields of a design, or of a package without one."""
    joints = robot.joint_names
    zero = np.zeros(len(joints))
    numbers, matrices = np.zeros((0, 0)), ('a', 'b', 'c', 'd', 'g')
    fields = {f'damping_{key}': array_text(
        (numbers if design is None else getattr(design.controller, key)).ravel())
        for key in matrices}
    actuators = () if design is None else design.actuators
    sensors = () if design is None else design.sensors
    read = [joints.index(each.frame) if each.measures == 'motor_position' else len(joints)
            for each in sensors]
    return {
        **fields,
        'damped_joints': str(len(actuators)),
        'damping_readings': str(len(sensors)),
        'damping_order': str(0 if design is None else len(design.controller.a)),
        'damped_joint': ', '.join(str(joints.index(name)) for name in actuators),
        'read_joint': ', '.join(map(str, read)),
        'reading_names': ', '.join(f'"{each.name}"' for each in sensors),
        'damping_centre': array_text(zero if design is None else design.joint_q),
        'damping_reach': number_text(0.0 if design is None else design.reach),
        'damping_period': number_text(1.0 if design is None else design.period),
        'joint_loop_in_drives': str(design is not None and design.in_drives).lower(),
        'joint_loop_kp': array_text(zero if design is None else design.kp),
        'joint_loop_kd': array_text(zero if design is None else design.kd),
        'damping_limit': array_text(() if design is None else torque_caps(robot, design)),
    }


def torque_caps(robot: Robot, design: ActiveDamping) -> list[float]:
    """Return a tenth of the effort limits, or the torques for 2 mm where these are less."""
    efforts = {joint.name: joint.limit.effort for joint in robot.joints}
    caps = []
    for name, torque in zip(design.actuators, design.torque):
        effort = efforts[name]
        caps.append(min(float(torque), LIMIT_SHARE * effort if effort else np.inf))
    return caps

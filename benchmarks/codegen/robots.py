# SPDX-License-Identifier: Apache-2.0
"""The robots of the benchmark: a rigid arm of seven joints, a flexible one, chains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flexdyn_ros as fd
from flexdyn_ros.model.records.robot import Robot

URDF = Path(__file__).resolve().parents[2] / 'urdf'
RIGID = {'flexible_forearm': 'false', 'friction': 'false'}


def rigid_arm() -> tuple[Robot, str]:
    """Return the arm of seven joints without friction, and its URDF for Pinocchio."""
    import xacro

    path = URDF / 'cobot7.urdf.xacro'
    text = xacro.process_file(str(path), mappings=RIGID).toxml()
    return fd.load_robot(path, xacro_arguments=RIGID), text


def canadarm() -> Robot:
    """Return the flexible Canadarm."""
    return fd.load_robot(URDF / 'canadarm.urdf.xacro')


def chain(count: int) -> Robot:
    """Return a chain of links without right angles, joints about y and z in turns."""
    parts = []
    for k in range(count):
        parent = 'base' if k == 0 else f'link{k - 1}'
        axis = '0 1 0' if k % 2 else '0 0 1'
        parts.append(
            f'<link name="link{k}"><inertial><origin xyz="0.1 0.02 0.03" rpy="0.1 0.2 0.3"/>'
            '<mass value="1"/><inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0.02" '
            f'iyz="0.03"/></inertial></link><joint name="joint{k}" type="continuous">'
            f'<parent link="{parent}"/><child link="link{k}"/>'
            f'<origin xyz="0.3 0.1 0.05" rpy="0.4 0.3 0.2"/><axis xyz="{axis}"/></joint>'
        )
    return fd.load_robot(f'<robot name="chain"><link name="base"/>{"".join(parts)}</robot>')


def pinocchio_model(text: str) -> tuple[Any, Any]:
    """Return Pinocchio's model and data."""
    import pinocchio

    model = pinocchio.buildModelFromXML(text)
    return model, model.createData()

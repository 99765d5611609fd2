# SPDX-License-Identifier: Apache-2.0
"""Vendors' URDF files of the installed package example-robot-data, without a download."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path
import re

from flexdyn_ros.model.records.joint import JointDynamics


def robots_folder() -> Path:
    """Return the folder that holds the robots of example-robot-data."""
    root = Path(str(distribution('example-robot-data').locate_file('')))
    return root / 'cmeel.prefix' / 'share' / 'example-robot-data' / 'robots'


def vendor_urdfs() -> list[Path]:
    """Return all URDF files, sorted by path."""
    return sorted(robots_folder().rglob('*.urdf'))


def short_name(path: Path) -> str:
    """Return a file's path below the robots' folder."""
    return path.relative_to(robots_folder()).as_posix()


def without_geometry(text: str) -> str:
    """Return URDF text without visuals, collisions and foreign extensions."""
    for tag in ('visual', 'collision', 'gazebo', 'transmission', 'mujoco'):
        text = re.sub(rf'<{tag}\b[^>]*/>', '', text)
        text = re.sub(rf'<{tag}\b.*?</{tag}>', '', text, flags=re.DOTALL)
    return text


def on_floating_base(text: str, root: str, kind: str = 'floating') -> str:
    """Return URDF text whose root link hangs on a joint `base` of `kind` (axis z) to a world."""
    joint = (
        f'<link name="oracle_world"/><joint name="base" type="{kind}">'
        f'<parent link="oracle_world"/><child link="{root}"/><axis xyz="0 0 1"/></joint>'
    )
    return re.sub(r'</robot>\s*$', joint + '</robot>', text.rstrip())


def frictionless(robot):
    """Return the robot without the losses of URDF's <dynamics>, which other programs leave out."""
    joints = tuple(replace(joint, dynamics=JointDynamics()) for joint in robot.joints)
    return replace(robot, joints=joints)

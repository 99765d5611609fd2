# SPDX-License-Identifier: Apache-2.0
"""The robots of the demonstration and what they do."""

from __future__ import annotations

from dataclasses import dataclass
import importlib.util
from pathlib import Path
from typing import Optional

Waypoints = tuple[tuple[float, tuple[float, ...]], ...]

VENDOR_PACKAGE = 'airo-models'
VENDOR_MODULE = 'airo_models'
VENDOR_FILE = 'arms/ur5e/ur5e.urdf'


@dataclass(frozen=True)
class DemoRobot:
    """
    One robot of the demonstration.

    Attributes:
        key: What it is called on the command line and in folders.
        title: What it is called in pictures.
        joints: Its driven joints, depth first.
        waypoints: Times and positions of rest of its motion [s], [rad].
        kp: Proportional gains of its own controller [N m/rad].
        kd: Derivative gains [N m s/rad].
        tip: The link whose deviation is recorded.
        exaggeration: Factor on the drawn deflection [1].
        colour_range: Deflection that is drawn red [m].
        flat: Whether all of it moves in the x-y plane.
    """

    key: str
    title: str
    joints: tuple[str, ...]
    waypoints: Waypoints
    kp: tuple[float, ...]
    kd: tuple[float, ...]
    tip: str
    exaggeration: float
    colour_range: float
    flat: bool


CANADARM = DemoRobot(
    key='canadarm',
    title='Canadarm, three flexible links, no gravity',
    joints=('shoulder', 'elbow', 'wrist'),
    waypoints=((0.0, (0.0, 2.2, 0.8)), (8.0, (0.5, 1.4, 0.3))),
    kp=(2000.0, 1000.0, 100.0),
    kd=(3000.0, 1500.0, 150.0),
    tip='tool',
    exaggeration=10.0,
    colour_range=0.09,
    flat=True,
)

VENDOR = DemoRobot(
    key='vendor',
    title='UR5e with a payload of 5 kg, flexible upper arm and elastic joints',
    joints=(
        'shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint',
        'wrist_1_joint', 'wrist_2_joint', 'wrist_3_joint',
    ),
    waypoints=(
        (0.0, (0.0, -1.9, 1.9, -1.57, -1.57, 0.0)),
        (4.0, (1.2, -0.9, 1.2, -1.9, -1.2, 0.8)),
        (5.0, (1.2, -0.9, 1.2, -1.9, -1.2, 0.8)),
        (9.0, (0.0, -1.9, 1.9, -1.57, -1.57, 0.0)),
    ),
    kp=(600.0, 600.0, 400.0, 100.0, 100.0, 50.0),
    kd=(60.0, 60.0, 40.0, 10.0, 10.0, 5.0),
    tip='tool0',
    exaggeration=20.0,
    colour_range=0.0015,
    flat=False,
)

ROBOTS = {robot.key: robot for robot in (CANADARM, VENDOR)}


@dataclass(frozen=True)
class Description:
    """
    Where a robot's description comes from.

    Attributes:
        file: URDF or xacro file.
        extension: File with <flexdyn> data beside it, None where the file has them.
        as_topic: Whether nodes get it from the topic robot_description, as on a real arm.
    """

    file: Path
    extension: Optional[Path]
    as_topic: bool


def vendor_file() -> Optional[Path]:
    """Return the vendor's URDF, None where its package is not installed."""
    found = importlib.util.find_spec(VENDOR_MODULE)
    if found is None or not found.submodule_search_locations:
        return None
    path = Path(found.submodule_search_locations[0]) / VENDOR_FILE
    return path if path.is_file() else None


def describe(robot: DemoRobot, share: Path) -> Description:
    """
    Return a robot's description.

    Args:
        robot: The robot.
        share: Share folder of this package.

    Raises:
        FileNotFoundError: The vendor's package is not installed.
    """
    if robot.key != 'vendor':
        return Description(share / 'urdf' / 'canadarm.urdf.xacro', None, as_topic=False)
    file = vendor_file()
    if file is None:
        raise FileNotFoundError(f'{VENDOR_FILE} of {VENDOR_PACKAGE}')
    return Description(file, share / 'urdf' / 'ur5e_extension.flexdyn.xml', as_topic=True)

# SPDX-License-Identifier: Apache-2.0
"""The example robots, which several cases are about."""

from __future__ import annotations

from functools import lru_cache

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.shared_files import shared_folder

URDF = shared_folder() / 'urdf'


@lru_cache(maxsize=None)
def example_robot(name: str, **arguments: str) -> Robot:
    """
    Return a robot of the folder urdf.

    Args:
        name: Its file, without `.urdf.xacro`.
        arguments: xacro arguments.
    """
    return load_robot(URDF / f'{name}.urdf.xacro', xacro_arguments=arguments)

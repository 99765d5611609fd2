# SPDX-License-Identifier: Apache-2.0
"""The example robots, which several cases are about."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.model.urdf.document import find_package

_BESIDE_THE_PACKAGE = Path(__file__).resolve().parents[2] / 'urdf'


def urdf_folder() -> Path:
    """
    Return the folder of the example robots.

    Raises:
        FlexdynError: Neither the sources nor an installed share folder are there.
    """
    share = find_package('flexdyn_ros')
    candidates = [_BESIDE_THE_PACKAGE, *([share / 'urdf'] if share else [])]
    for folder in candidates:
        if (folder / 'canadarm.urdf.xacro').is_file():
            return folder
    raise FlexdynError(
        'The example robots are not here (looked in '
        f'{", ".join(map(str, candidates))}). Run from the sources or source the workspace.'
    )


@lru_cache(maxsize=None)
def example_robot(name: str, **arguments: str) -> Robot:
    """
    Return a robot of the folder urdf.

    Args:
        name: Its file, without `.urdf.xacro`.
        arguments: xacro arguments.
    """
    return load_robot(urdf_folder() / f'{name}.urdf.xacro', xacro_arguments=arguments)

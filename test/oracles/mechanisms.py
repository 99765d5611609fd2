# SPDX-License-Identifier: Apache-2.0
"""Example mechanisms."""

from functools import lru_cache
from pathlib import Path

import flexdyn_ros as fd
import xacro

URDF = Path(__file__).resolve().parents[2] / 'urdf'


@lru_cache(maxsize=None)
def mechanism(name, **arguments):
    """Return the robot of an example mechanism."""
    text = xacro.process_file(str(URDF / f'{name}.urdf.xacro'), mappings=arguments).toprettyxml()
    return fd.load_robot(text)

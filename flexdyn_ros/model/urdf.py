# SPDX-License-Identifier: Apache-2.0
"""`load_robot`: from a URDF description with its flexdyn extension to a `Robot`."""

from __future__ import annotations

import os
from typing import Optional
from typing import Union

from flexdyn_ros.model.robot import Robot
from flexdyn_ros.model.urdf_reader import read_urdf
from flexdyn_ros.model.xml_document import read_document
from flexdyn_ros.model.xml_document import Source


def load_robot(
    path_or_xml: Source,
    base_dir: Optional[Union[str, 'os.PathLike[str]']] = None,
    extension: Optional[Source] = None,
    strict: bool = False,
) -> Robot:
    """Read a robot from a URDF file or text."""
    document = read_document(path_or_xml, None, 'path_or_xml')
    robot = read_urdf(document)
    return robot

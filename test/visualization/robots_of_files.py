# SPDX-License-Identifier: Apache-2.0
"""Arms with all that their descriptions show: the Canadarm, and a UR5 with its vendor's meshes."""

from pathlib import Path

import flexdyn_ros as fd
from flexdyn_ros.visualization.scene import Scene
import numpy as np
from oracles.vendor_robots import robots_folder
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf'


def canadarm():
    """Return dynamics, scene and a bent configuration of the Canadarm."""
    dyn = fd.Dynamics(fd.load_robot(URDF / 'canadarm.urdf.xacro'))
    return dyn, Scene(dyn), np.array([0.3, 0.6, -0.4, 0.1, 0.0, 0.05, 0.0, 0.01, 0.0])


def ur5e():
    """Return dynamics, scene and a bent configuration of a UR5e with its vendor's meshes."""
    airo_models = pytest.importorskip('airo_models', reason='airo_models has the UR5e')
    path = Path(airo_models.get_urdf_path('ur5e'))
    dyn = fd.Dynamics(fd.load_robot(
        path.read_text().replace('drake:', ''), base_dir=path.parent,
        extension=URDF / 'ur5e_extension.flexdyn.xml'))
    q = np.zeros(dyn.robot.nq)
    q[:6] = 0.0, -1.2, 1.2, 0.0, 0.5, 0.0
    return dyn, Scene(dyn, path.parent), q


def ur5():
    """Return the same of the UR5 of example-robot-data, whose meshes are DAE files."""
    pytest.importorskip('collada', reason='DAE files need pycollada')
    folder = robots_folder()
    dyn = fd.Dynamics(fd.load_robot(
        folder / 'ur_description' / 'urdf' / 'ur5_robot.urdf',
        extension=URDF / 'ur5_extension.flexdyn.xml'))
    q = np.zeros(dyn.robot.nq)
    q[:6] = 0.0, -1.2, 1.2, 0.0, 0.5, 0.0
    return dyn, Scene(dyn, packages={'example-robot-data': folder.parent}), q

# SPDX-License-Identifier: Apache-2.0
"""Dynamics of robot arms whose links and joints bend: the public contract."""

from flexdyn_ros.codegen import generate
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.robot import Robot
from flexdyn_ros.model.urdf import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
from flexdyn_ros.simulation import simulate
from flexdyn_ros.simulation import Trajectory

__version__ = '0.1.0'

__all__ = [
    '__version__',
    'Dynamics',
    'FlexdynError',
    'generate',
    'load_robot',
    'Robot',
    'simulate',
    'Trajectory',
]

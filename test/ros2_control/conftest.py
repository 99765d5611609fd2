# SPDX-License-Identifier: Apache-2.0
"""The package that is written for a flexible arm, and the same arm in Python."""

import flexdyn_ros as fd
from flexdyn_ros.ros2_control import control_package
import pytest
from written_package import HERE, write


@pytest.fixture(scope='session')
def dyn():
    """Return the dynamics of the arm."""
    return fd.Dynamics(fd.load_robot(HERE / 'flexible_arm.urdf'))


@pytest.fixture(scope='session')
def package(dyn, tmp_path_factory):
    """Return the folder of the package my_arm."""
    files = control_package(dyn.robot, 'my_arm', optimise='quick')
    return write(tmp_path_factory.mktemp('ros2_control') / 'my_arm', files)

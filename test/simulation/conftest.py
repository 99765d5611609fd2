# SPDX-License-Identifier: Apache-2.0
"""The robot of the adaptive methods."""

import flexdyn_ros as fd
import pytest
from simulated_robots import PENDULUM


@pytest.fixture(scope='module')
def pendulum():
    """Return the dynamics of a mathematical pendulum."""
    return fd.Dynamics(fd.load_robot(PENDULUM))

# SPDX-License-Identifier: Apache-2.0
"""Number of files of the algorithms that a reader meets on the way of one call."""

from pathlib import Path
import sys

import flexdyn_ros as fd
import numpy as np
from oracles.small_robots import flexible_urdf
import pytest
from robots.example_robots import expand

PACKAGE = Path(fd.__file__).parent
# Files of the package; beams that bending draws in take one more.
LIMIT = 15


def files_entered(call):
    """Return the files of the package with a function that a call enters, by folder."""
    entered = set()

    def record(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == 'call' and PACKAGE in path.parents:
            entered.add(path.relative_to(PACKAGE).as_posix())

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(before)
    return entered


@pytest.mark.parametrize('name', ['canadarm', 'beams that bending draws in'])
def test_inverse_dynamics_enters_few_files(name):
    """The recursion, its foundations, and the forces inside the robot."""
    robot = fd.load_robot(expand('canadarm') if name == 'canadarm' else flexible_urdf())
    dyn = fd.Dynamics(robot, backend='reference')
    rates = np.linspace(-0.3, 0.4, robot.nv)
    q = np.full(robot.nq, 0.1)
    entered = files_entered(lambda: dyn.inverse_dynamics(q, rates, rates))
    algorithms = {path for path in entered if path.startswith('dynamics/')}
    files = {'dynamics/reference.py', 'dynamics/newton_euler.py', 'dynamics/flexible_body.py'}
    assert files <= algorithms
    assert ('dynamics/foreshortening.py' in algorithms) == (name != 'canadarm')
    assert len(entered) <= LIMIT + (name != 'canadarm'), sorted(entered)

# SPDX-License-Identifier: Apache-2.0
"""How many files of the algorithms a reader meets on the way of one call."""

from pathlib import Path
import sys

import flexdyn_ros as fd
import numpy as np
from oracles.small_robots import flexible_urdf
import pytest
from robots.example_robots import expand

FOLDER = Path(fd.__file__).parent / 'dynamics'
LIMIT = 10


def files_entered(call):
    """Return the files of `dynamics/` with a function that a call enters."""
    entered = set()

    def record(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == 'call' and FOLDER in path.parents:
            entered.add(path.name)

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(before)
    return entered


@pytest.mark.parametrize('name', ['canadarm', 'beams that bending draws in'])
def test_inverse_dynamics_enters_few_files(name):
    """The recursion, what it stands on, and the forces inside the robot."""
    robot = fd.load_robot(expand('canadarm') if name == 'canadarm' else flexible_urdf())
    dyn = fd.Dynamics(robot, backend='reference')
    rates = np.linspace(-0.3, 0.4, robot.nv)
    entered = files_entered(lambda: dyn.inverse_dynamics(np.full(robot.nq, 0.1), rates, rates))
    assert {'reference.py', 'newton_euler.py', 'flexible_body.py'} <= entered
    assert ('foreshortening.py' in entered) == (name != 'canadarm')
    assert len(entered) <= LIMIT, sorted(entered)

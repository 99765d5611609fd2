# SPDX-License-Identifier: Apache-2.0
"""Dynamics of the arms of the node tests, and states of theirs."""

import flexdyn_ros as fd
from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
import numpy as np


def load(text):
    """Return the dynamics and the coordinates of a robot."""
    dyn = fd.Dynamics(fd.load_robot(text), backend='reference')
    return dyn, ArmCoordinates(dyn.robot)


def random_state(dyn, seed=5):
    """Return a configuration with unit quaternions and velocities."""
    random = np.random.default_rng(seed)
    q, qd = random.uniform(-1.0, 1.0, dyn.robot.nq), random.uniform(-1.0, 1.0, dyn.robot.nv)
    for start in dyn.robot.quaternion_starts:
        q[start:start + 4] /= np.linalg.norm(q[start:start + 4])
    return q, qd

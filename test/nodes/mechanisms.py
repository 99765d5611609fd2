# SPDX-License-Identifier: Apache-2.0
"""The example mechanisms for the node tests, and the motions under their loops."""

from pathlib import Path

import flexdyn_ros as fd
import numpy as np
import xacro

URDF = Path(__file__).resolve().parents[2] / 'urdf'


def described(name, **arguments):
    """Return the URDF text of an example robot."""
    file = str(URDF / f'{name}.urdf.xacro')
    return xacro.process_file(file, mappings=arguments).toprettyxml()


def dynamics(text):
    """Return the dynamics of a description."""
    return fd.Dynamics(fd.load_robot(text))


def four_bar_motion(dyn, angle, rate, acceleration, passive=(0.0, 0.0)):
    """Return q, qd, qdd of the rigid four-bar for a motion of its crank."""
    q, qd = dyn.project([angle, *passive], [rate, 0, 0], hold=['crank'])
    a = dyn.loop_jacobian(q)
    right = -dyn.loop_bias(q, qd) - a[:, 0] * acceleration
    return q, qd, np.array([acceleration, *np.linalg.solve(a[:, 1:], right)])

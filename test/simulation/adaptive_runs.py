# SPDX-License-Identifier: Apache-2.0
"""Common parts of tests of adaptive methods: exact motions, robots, counted evaluations."""

from importlib.util import find_spec
import math
from pathlib import Path
from unittest.mock import patch

import flexdyn_ros as fd
from flexdyn_ros.simulation.equations_of_motion import EquationsOfMotion
from flexdyn_ros.simulation.state_jacobian import StateJacobian
from flexdyn_ros.simulation.tableaus import ADAPTIVE
import numpy as np
import pytest
from scipy.special import ellipj, ellipk

URDF = Path(__file__).resolve().parents[2] / 'urdf'
needs_sundials = pytest.mark.skipif(
    find_spec('sksundae') is None, reason='the extra "sundials" (scikit-sundae) is not installed')
CVODE = pytest.param('CVODE', marks=needs_sundials)
METHODS = tuple(each.name for each in ADAPTIVE.values() if each.name != 'CVODE') + (CVODE,)
G, LENGTH, AMPLITUDE = 9.81, 0.8, 1.5
K2 = math.sin(0.5 * AMPLITUDE) ** 2
WHEEL = (
    '<robot name="wheel"><link name="base"/><link name="wheel"><inertial><mass value="1"/>'
    '<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/>'
    '<axis xyz="0 0 1"/>{}</joint></robot>'
)
INERTIA = 1e-4  # [kg m^2]


def swing(t):
    """Return the exact angle of the pendulum let go at rest, by Jacobi's sn."""
    sn = ellipj(ellipk(K2) - math.sqrt(G / LENGTH) * np.asarray(t), K2)[0]
    return 2.0 * np.arcsin(math.sqrt(K2) * sn)


def counted(*given, **options):
    """Return a motion and the number of its evaluations; those of the Jacobian count as 8."""
    with (
        patch.object(EquationsOfMotion, 'acceleration', autospec=True,
                     side_effect=EquationsOfMotion.acceleration) as values,
        patch.object(StateJacobian, '__call__', autospec=True,
                     side_effect=StateJacobian.__call__) as slopes,
    ):
        motion = fd.simulate(*given, **options)
    return motion, values.call_count + 8 * slopes.call_count


def turning_loop(name, speeds):
    """Return a robot with loops and a closed state with given speeds of joints."""
    robot = fd.load_robot(URDF / f'{name}.urdf.xacro')
    dyn = fd.Dynamics(robot)
    rates = np.array([speeds.get(name, 0.0) for name in robot.coordinate_names])
    return dyn, *dyn.project(robot.neutral_configuration(), rates, hold=list(speeds))

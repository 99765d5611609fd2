# SPDX-License-Identifier: Apache-2.0
"""Arms whose positions are corrected, and points of motions from rest to rest."""

from functools import cache

import flexdyn_ros as fd
from flexdyn_ros.position_correction import CorrectionChoices, TrajectoryPoints
import numpy as np

MASS, ARM, TURN, STIFFNESS = 3.0, 0.4, 0.2, 800.0
PENDULUM = f"""<robot name="pendulum"><link name="base"/>
<link name="arm"><inertial><origin xyz="{ARM} 0 0"/><mass value="{MASS}"/>
<inertia ixx="0.01" iyy="{TURN}" izz="{TURN}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hub" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>
<flexdyn version="1.0"><gravity xyz="0 -9.81 0"/>
<joint_dynamics joint="hub" rotor_inertia="1e-3" gear_ratio="10" stiffness="{STIFFNESS}"
damping="{{damping}}"/></flexdyn></robot>"""
STEP = np.poly1d([70.0, -315.0, 540.0, -420.0, 126.0, 0.0, 0.0, 0.0, 0.0, 0.0])


@cache
def pendulum(damping=0.0):
    return fd.Dynamics(fd.load_robot(PENDULUM.format(damping=damping)))


def rest_to_rest(start, end, duration=1.0, period=0.01):
    """Return points of a polynomial with four continuous derivatives."""
    start, end = np.atleast_1d(start), np.atleast_1d(end)
    t = np.linspace(0.0, duration, round(duration / period) + 1)
    rows = [np.outer(STEP.deriv(k)(t / duration) / duration**k, end - start) for k in range(3)]
    rows[0] += start
    return TrajectoryPoints(t, *rows)


# A vertical plane: the upper link bends, the shoulder has a spring.
FLEXIBLE = """<robot name="two"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="fore"><inertial><origin xyz="0.3 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tool"/>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="3" effort="100"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
<origin xyz="1 0 0"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" velocity="3" effort="50"/></joint>
<joint name="mount" type="fixed"><parent link="fore"/><child link="tool"/>
<origin xyz="0.6 0 0"/></joint>
<flexdyn version="1.0"><flexible_link link="upper" inertial="hub" geometric_stiffening="false">
<beam tip="elbow" y_axis="0 1 0" young="{young}" area="1e-3" iy="4e-8" iz="4e-8" mass="1.0">
<bending axis="z" modes="2" damping_ratio="0.02"/></beam></flexible_link>
<joint_dynamics joint="shoulder" stiffness="{stiffness}" damping="5" rotor_inertia="1e-4"
gear_ratio="100"/></flexdyn></robot>"""


@cache
def flexible(factor=1.0):
    return fd.Dynamics(fd.load_robot(
        FLEXIBLE.format(young=2e11 * factor, stiffness=2e4 * factor)))


NAMES = ('shoulder', 'elbow')
WIDE = CorrectionChoices(max_correction=0.2)

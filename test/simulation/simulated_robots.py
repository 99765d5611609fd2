# SPDX-License-Identifier: Apache-2.0
"""URDF texts of the small robots that the simulation's tests move."""

import numpy as np
from oracles.random_robots import inertial_xml

_BOB = inertial_xml(1.3, [0.0, 0.0, -0.8], np.zeros((3, 3)))
PENDULUM = f"""
<robot name="pendulum">
  <link name="base"/>
  <link name="bob">{_BOB}</link>
  <joint name="pivot" type="continuous">
    <parent link="base"/><child link="bob"/><axis xyz="0 1 0"/>
  </joint>
</robot>
"""

# No two principal moments are equal, and the centre of mass is off the frame's origin.
TUMBLER_MASS = 2.5  # [kg]
TUMBLER_COM = np.array([0.1, -0.05, 0.2])  # [m]
TUMBLER_INERTIA = np.array(
    [[0.4, 0.05, -0.03], [0.05, 0.7, 0.02], [-0.03, 0.02, 0.5]])  # [kg m^2]
_BODY = inertial_xml(TUMBLER_MASS, TUMBLER_COM, TUMBLER_INERTIA)
TUMBLER = f"""
<robot name="tumbler">
  <link name="world"/>
  <link name="body">{_BODY}</link>
  <joint name="free" type="floating">
    <parent link="world"/><child link="body"/><origin xyz="1 2 3" rpy="0.3 -0.2 0.5"/>
  </joint>
  <flexdyn version="1.0"><gravity xyz="0 0 0"/></flexdyn>
</robot>
"""

FLEXIBLE_PENDULUM = """
<robot name="flexible_pendulum">
  <link name="base"/>
  <link name="arm"/>
  <link name="tip"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="100" velocity="10"/>
  </joint>
  <joint name="end" type="fixed">
    <parent link="arm"/><child link="tip"/><origin xyz="1 0 0"/>
  </joint>
  <flexdyn version="1.0">
    <flexible_link link="arm" geometric_stiffening="false">
      <beam tip="end" y_axis="0 1 0" young="2e9" shear="8e8" area="4e-4" iy="1.3e-8" iz="1.3e-8"
            j="2.2e-8" mass="0.8">
        <bending axis="y" modes="1"/>
        <bending axis="z" modes="2"/>
        <torsion modes="1"/>
      </beam>
    </flexible_link>
  </flexdyn>
</robot>
"""

# SPDX-License-Identifier: Apache-2.0
"""Arms with one link that bends, and its visuals, as URDF text; and a mechanism."""

from pathlib import Path

import flexdyn_ros as fd
import pytest

URDF = Path(__file__).resolve().parents[2] / 'urdf'
LENGTH, YOUNG, INERTIA = 1.2, 7e10, 4e-8
BEAM = f"""<beam tip="tip" y_axis="0 1 0" young="{YOUNG}" shear="2.6e10" area="1e-3"
  iy="{INERTIA}" iz="{INERTIA}" j="8e-8" mass="2">
  <bending axis="y" modes="2"/><bending axis="z" modes="2"/><torsion modes="1"/><axial modes="1"/>
</beam>"""
SEGMENTS = f"""<segments count="5" directions="x y z" placement="{{placement}}" tip="tip"
  y_axis="0 1 0" young="{YOUNG}" shear="2.6e10" area="1e-3" iy="{INERTIA}" iz="{INERTIA}" j="8e-8"
  mass="2"/>"""


def visual(geometry, xyz='0 0 0', rpy='0 0 0', rest=''):
    """Return a <visual>."""
    return (f'<visual><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{geometry}</geometry>{rest}'
            '</visual>')


def arm(beam=BEAM, boom='', tip='', base='', joint='revolute'):
    """Return a base, a boom that bends and a tip frame; the rest are their visuals."""
    return f"""<robot name="arm"><link name="base">{base}</link><link name="boom">{boom}</link>
  <link name="tip">{tip}</link>
  <joint name="swing" type="{joint}"><parent link="base"/><child link="boom"/>
    <origin xyz="0.1 0 0.4" rpy="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
  <joint name="end" type="fixed"><parent link="boom"/><child link="tip"/>
    <origin xyz="{LENGTH} 0 0"/></joint>
  <flexdyn version="1.0"><flexible_link link="boom">{beam}</flexible_link></flexdyn></robot>"""


def four_bar():
    """Return dynamics of the four-bar linkage with a coupler that bends."""
    pytest.importorskip('xacro', reason='xacro is not installed here: `make test` installs it')
    robot = fd.load_robot(URDF / 'four_bar.urdf.xacro', xacro_arguments={'modes': '2'})
    return fd.Dynamics(robot)

# SPDX-License-Identifier: Apache-2.0
"""Attributes whose prefix the file does not declare, as airo-models' ur5e.urdf has them."""

import flexdyn_ros as fd
from flexdyn_ros.errors import ModelError
import pytest

ROBOT = """<?xml version="1.0" ?>
<!-- <robot> -->
<robot name="arm">
  <link name="base"/>
  <link name="tip"><inertial><mass value="2"/><origin xyz="0.5 0 0"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="tip"/>
    <axis xyz="0 0 1"/>
    <limit drake:acceleration="2.5" lower="-1" upper="1" effort="150" velocity="3"/></joint>
</robot>"""


@pytest.mark.parametrize('text', [
    ROBOT,
    ROBOT.encode(),
    ROBOT.replace('<robot name="arm">', '<robot xmlns:known="urn:k" known:a="1" name="ärm">'),
    ROBOT.replace('<link name="base"/>', '<link name="base" gz:hint="1"/>'),
])
def test_such_attributes_are_passed_over(text):
    robot = fd.load_robot(text)
    assert robot.joint_names == ('hinge',)
    assert robot.total_mass == 2.0
    assert robot.joint('hinge').limit.effort == 150.0


@pytest.mark.parametrize('text', [
    ROBOT.replace('<link name="base"/>', '<link name="base"/><gz:plugin/>'),
    ROBOT.replace('drake:', 'flexdyn:'),
])
def test_elements_and_our_own_prefix_stay_errors(text):
    with pytest.raises(ModelError, match='unbound prefix'):
        fd.load_robot(text)


def test_other_faults_of_the_file_stay_errors():
    with pytest.raises(ModelError):
        fd.load_robot(ROBOT.replace('</robot>', ''))

# SPDX-License-Identifier: Apache-2.0
"""Names whose prefix the file does not declare, as airo-models' ur5e.urdf has them."""

import dataclasses

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


# airo-models' robotiq has such elements inside joints.
DRAKE = '<drake:joint_stiffness value="3"/><drake:link name="other"/>'


@pytest.mark.parametrize('text', [
    ROBOT.replace('<link name="base"/>', f'<link name="base"/>{DRAKE}'),
    ROBOT.replace('</joint>', f'{DRAKE}</joint>'),
    ROBOT.replace('</joint>', f'<x:y xmlns:x="urn:x"/></joint><x:z/>{DRAKE}'),
    ROBOT.replace('</joint>', f'{DRAKE}</joint>').encode('utf-16'),
    ROBOT.replace('"1.0" ?', '"1.0" encoding="latin-1"?').replace('"arm"', '"ärm"')
    .encode('latin-1'),
    '\n ' + ROBOT.partition('?>')[2],
])
def test_such_elements_are_passed_over(text):
    robot = fd.load_robot(text)
    assert robot.frame_names == ('base', 'tip')
    assert robot == dataclasses.replace(fd.load_robot(ROBOT), name=robot.name)


@pytest.mark.parametrize('suffix', ['.urdf', '.urdf.xacro'])
def test_such_names_in_files_and_where_xacro_runs(suffix, tmp_path):
    path = tmp_path / f'arm{suffix}'
    path.write_text(ROBOT.replace('</joint>', f'{DRAKE}</joint>'))
    assert fd.load_robot(path) == fd.load_robot(ROBOT)


def test_such_names_in_xacro_text():
    text = ROBOT.replace('<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ')
    text = text.replace('</joint>', f'<xacro:if value="true">{DRAKE}</xacro:if></joint>')
    assert fd.load_robot(text) == fd.load_robot(ROBOT)


@pytest.mark.parametrize('text', [
    ROBOT.replace('drake:', 'flexdyn:'),
    ROBOT.replace('</joint>', '</joint><flexdyn:flexible_link/>'),
    ROBOT.replace('</joint>', '</joint><flexydn:payload/>'),
    ROBOT.replace('</joint>', '</joint><xacro:property name="a" value="1"/>'),
])
def test_our_own_prefix_and_that_of_xacro_stay_errors(text):
    with pytest.raises(ModelError, match='unbound prefix'):
        fd.load_robot(text)


def test_such_names_inside_our_elements_stay_errors():
    inner = '<flexdyn><gravity xyz="0 0 -1.6" gz:x="1"/></flexdyn></robot>'
    with pytest.raises(ModelError, match='unknown attribute'):
        fd.load_robot(ROBOT.replace('</robot>', inner))
    inner = '<flexdyn><gz:gravity xyz="0 0 -1.6"/></flexdyn></robot>'
    with pytest.raises(ModelError, match='unknown element'):
        fd.load_robot(ROBOT.replace('</robot>', inner))


def test_other_faults_of_the_file_stay_errors():
    with pytest.raises(ModelError):
        fd.load_robot(ROBOT.replace('</robot>', ''))

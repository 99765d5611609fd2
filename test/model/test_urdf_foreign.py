# SPDX-License-Identifier: Apache-2.0
"""Data of other programs are ignored without a warning."""

import logging

from flexdyn_ros.model.check import check_robot
from flexdyn_ros.model.load import load_robot
from model_texts import ARM
import pytest
from urdf_parser_py.xml_reflection import core

# Elements and attributes that vendors' descriptions carry. They are gathered from the formats of
# urdfdom, Gazebo, ros2_control, MoveIt, Drake, MuJoCo and exporters.
FOREIGN = """
  <ros2_control name="hardware" type="system">
    <hardware><plugin>mock/GenericSystem</plugin></hardware>
    <joint name="shoulder"><command_interface name="effort"/></joint>
  </ros2_control>
  <gazebo reference="upper"><mu1>0.2</mu1></gazebo>
  <gazebo><plugin filename="lib.so" name="p"><link name="not_ours"/></plugin></gazebo>
  <transmission name="t"><plugin>transmission_interface/SimpleTransmission</plugin>
    <joint name="shoulder" role="joint1"><mechanical_reduction>50</mechanical_reduction></joint>
  </transmission>
  <material name="grey"><color rgba="0.5 0.5 0.5"/></material>
  <material name="nothing"/>
  <mujoco><compiler meshdir="."/></mujoco>
  <group name="arm"/>
  <sensor name="s"><parent link="tool"/></sensor>
  <drake:joint xmlns:drake="http://drake.mit.edu" name="shoulder" type="ball"/>
  <constraint name="c" type="weld"/>
  <link_extra/>
"""
GEOMETRY = """
    <visual><geometry><capsule radius="0.1" length="0.3"/></geometry></visual>
    <visual name="broken"><origin xyz="nan"/></visual>
    <collision><geometry/></collision>
    <self_collision_checking/>
    <contact><lateral_friction value="1"/></contact>
"""


def _crowded():
    text = ARM.read_text()
    text = text.replace('<robot name="arm">', '<robot name="arm" version="1.2" foo="bar">')
    text = text.replace('<link name="upper">', '<link name="upper" type="boom">' + GEOMETRY)
    text = text.replace('velocity="3"/>', 'velocity="3" acceleration="9" jerk="99"/>'
                        '<safety_controller k_velocity="x"/><calibration rising="y"/>')
    return text.replace('</robot>', FOREIGN + '</robot>')


def test_foreign_content_changes_nothing_and_prints_nothing(capfd, caplog):
    caplog.set_level(logging.DEBUG)
    assert load_robot(_crowded()) == load_robot(ARM)
    assert capfd.readouterr() == ('', '')
    assert not caplog.records


@pytest.mark.parametrize('version', ['1.0', '1.1', '1.2', '1'])
def test_urdf_versions(version):
    text = ARM.read_text().replace('name="arm"', f'name="arm" version="{version}"')
    assert load_robot(text) == load_robot(ARM)


def test_default_namespace_on_robot():
    text = ARM.read_text().replace('<robot ', '<robot xmlns="http://www.ros.org" ')
    assert load_robot(text) == load_robot(ARM)


def test_foreign_namespaces_on_robot():
    text = _crowded().replace(
        '<robot ', '<robot xmlns="http://drake.mit.edu" xmlns:xacro="http://ros.org/wiki/xacro" '
        'xmlns:flexdyn="https://example.org/flexdyn" '
    )
    text = text.replace('<drake:joint xmlns:drake="http://drake.mit.edu"',
                        '<d:joint xmlns:d="urn:d"')
    assert load_robot(text) == load_robot(ARM)


def test_nested_links_of_other_programs_are_no_links():
    assert 'not_ours' not in load_robot(_crowded()).frame_names


def test_the_parser_has_nothing_to_say(monkeypatch):
    """Its global hook is neither called nor changed, so that no message can be lost."""
    def refuse(message):
        raise AssertionError(message)

    monkeypatch.setattr(core, 'on_error', refuse)
    assert load_robot(_crowded()) == load_robot(ARM)
    assert core.on_error is refuse


def test_arm_has_nothing_to_report():
    assert check_robot(load_robot(ARM)).findings == ()

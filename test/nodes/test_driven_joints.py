# SPDX-License-Identifier: Apache-2.0
"""Driven joints without a choice of them."""

from arms import JOINT, LINK, rigid_arm
import flexdyn_ros as fd
from flexdyn_ros.nodes.torque.driven_joints import driven_joints

FINGER = """
  <joint name="{name}" type="prismatic"><parent link="fore"/><child link="{name}_link"/>
    <axis xyz="0 {side} 0"/><limit lower="0" upper="0.04" effort="20" velocity="0.2"/>{mimic}
  </joint>"""


def with_gripper(arm):
    """Return the arm with two fingers, the right one mimicking the left one."""
    parts = []
    for name, side, mimic in (('left', 1, ''), ('right', -1, '<mimic joint="left"/>')):
        parts.append(LINK.format(name=f'{name}_link', x=0.02, mass=0.1, i=1e-2))
        parts.append(FINGER.format(name=name, side=side, mimic=mimic))
    return arm.replace('</robot>', ''.join(parts) + '</robot>')


def chosen(text, joints=()):
    """Return the driven joints and the log lines."""
    log = []
    return driven_joints(fd.load_robot(text), joints, log.append), log


def test_fingers_of_a_gripper_are_left_out_unless_they_are_named():
    joints, log = chosen(with_gripper(rigid_arm()))
    assert joints == ('shoulder', 'elbow')
    assert 'No torque is published for left' in log[0]
    assert chosen(with_gripper(rigid_arm()), ('left', 'elbow')) == (('left', 'elbow'), [])


def test_a_gripper_alone_is_driven():
    palm = '<robot name="gripper"><link name="fore"/></robot>'
    assert chosen(with_gripper(palm)) == (('left',), [])


def test_the_joints_of_a_parallelogram_along_the_arm_are_driven():
    """The elbow mimics the shoulder and moves with it: a linkage, and no gripper."""
    text = rigid_arm().replace(
        '<limit lower="-3" upper="3" velocity="3" effort="50"/></joint>',
        '<limit lower="-3" upper="3" velocity="3" effort="50"/>'
        '<mimic joint="shoulder" multiplier="-1"/></joint>')
    assert chosen(text) == (('shoulder',), [])


def test_a_leader_whose_follower_carries_other_joints_is_driven():
    more = ''.join((
        LINK.format(name='other', x=0.1, mass=1, i=0.1),
        LINK.format(name='end', x=0.1, mass=1, i=1),
        JOINT.format(name='twin', parent='base', child='other', x=0, effort=9,
                     extra='<mimic joint="elbow"/>'),
        JOINT.format(name='wrist', parent='other', child='end', x=1, effort=9, extra=''),
    ))
    text = rigid_arm().replace('</robot>', more + '</robot>')
    assert chosen(text) == (('shoulder', 'elbow', 'wrist'), [])

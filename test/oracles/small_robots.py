# SPDX-License-Identifier: Apache-2.0
"""Small robots that several tests change in one place."""

import flexdyn_ros as fd
import numpy as np
from oracles.random_robots import inertial_xml, random_robot_urdf, random_state

ONE_AXIS = ('revolute', 'continuous', 'prismatic')


def flexible_urdf(seed=81, **options):
    """Return a flexible chain without fixed joints."""
    settings = {'n_joints': 3, 'kinds': ONE_AXIS, 'flexible': 0.8, 'tree': False} | options
    return random_robot_urdf(seed, **settings)


def state_of(robot, seed=1):
    """Return a random state of the robot."""
    return random_state(robot, np.random.default_rng(seed))


def arm(drive='', dynamics=''):
    """Return a two-joint arm, `drive` and `dynamics` on its second joint."""
    body = inertial_xml(1.2, [0.3, 0.1, 0.0], np.diag([0.02, 0.03, 0.04]))
    joint = (
        '<joint name="joint{0}" type="continuous"><origin xyz="0.5 0 {1}" rpy="{2} 0 0"/>'
        '<parent link="link{1}"/><child link="link{0}"/><axis xyz="0 0 1"/>{3}</joint>'
    )
    return (
        f'<robot name="arm"><link name="link0"/><link name="link1">{body}</link>'
        f'<link name="link2">{body}</link>{joint.format(1, 0, 1.0, "")}'
        f'{joint.format(2, 1, -0.5, dynamics)}<flexdyn version="1.0">{drive}</flexdyn></robot>'
    )


def pendulum(damping=0.3):
    """Return a point mass of 2 kg at 0.5 m that hangs on a joint about y."""
    return fd.load_robot(
        '<robot name="pendulum"><link name="base"/><link name="bob"><inertial>'
        '<origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0" iyy="0" izz="0" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><joint name="pivot" type="continuous"><parent '
        'link="base"/><child link="bob"/><axis xyz="0 1 0"/>'
        f'<dynamics damping="{damping}"/></joint></robot>'
    )

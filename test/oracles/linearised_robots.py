# SPDX-License-Identifier: Apache-2.0
"""Robots with linearised small deflections, beside their expanded particle models."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import reference_dynamics
from oracles.expansion import ExpandedModel, linearised_places
from oracles.particle_model import ParticleModel
from oracles.random_robots import random_robot_urdf, random_state

ROBOTS = {
    'chain': {'seed': 12, 'n_joints': 3, 'flexible': 1.0, 'tree': False,
              'kinds': ('revolute', 'revolute', 'prismatic')},
    'root': {'seed': 25, 'n_joints': 2, 'flexible': 1.0},
    'two': {'seed': 49, 'n_joints': 2, 'flexible': 1.0, 'tree': False, 'kinds': ('revolute',)},
    'mimics': {'seed': 16, 'n_joints': 5, 'flexible': 0.4, 'mimic': True,
               'kinds': ('revolute', 'continuous', 'prismatic')},
    'floating': {'seed': 17, 'n_joints': 4, 'kinds': ('floating', 'revolute')},
    'planar': {'seed': 18, 'n_joints': 3, 'kinds': ('planar', 'prismatic', 'continuous')},
    'multi_axis': {'seed': 20, 'n_joints': 4, 'kinds': ('multi_axis', 'quaternion', 'revolute')},
    'payload_on_beam': {'seed': 48, 'n_joints': 3, 'flexible': 1.0,
                        'kinds': ('revolute', 'prismatic')},
}
ONE_BEAM = """
<robot name="one"><link name="base"/><link name="beam"/>
<joint name="hub" type="continuous"><parent link="base"/><child link="beam"/><axis xyz="0 0 1"/>
</joint>
<flexdyn version="1.0"><gravity xyz="0 0 0"/>
<flexible_link link="beam" deflection="linearised" {more}>
<beam tip="{length} 0 0" y_axis="0 1 0" young="1e9" iz="{iz}" mass="{mass}">
<bending axis="y" modes="1" basis="polynomial"/><point_mass at="1" mass="{tip}"/></beam>
</flexible_link></flexdyn></robot>
"""


@lru_cache(maxsize=None)
def build(name):
    """Return the exact robot, its linearised dynamics, the expanded particles and a state."""
    robot = fd.load_robot(random_robot_urdf(**ROBOTS[name], max_modes=1))
    rng = np.random.default_rng(ROBOTS[name]['seed'])
    dyn = reference_dynamics(fd.reduced(robot, 'linearised'))
    expanded = ExpandedModel(ParticleModel(robot), linearised_places(robot))
    return robot, dyn, expanded, random_state(robot, rng)


def wrenches_on(robot):
    """Return wrenches on the last frame and one in the middle."""
    rng = np.random.default_rng(4)
    frames = {robot.frame_names[-1], robot.frame_names[len(robot.frame_names) // 2]}
    return {frame: rng.normal(size=6) * 5.0 for frame in sorted(frames)}

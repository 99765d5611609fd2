# SPDX-License-Identifier: Apache-2.0
"""Random robots of every kind by name, and wrenches on them, for all formulations."""

from __future__ import annotations

import numpy as np

ONE_AXIS = ('revolute', 'continuous', 'prismatic', 'fixed')
ROBOTS = {
    'rigid_tree': {'seed': 11, 'n_joints': 7, 'flexible': 0.0},
    'flexible_chain': {'seed': 12, 'n_joints': 3, 'flexible': 1.0, 'tree': False},
    'flexible_tree': {'seed': 13, 'n_joints': 5, 'flexible': 0.7},
    'flexible_root': {'seed': 25, 'n_joints': 3, 'flexible': 1.0},
    'three_modes': {'seed': 15, 'n_joints': 2, 'flexible': 1.0, 'max_modes': 3},
    'mimics': {'seed': 16, 'n_joints': 7, 'flexible': 0.4, 'mimic': True, 'kinds': ONE_AXIS[:3]},
    'floating': {'seed': 17, 'n_joints': 4, 'kinds': ('floating', 'revolute')},
    'planar': {'seed': 18, 'n_joints': 4, 'kinds': ('planar', 'prismatic', 'continuous')},
    'all_kinds': {
        'seed': 19, 'n_joints': 7, 'kinds': (*ONE_AXIS, 'floating', 'planar'), 'mimic': True,
    },
    'multi_axis': {'seed': 20, 'n_joints': 4, 'kinds': ('multi_axis', 'quaternion', 'revolute')},
    'rigid_multi_axis': {'seed': 21, 'n_joints': 3, 'kinds': ('multi_axis',), 'flexible': 0.0},
    'spherical': {'seed': 22, 'n_joints': 4, 'kinds': ('quaternion', 'planar', 'continuous')},
    'screws': {'seed': 23, 'n_joints': 5, 'kinds': ('screw', 'revolute'), 'mimic': True,
               'flexible': 0.6},
    'general_axes': {'seed': 24, 'n_joints': 4, 'kinds': ('general', 'screw'), 'flexible': 0.6},
    'rigid_general_axes': {'seed': 28, 'n_joints': 3, 'kinds': ('general',), 'flexible': 0.0},
    'stiff_beams': {'seed': 61, 'n_joints': 3, 'flexible': 1.0, 'max_modes': 0},
    'payload_on_beam': {'seed': 48, 'n_joints': 3, 'flexible': 1.0},
    'payload_on_root': {'seed': 60, 'n_joints': 3, 'flexible': 1.0},
    **{f'random_{seed}': {'seed': seed, 'n_joints': 4} for seed in range(30, 38)},
}


def random_wrenches(robot, seed=5):
    """Return wrenches on three frames, one of them the last."""
    rng = np.random.default_rng(seed)
    frames = {robot.links[-1].name, *rng.choice(robot.frame_names, 2)}
    return {frame: rng.normal(size=6) * 5.0 for frame in sorted(frames)}

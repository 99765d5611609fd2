# SPDX-License-Identifier: Apache-2.0
"""Rotations between frames from the transforms of TF."""

import math
from types import SimpleNamespace

from flexdyn_ros.nodes.common.transforms import TransformTree, TransformUnknown
import numpy as np
import pytest


def transforms(*edges):
    """Return an object with the fields of a TFMessage: (parent, child, axis, angle) each."""
    made = []
    for parent, child, axis, angle in edges:
        turn = dict(zip('xyz', np.eye(3)['xyz'.index(axis)] * math.sin(angle / 2)))
        made.append(SimpleNamespace(
            header=SimpleNamespace(frame_id=parent), child_frame_id=child,
            transform=SimpleNamespace(
                translation=SimpleNamespace(x=0.5, y=0.0, z=-1.0),
                rotation=SimpleNamespace(**turn, w=math.cos(angle / 2)))))
    return SimpleNamespace(transforms=made)


def turn(axis, angle):
    """Return the matrix of a rotation about a frame axis, written out."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array({
        'x': [[1, 0, 0], [0, c, -s], [0, s, c]],
        'y': [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        'z': [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }[axis])


@pytest.fixture
def tree():
    """Return world -> mast -> base, and world -> imu."""
    made = TransformTree()
    made.take(transforms(('world', 'mast', 'x', 0.3), ('world', 'imu', 'z', 1.0)), None)
    made.take(transforms(('mast', 'base', 'y', -0.4)), 10.0)
    return made


@pytest.mark.parametrize(('target', 'source', 'expected'), [
    ('world', 'base', turn('x', 0.3) @ turn('y', -0.4)),
    ('base', 'world', (turn('x', 0.3) @ turn('y', -0.4)).T),
    ('base', 'imu', (turn('x', 0.3) @ turn('y', -0.4)).T @ turn('z', 1.0)),
    ('base', 'base', np.eye(3)),
    ('nowhere', 'nowhere', np.eye(3)),
])
def test_rotations_follow_the_tree_up_and_down(tree, target, source, expected):
    assert np.allclose(tree.transform(target, source, 10.0, 1.0)[0], expected, atol=1e-12)


def test_a_silent_transform_is_stale_and_a_static_one_never(tree):
    with pytest.raises(TransformUnknown, match='from world to base is stale for 2 s'):
        tree.transform('base', 'world', 12.0, 1.0)
    rotation, _ = tree.transform('mast', 'imu', 1e6, 1.0)
    assert np.allclose(rotation, turn('x', 0.3).T @ turn('z', 1.0))


def test_frames_that_nothing_connects_are_named(tree):
    with pytest.raises(TransformUnknown, match='TF does not connect odom to base'):
        tree.transform('base', 'odom', 10.0, 1.0)


def test_frames_without_end_do_not_fill_the_memory(tree, monkeypatch):
    monkeypatch.setattr('flexdyn_ros.nodes.common.transforms.MOST_FRAMES', 5)
    for k in range(9):
        tree.take(transforms(('world', f'frame{k}', 'x', 0.0)), 0.0)
    assert len(tree._transforms) == 5
    tree.take(transforms(('world', 'imu', 'x', 0.5)), None)
    rotation, _ = tree.transform('world', 'imu', 0.0, 1.0)
    assert rotation == pytest.approx(turn('x', 0.5))


def test_rings_of_frames_end(tree):
    tree.take(transforms(('base', 'world', 'x', 0.1)), None)
    with pytest.raises(TransformUnknown):
        tree.transform('base', 'odom', 10.0, 1.0)


@pytest.mark.parametrize('w', [0.0, math.nan])
def test_what_is_no_rotation_is_left_out(tree, w):
    wrong = transforms(('mast', 'base', 'y', 0.0))
    wrong.transforms[0].transform.rotation.w = w
    tree.take(wrong, 10.0)
    assert np.allclose(tree.transform('mast', 'base', 10.0, 1.0)[0], turn('y', -0.4))

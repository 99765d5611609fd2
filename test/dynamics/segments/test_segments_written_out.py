# SPDX-License-Identifier: Apache-2.0
"""A boom in segments against the same chain as plain URDF links, in three programs."""

from functools import lru_cache

import flexdyn_ros as fd
import numpy as np
from oracles.compare import assert_agree, assert_matrices_agree, reference_dynamics
from oracles.mujoco_oracle import MujocoOracle
from oracles.particle_loops import with_loop
from oracles.pinocchio_oracle import pin, PinocchioOracle
from oracles.random_robots import numbers, rpy_of
from oracles.segment_arms import BODY, boom, LENGTH, plain_boom, STIFFNESS
import pytest
from scipy.spatial.transform import Rotation

# Attachments of the boom: distance along it, offset, rotation, axis, name.
HUNG = (
    (0.40, (0.02, 0.06, -0.03), Rotation.from_euler('xyz', [0.2, 0.4, -0.3]), (0.0, 0.6, 0.8),
     'a'),
    (1.10, (0.0, 0.0, 0.0), Rotation.from_euler('xyz', [0.0, 0.9, 0.0]), (1.0, 0.0, 0.0), 'b'),
    (LENGTH, (0.0, 0.05, 0.0), Rotation.identity(), (0.0, 0.0, 1.0), 'c'),
)


@lru_cache(maxsize=None)
def twins(directions, placement):
    """Return texts of the boom in segments with its attachments, and of the same plain links."""
    more = ''.join(
        f'<link name="{name}">{BODY}</link><joint name="{name}_joint" type="continuous">'
        f'<parent link="boom"/><child link="{name}"/><origin xyz="{at + dx!r} {dy} {dz}" '
        f'rpy="{numbers(rpy_of(turn.as_matrix()))}"/><axis xyz="{numbers(axis)}"/></joint>'
        for at, (dx, dy, dz), turn, axis, name in HUNG
    )
    plain = plain_boom(4, directions, placement, [
        (at, np.array(offset), turn.as_matrix(), axis, name, BODY)
        for at, offset, turn, axis, name in HUNG
    ])
    cut = boom(4, directions, placement, 'continuous', more=more, gravity='1 -9 2')
    plain = plain.replace('</robot>', '<flexdyn version="1.0"><gravity xyz="1 -9 2"/></flexdyn>'
                          '</robot>')
    return cut, plain


CHAINS = [('z', 'centred'), ('y z', 'reference'), ('x y z', 'centred')]


@pytest.mark.parametrize('directions, placement', CHAINS)
def test_small_links_written_out_by_hand(directions, placement):
    """A plain URDF of the chain, read by the same program, in Pinocchio and in MuJoCo."""
    cut, text = twins(directions, placement)
    robot, plain = fd.load_robot(cut), fd.load_robot(text)
    ours = reference_dynamics(robot)
    order = [plain.coordinate_names.index(name) for name in robot.coordinate_names]
    rng = np.random.default_rng(7)
    q, qd, qdd = rng.normal(size=(3, robot.nv)) * 0.5
    there = np.zeros((3, robot.nv))
    there[:, order] = q, qd, qdd
    elastic = ours.elastic_vector(q, qd)
    s = LENGTH / (3 if placement == 'centred' else 4)
    for k, name in enumerate(robot.coordinate_names):
        stiffness = STIFFNESS[name[-1]] / s if 'segment' in name else 0.0
        assert elastic[k] == pytest.approx(stiffness * q[k], rel=1e-12)
    torque = ours.inverse_dynamics(q, qd, qdd) - elastic
    for model in oracles(plain, text):
        assert_agree(torque, model.inverse_dynamics(*there)[order], 1e-10)
        assert_matrices_agree(
            ours.mass_matrix(q), model.mass_matrix(there[0])[np.ix_(order, order)], 1e-10)
    theirs = reference_dynamics(plain)
    for frame in 'abc':
        assert_agree(ours.frame_pose(q, frame), theirs.frame_pose(there[0], frame), 1e-12)
        assert_agree(ours.jacobian(q, frame), theirs.jacobian(there[0], frame)[:, order], 1e-12)
        assert_agree(ours.jacobian_rate_qd(q, qd, frame),
                     theirs.jacobian_rate_qd(there[0], there[1], frame), 1e-11)
    energy = theirs.kinetic_energy(there[0], there[1])
    assert ours.kinetic_energy(q, qd) == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize('directions, placement', CHAINS)
def test_small_links_in_a_loop(directions, placement):
    """The last link hangs on the ground too: the chain of plain links moves alike."""
    texts = twins(directions, placement)
    robot, plain = map(fd.load_robot, texts)
    order = [plain.coordinate_names.index(name) for name in robot.coordinate_names]
    rng = np.random.default_rng(8)
    q, qd, tau = rng.normal(size=(3, robot.nv)) * 0.3
    there = np.zeros((3, robot.nv))
    there[:, order] = q, qd, tau
    closed = [
        reference_dynamics(fd.load_robot(
            with_loop(text, reference_dynamics(bare), at, 'pin', 'c', 'base', 'rz tx ty')))
        for text, bare, at in zip(texts, (robot, plain), (q, there[0]))
    ]
    qd = closed[0].project(q, qd)[1]
    elastic = closed[0].elastic_vector(q, qd)
    there[1, order], there[2, order] = qd, tau - elastic
    assert closed[0].loop_report(q).rank == 3
    found = closed[0].forward_dynamics(q, qd, tau)
    assert_agree(found, closed[1].forward_dynamics(*there)[order], 1e-9)
    assert_agree(closed[0].constraint_forces(q, qd, tau),
                 closed[1].constraint_forces(*there), 1e-9)


def oracles(plain, text):
    """Return models of the plain chain; MuJoCo takes no massless links."""
    bare = text[:text.index('<flexdyn')] + '</robot>'
    found = [reference_dynamics(plain), PinocchioOracle(plain, pin.buildModelFromXML(bare))]
    if '_y' not in text:
        found.append(MujocoOracle(plain, bare))
    return found

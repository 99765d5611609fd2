# SPDX-License-Identifier: Apache-2.0
"""The modes of a link are analysed once for a robot, for all computations."""

import gc

import flexdyn_ros as fd
from flexdyn_ros.model.beam import body, family_shapes
from flexdyn_ros.model.modal import matrices
import numpy as np
import pytest

# Loaded modes, a pinned root, a static mode and a loss factor: each needs an eigenproblem.
ROBOT = """<robot name="r"><link name="base"/><link name="a"/><link name="b"/>
  <joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint>
  <joint name="k" type="continuous"><origin xyz="{length} 0 0"/>
    <parent link="a"/><child link="b"/></joint>
  <flexdyn version="1.0">
    <flexible_link link="a"><beam tip="k" young="7e10" iz="1e-8" iy="1e-8" mass="1"
        loss_factor="0.01" loaded="true"><bending axis="y" modes="2"/>
      <bending axis="z" modes="1" boundary="pinned-free"/></beam></flexible_link>
    <flexible_link link="b"><beam tip="1 0 0" young="7e10" iz="1e-8" mass="1" loss_factor="0.02">
      <bending axis="y" modes="1" static_modes="1"/></beam></flexible_link>
  </flexdyn></robot>"""


@pytest.fixture
def analyses(monkeypatch):
    """Return the sizes of the eigenproblems solved so far."""
    sizes = []

    def counted(matrix, metric):
        sizes.append(len(matrix))
        return solve(matrix, metric)

    solve = matrices.reduced_eigenproblem
    for module in (matrices, family_shapes):
        monkeypatch.setattr(module, 'reduced_eigenproblem', counted)
    family_shapes.family_shapes.cache_clear()
    return sizes


def test_once_for_a_robot(analyses):
    """Loading finds the shapes, the first Dynamics the damping; nothing solves anything again."""
    robot = fd.load_robot(ROBOT.format(length=1.25))
    loaded = len(analyses)
    assert loaded >= 3
    q = np.full(robot.nv, 0.1)
    fd.Dynamics(robot, backend='reference').inverse_dynamics(q, q, q)
    assert len(analyses) == loaded + 2  # a loss factor a link
    for backend in ('reference', 'python'):
        dyn = fd.Dynamics(robot, backend=backend)
        dyn.inverse_dynamics(q, q, q)
        dyn.mass_matrix(q)
        dyn.set_payload('b', 1.0, [1.0, 0.0, 0.0], np.eye(3))
        dyn.forward_dynamics(q, q, q)
    fd.generate(robot, 'gravity_vector')
    fd.generate(robot, 'mass_matrix+bias_vector', optimise='quick')
    assert len(analyses) == loaded + 2


def test_nothing_of_a_robot_is_kept_after_it(analyses):
    robot = fd.load_robot(ROBOT.format(length=1.5))
    first = body.link_body(robot.link('a'))
    assert body.link_body(robot.link('a')) is first
    gc.collect()  # robots of other tests
    kept = len(body._BODIES)
    del robot
    gc.collect()
    assert len(body._BODIES) == kept - 1


def test_what_is_shared_is_read_only():
    robot = fd.load_robot(ROBOT.format(length=1.75))
    with pytest.raises(ValueError, match='read-only'):
        body.link_body(robot.link('a')).modal_mass[0, 0] = 1.0

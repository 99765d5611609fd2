# SPDX-License-Identifier: Apache-2.0
"""Loops that given joints alone close: modes, whose columns are rounding, move as without them."""

from codegen.compiled import needs_compiler, QUICK
import flexdyn_ros as fd
import numpy as np
from oracles.random_robots import numbers, rpy_of
import pytest

BODY = (
    '<inertial><origin xyz="0.1 0.2 -0.1"/><mass value="1.3"/><inertia ixx="0.03" iyy="0.04" '
    'izz="0.05" ixy="0.001" ixz="0" iyz="0.002"/></inertial>'
)
ROBOT = f"""<robot name="locked"><link name="mast"/><link name="arm">{BODY}</link>
<link name="hand">{BODY}</link><link name="pin"/>
<joint name="turn" type="continuous"><origin xyz="0.3 -0.4 0.5" rpy="0.3 -0.7 1.1"/>
<parent link="mast"/><child link="arm"/><axis xyz="0.3 -0.5 0.7"/></joint>
<joint name="swing" type="continuous"><origin xyz="0.1 0.2 0.3" rpy="1 0.5 0.2"/>
<parent link="arm"/><child link="hand"/><axis xyz="1 0.2 -0.4"/></joint>
<joint name="pinned" type="fixed"><origin xyz="{{0}}" rpy="{{1}}"/>
<parent link="mast"/><child link="pin"/></joint>
<flexdyn version="1.0"><flexible_link link="mast"><segments tip="0.3 -0.4 0.5" count="3"
directions="y z" young="2e9" shear="8e8" area="1e-3" iy="2e-8" iz="3e-8" j="2e-8" mass="0.9"/>
</flexible_link>{{2}}</flexdyn></robot>"""
LOOP = '<loop name="lock" frame1="hand" frame2="pin" constrain="tx"/>'


@pytest.mark.parametrize('backend', ['reference', pytest.param('c', marks=needs_compiler)])
def test_modes_move_as_without_the_loop(backend, monkeypatch):
    """The loop holds a joint, whose acceleration is given; no force of it reaches a mode."""
    monkeypatch.setenv('FLEXDYN_CFLAGS', QUICK)
    free = fd.load_robot(ROBOT.format('0 0 0', '0 0 0', ''))
    theirs = fd.Dynamics(free, 'reference')
    pose = theirs.frame_pose(np.zeros(free.nv), 'hand')
    place = numbers(pose[:3, 3]), numbers(rpy_of(pose[:3, :3]))
    ours = fd.Dynamics(fd.load_robot(ROBOT.format(*place, LOOP)), backend)
    rng = np.random.default_rng(4)
    for _ in range(20):
        q, qd = 0.02 * rng.normal(size=free.nv), rng.normal(size=free.nv)
        q[0] = qd[0] = 0.0
        joint_qdd = np.array([0.0, rng.normal()])
        tau, modal = ours.hybrid_dynamics(q, qd, joint_qdd)
        expected_tau, expected = theirs.hybrid_dynamics(q, qd, joint_qdd)
        assert np.abs(modal - expected).max() < 1e-9 * np.abs(expected).max()
        assert abs(tau[1] - expected_tau[1]) < 1e-9 * np.abs(expected_tau).max()

# SPDX-License-Identifier: Apache-2.0
"""Motions that excite an arm: limits, rest at both ends, and a better condition than random."""

from dataclasses import replace
import json

from flexdyn_ros import Dynamics, load_robot
from flexdyn_ros.cli.main import main
from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.identification import identify, Motion
from flexdyn_ros.identification.excitation import _Search, excite
from flexdyn_ros.identification.regressor import known_forces
from flexdyn_ros.identification.workspace import line_distance, Workspace
import numpy as np
import pytest
from scipy.optimize import lsq_linear
from simulated_arms import described_arm, true_arm


@pytest.fixture(scope='module')
def arm():
    return described_arm()


@pytest.fixture(scope='module')
def found(arm):
    return excite(arm, period=10.0, trials=20, steps=12)


def test_the_motion_keeps_the_limits_and_starts_and_ends_at_rest(arm, found):
    t = np.linspace(0.0, found.period, 2001)
    q, qd, qdd = found.at(t)
    assert np.abs(q).max() <= 2.5
    assert np.abs(qd).max() <= 2.0
    torque = known_forces(arm, q, qd, qdd)
    assert np.all(np.abs(torque).max(axis=0) <= [200.0, 200.0, 80.0])
    for values in (qd, qdd):
        assert np.abs(values[[0, -1]]).max() < 1e-9 * np.abs(values).max()
    assert np.allclose(q[0], q[-1])
    step = t[1]
    assert np.allclose(np.gradient(q, step, axis=0)[1:-1], qd[1:-1], atol=1e-3)
    assert np.allclose(np.gradient(qd, step, axis=0)[1:-1], qdd[1:-1], atol=3e-3)


def test_the_condition_is_better_than_that_of_random_motions(found):
    assert len(found.random_conditions) == 20
    assert found.condition < found.random_conditions.min()
    assert found.condition < np.median(found.random_conditions) / 1.5


def test_slopes_are_those_of_differences(arm):
    search = _Search(arm, 10.0, 5, None, np.random.default_rng(0))
    x = search.random(1)[0]
    slope = search._smooth_condition(x, 8)[1]
    for k in (2, 5, 12, 20, 30):
        step = np.zeros_like(x)
        step[k] = 1e-5
        ends = [search._smooth_condition(x + sign * step, 8)[0] for sign in (1.0, -1.0)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slope[k], rel=1e-3, abs=1e-6)


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.parametrize('vendor', ['ur5e', 'panda'])
def test_vendors_arms_beat_a_hundred_random_motions(vendor):
    if vendor == 'ur5e':
        models = pytest.importorskip('airo_models', reason='airo-models is not installed')
        path = models.get_urdf_path('ur5e')
    else:
        from oracles.vendor_robots import robots_folder

        path = robots_folder() / 'panda_description/urdf/panda.urdf'
    found = excite(load_robot(path), trials=100)
    assert len(found.random_conditions) == 100
    assert found.condition < found.random_conditions.min()
    assert found.condition < np.median(found.random_conditions) / 1.8


def test_it_identifies_what_it_claims(arm, found):
    random = np.random.default_rng(2)
    true = true_arm(arm, random)
    t = np.arange(0.0, 2.0 * found.period, 0.005)
    q, qd, qdd = found.at(t)
    tau = known_forces(true, q, qd, qdd) + 0.1 * random.normal(size=q.shape)
    identified = identify(arm, Motion(t, q, tau=tau))
    assert set(identified.base_parameters) == set(found.identified)
    assert identified.statistics.condition < 3.0 * found.condition
    assert not identified.warnings


@pytest.fixture(scope='module')
def tooled():
    """Return the arm with a tool 0.35 m beyond the last joint."""
    text = described_arm().descriptions[0].replace('</robot>', (
        '<link name="tool"/><joint name="flange" type="fixed"><parent link="link3"/>'
        '<child link="tool"/><origin xyz="0.35 0 0"/></joint></robot>'))
    return load_robot(text)


def places(robot, found):
    """Return points of the forearm from elbow to tool, (T, 11, 3)."""
    dyn = Dynamics(robot, backend='reference')
    q = found.at(np.linspace(0.0, found.period, 90))[0]
    elbow, tool = (np.array([dyn.frame_pose(row, frame)[:3, 3] for row in q])
                   for frame in ('link3', 'tool'))
    return elbow[:, None] + np.linspace(0.0, 1.0, 11)[:, None] * (tool - elbow)[:, None]


SHORT = {'period': 10.0, 'trials': 10, 'steps': 1}


@pytest.fixture(scope='module')
def unlimited(tooled):
    """Return the same points in a motion without a workspace."""
    return places(tooled, excite(tooled, **SHORT))


def from_column(points):
    """Return distances of points (..., 3) from the line that the arm stands on."""
    below = np.clip(points[..., 2], 0.0, 0.3)
    return np.linalg.norm(points - np.stack([0 * below, 0 * below, below], axis=-1), axis=-1)


@pytest.mark.parametrize(('space', 'kept'), [
    (Workspace(walls=[(0.0, 0.0, 2.0, -0.1), (-1.0, -1.0, 0.0, -0.45)], radius=0.05),
     lambda p: np.minimum(p[..., 2] + 0.1, 0.45 - (p[..., 0] + p[..., 1]) / 2**0.5) - 0.05),
    (Workspace(box=[(-0.5, -np.inf, -0.2), (0.6, 0.7, np.inf)]),
     lambda p: np.min([p[..., 0] + 0.5, 0.6 - p[..., 0], 0.7 - p[..., 1], p[..., 2] + 0.2],
                      axis=0)),
    (Workspace(radius=0.06, clearance=0.05), lambda p: from_column(p) - 0.17),
], ids=['walls', 'box', 'clearance'])
def test_a_workspace_is_kept(tooled, unlimited, space, kept):
    """Links stay within it; without it the same search leaves it."""
    found = excite(tooled, workspace=space, **SHORT | {'steps': int(not space.walls)})
    assert kept(places(tooled, found)).min() > -0.015  # between two of 60 samples
    assert kept(unlimited).min() < -0.05
    assert found.condition < 100.0


def test_slopes_in_a_workspace_are_those_of_differences(tooled):
    """Of a motion made smaller to stay in a box."""
    space = Workspace(box=[(-0.6, -0.6, -0.2), (0.6, 0.6, 0.8)])
    search = _Search(tooled, 10.0, 5, space, np.random.default_rng(0))
    rows = search.random(20)
    found, _, factors = search.conditions(rows)
    x = rows[np.flatnonzero(np.isfinite(found) & (factors[:, 1] < 1.0))[0]]
    slope = search._smooth_condition(x, 8)[1]
    for k in (5, 20):
        step = np.zeros_like(x)
        step[k] = 1e-5
        ends = [search._smooth_condition(x + sign * step, 8)[0] for sign in (1.0, -1.0)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(slope[k], rel=1e-3, abs=1e-6)


def test_distances_of_lines_are_those_of_scipy():
    """Crossing, parallel, end to end; the square is convex, so that its minimum is unique."""
    random = np.random.default_rng(1)
    ends = random.normal(size=(4, 30, 3))
    ends[3, :8] = ends[2, :8] + random.uniform(-2.0, 2.0, (8, 1)) * (ends[1, :8] - ends[0, :8])
    found = line_distance(*ends)
    for k, (a, b, c, d) in enumerate(ends.transpose(1, 0, 2)):
        across = np.column_stack((b - a, c - d))
        least = lsq_linear(across, c - a, bounds=(0.0, 1.0), tol=1e-14)
        assert found[k] == pytest.approx(np.sqrt(2.0 * least.cost), abs=1e-6)


@pytest.mark.parametrize('space', [
    Workspace(walls=[(0.0, 0.0, 0.0, 1.0)]), Workspace(box=[(0, 0, 0), (1, 0, 1)]),
    Workspace(radius=-0.1), Workspace(clearance=np.inf), Workspace(walls=[(0.0, 0.0, 1.0)]),
    Workspace(box=[(0, 0), (1, 1)]),
])
def test_workspaces_out_of_range_are_refused(arm, space):
    with pytest.raises(ArgumentError):
        excite(arm, trials=1, workspace=space)


def test_a_floor_is_kept_or_reported(arm):
    found = excite(arm, period=10.0, trials=20, steps=2, floor=0.2)
    q = found.at(np.linspace(0.0, found.period, 60))[0]
    # The elbow, 0.4 m out on the second link at height 0.3 m.
    assert (0.3 + 0.4 * np.sin(q[:, 1])).min() > 0.19
    with pytest.raises(FlexdynError, match='No random motion respects the limits'):
        excite(arm, trials=1, floor=5.0)


def test_weak_motors_slow_the_motion(arm):
    joints = tuple(
        replace(joint, limit=replace(joint.limit, velocity=30.0)) for joint in arm.joints)
    fast = replace(arm, joints=joints)
    weak = replace(arm, joints=tuple(
        replace(joint, limit=replace(joint.limit, effort=60.0)) for joint in joints))
    assert excite(weak, period=2.0, trials=5, steps=0).period > 2.0
    assert excite(fast, period=2.0, trials=20, steps=0).period >= 2.0


def test_the_command_writes_a_motion(arm, tmp_path, capsys):
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(arm.descriptions[0])
    out = tmp_path / 'out'
    assert main(['excite', str(urdf), '-o', str(out), '--period', '8', '--steps', '1', '--wall',
                 '0', '0', '1', '0', '--box', '-1', '1', '-1', '1', '-1', '0.8', '--radius',
                 '0.05', '--clearance', '0.1', '--json']) == 0
    record = json.loads(capsys.readouterr().out)
    assert record['joints'] == ['joint1', 'joint2', 'joint3']
    lines = (out / 'excitation.csv').read_text().splitlines()
    assert lines[0].startswith('t,joint1,joint2,joint3,joint1/velocity')
    message = json.loads((out / 'joint_trajectory.yaml').read_text())
    assert len(message['points']) == len(lines) - 1
    assert message['points'][-1]['time_from_start']['sec'] >= 8
    assert (out / 'excitation.png').stat().st_size > 5000

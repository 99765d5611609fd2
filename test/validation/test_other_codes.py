# SPDX-License-Identifier: Apache-2.0
"""Arms for the comparison with other codes: one model everywhere, and codes that are missing."""

from dataclasses import replace
from functools import partial

from flexdyn_ros.model.load import load_robot
from flexdyn_ros.robot_dynamics import Dynamics
import numpy as np
import pytest
from validation import case_file
from validation.case_file import inputs, make_rows
from validation.other_codes import (
    comparison,
    motion,
    mujoco_segments,
    ours,
    pinocchio_segments,
    satellite,
    three_links,
)
from validation.other_codes.arm import read_arm
from validation.other_codes.motion import angle_between, distances
from validation.other_codes.pieces import pieces
from validation.studies import turn

ARMS = {name: read_arm(inputs(name)) for name in (three_links.NAME, satellite.NAME)}


@pytest.mark.parametrize('name', ARMS)
def test_both_forms_stand_where_the_arm_starts(name):
    """The tip of the straight bars follows from their places and rotations."""
    arm = ARMS[name]
    place, axes = arm.places()[-1]
    for form in (ours.Modes(1, 1, static=arm.directions != 'z'), ours.Segments(3)):
        robot = load_robot(ours.urdf(arm, form))
        q = robot.neutral_configuration()
        q[-robot.n_modes - len(arm.bars):][:len(arm.bars)] = arm.angles
        pose = Dynamics(robot, backend='reference').frame_pose(q, 'tip')
        end = place + axes[:, 0] * arm.bars[-1].length
        np.testing.assert_allclose(pose[:3, 3], end, atol=1e-12)
        np.testing.assert_allclose(pose[:3, :3], axes, atol=1e-12)


@pytest.mark.parametrize('name', ARMS)
def test_pieces_are_the_bar(name):
    """Mass and first moment of the pieces are the bar's; the hinges stand at the middles."""
    for bar in ARMS[name].bars:
        chain = pieces(bar, 4)
        starts = np.cumsum([piece.at for piece in chain])
        middles = starts + [piece.length / 2.0 for piece in chain]
        masses = np.array([piece.mass for piece in chain])
        assert masses.sum() == pytest.approx(bar.mass, rel=1e-14)
        assert masses @ middles == pytest.approx(bar.mass * bar.length / 2.0, rel=1e-14)
        np.testing.assert_allclose(starts[1:], (np.arange(3) + 0.5) * bar.length / 3.0)


@pytest.mark.parametrize('name', ARMS)
def test_pinocchio_has_the_same_segments(name):
    """Its mass matrix in a bent state is ours, coordinate by coordinate."""
    pin = pytest.importorskip(
        'pinocchio', reason='the oracle Pinocchio is not installed here: `make test` installs it')
    arm = ARMS[name]
    robot = load_robot(ours.urdf(arm, ours.Segments(3)))
    model = pinocchio_segments.chain(arm, 3).model
    free = robot.nq - robot.nv
    q = np.random.default_rng(3).normal(size=robot.nq) * 0.4
    there = pin.neutral(model)
    if free:
        q[3:7] /= np.linalg.norm(q[3:7])
        there[:7] = q[:7]
    order = list(range(6 if free else 0))
    for k, coordinate in enumerate(robot.coordinate_names):
        if k >= len(order) and 'base_motion' not in coordinate:
            joint = model.joints[model.getJointId(coordinate.replace('joint', 'link'))]
            there[joint.idx_q] = q[k + free]
            order.append(joint.idx_v)
    mass = np.triu(pin.crba(model, model.createData(), there))
    mass = mass + np.triu(mass, 1).T
    found = Dynamics(robot, backend='reference').mass_matrix(q)
    np.testing.assert_allclose(found, mass[np.ix_(order, order)], atol=1e-11 * mass.max())


@pytest.mark.parametrize('name', ARMS)
def test_mujoco_moves_the_same_segments_alike(name, monkeypatch):
    """Over forty steps, from rest, under the arm's own force or torques."""
    pytest.importorskip(
        'mujoco', reason='the oracle MuJoCo is not installed here: `make test` installs it')
    dt = inputs(name)['dt']
    arm = replace(ARMS[name], t_end=40 * dt)
    for module in (motion, ours, mujoco_segments):
        monkeypatch.setattr(module, 'SAMPLES', 41)
    # Compiling takes longer than so few steps.
    monkeypatch.setattr(ours, 'Dynamics', partial(Dynamics, backend='reference'))
    found = ours.tip_motion(arm, ours.Segments(3), dt)
    theirs = mujoco_segments.tip_motion(arm, 3, dt)
    assert np.linalg.norm(found.tip[-1] - found.tip[0]) > 1e-7
    assert distances(found, theirs).max() < 1e-11


def test_angle_between_rotations():
    """The angle of the relative rotation, about any axis."""
    one = turn(0, 0.3) @ turn(1, -0.7)
    assert angle_between(one, one @ turn(2, 0.02)) == pytest.approx(0.02, rel=1e-12)
    assert angle_between(one @ turn(1, -0.4), one) == pytest.approx(0.4, rel=1e-12)


@pytest.mark.parametrize('case', [three_links, satellite])
def test_a_missing_code_is_reported_in_each_of_its_rows(case, monkeypatch):
    """The missing code is named; rows of our own are there all the same."""
    def nothing(*_):
        return ours.TipMotion(np.zeros((201, 3)), np.eye(3))

    monkeypatch.setattr(comparison, 'find_spec', lambda module: None)
    monkeypatch.setattr(case, '_ours', nothing)
    for own in ('_momentum', '_work'):
        monkeypatch.setattr(case, own, lambda form: 1.0, raising=False)
    rows = case.compare(lambda fraction: None)
    missing = [row for row in rows if row.verdict == 'not run']
    assert len(missing) == len(rows) - 2 * (case is satellite)
    assert {row.ours.needs for row in missing} == {
        'exudyn (pip install exudyn)', 'mujoco (pip install mujoco)',
        'pinocchio (pip install pin)'}


def test_expected_values_of_other_codes_belong_to_rows_that_ask_for_them(monkeypatch):
    """One too many or too few is an error."""
    case = {'kind': 'other_code', 'rows': {
        'tip': {'quantity': 'tip', 'expected': 'computed', 'absolute': 0.1},
        'angle': {'quantity': 'angle', 'expected': 0.0},
    }}
    monkeypatch.setattr(case_file, 'case_entry', lambda name: case)
    tip, angle = make_rows('a', {'tip': [1.0, 2.0], 'angle': 0.0}, {'tip': np.array([1.0, 2.2])})
    assert tip.difference == pytest.approx(0.2) and tip.verdict == 'missed'
    assert angle.verdict == 'met'
    for computed in ({}, {'tip': 1.0, 'angle': 1.0}):
        with pytest.raises(ValueError, match='expected values computed for'):
            make_rows('a', {'tip': 1.0, 'angle': 0.0}, computed)

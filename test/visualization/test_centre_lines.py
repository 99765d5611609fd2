# SPDX-License-Identifier: Apache-2.0
"""The shapes of bent links as they are drawn."""

from drawn_arms import arm, LENGTH, SEGMENTS
import flexdyn_ros as fd
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.modal.files import write_modal_file
from flexdyn_ros.visualization.centre_lines import centre_lines, rigid_segments
import numpy as np
import pytest

MODES = np.array([0.05, -0.02, 0.01, 0.0, 0.1, 0.0])


def test_the_line_ends_where_the_next_link_begins():
    dyn = fd.Dynamics(fd.load_robot(arm()), backend='reference')
    q = [0.3, *MODES]
    (shape,) = centre_lines(dyn.robot, 9)
    drawn = shape.deformed(dyn.frame_pose(q, 'boom'), MODES)
    assert np.allclose(drawn.line[0], dyn.frame_pose(q, 'boom')[:3, 3])
    assert np.allclose(drawn.line[-1], dyn.frame_pose(q, 'tip')[:3, 3])
    assert drawn.deflection[0] == pytest.approx(0.0, abs=1e-15)
    assert drawn.deflection[-1] == pytest.approx(np.hypot(0.03, 0.01), rel=1e-3)
    poses = {name: dyn.frame_pose(q, name) for name in ('base', 'boom')}
    assert np.allclose(rigid_segments(dyn.robot, poses), [np.zeros(3), poses['boom'][:3, 3]])


def test_a_chain_of_segments_ends_where_the_next_link_begins_and_keeps_its_length():
    robot = fd.load_robot(arm(SEGMENTS.format(placement='centred')))
    dyn = fd.Dynamics(robot, backend='reference')
    modes = np.random.default_rng(2).uniform(-0.2, 0.2, dyn.robot.n_modes)
    q, straight = [0.3, *modes], [0.3, *(0.0 * modes)]
    (shape,) = centre_lines(dyn.robot, 200)
    drawn = shape.deformed(dyn.frame_pose(q, 'boom'), modes)
    tip = dyn.frame_pose(q, 'tip')[:3, 3]
    assert np.allclose(drawn.line[-1], tip, atol=1e-12)
    away = np.linalg.norm(tip - dyn.frame_pose(straight, 'tip')[:3, 3])
    assert drawn.deflection[-1] == pytest.approx(away)
    steps = np.diff(drawn.line, axis=0)
    assert np.sum(np.linalg.norm(steps, axis=1)) == pytest.approx(LENGTH, rel=0.01)
    # Smooth: no corner turns by more than a few thousandths of the 0.2 rad of a joint.
    turns = np.linalg.norm(np.diff(steps / np.linalg.norm(steps, axis=1)[:, None], axis=0), axis=1)
    assert turns.max() < 0.03


def test_a_link_from_a_file_is_drawn_by_its_nodes(tmp_path):
    """The nodes of a beam's modes lie on the drawn beam, geometric stiffening included."""
    beam = fd.load_robot(arm())
    boom = beam.link('boom')
    places = [x * LENGTH * np.eye(3)[0] for x in np.linspace(0.0, 1.0, 9)]
    write_modal_file(tmp_path / 'boom.npz', link_body(boom), places)
    text = arm('<modal file="boom.npz" format="npz"/>')
    robot = fd.load_robot(text, base_dir=tmp_path)
    for factor in (1.0, 2.0):
        drawn, nodes = (centre_lines(each, 9)[0].deformed(np.eye(4), factor * MODES)
                        for each in (beam, robot))
        assert np.allclose(nodes.line, drawn.line, atol=1e-9)
        assert np.allclose(nodes.deflection, drawn.deflection, atol=1e-9)
        assert (drawn.is_line, nodes.is_line) == (True, False)


def test_the_factor_scales_the_line_and_not_the_reported_deflection():
    (shape,) = centre_lines(fd.load_robot(arm()), 9)
    one, three = (shape.deformed(np.eye(4), factor * MODES, MODES) for factor in (1.0, 3.0))
    assert np.allclose(three.line[:, 1:], 3.0 * one.line[:, 1:])
    assert np.array_equal(one.deflection, three.deflection)
    from_there = shape.deformed(np.eye(4), MODES, MODES, MODES)
    assert np.allclose(from_there.line, one.line)
    assert not from_there.deflection.any()

# SPDX-License-Identifier: Apache-2.0
"""The shapes of bent links as they are drawn."""

import re

from arms import flexible_arm, rigid_arm
import flexdyn_ros as fd
from flexdyn_ros.model.beam.body import link_body
from flexdyn_ros.model.modal.files import write_modal_file
from flexdyn_ros.nodes.markers.deformed_messages import marker_array
from flexdyn_ros.nodes.markers.deformed_shape import (
    colour,
    link_shapes,
    rigid_segments,
    SIDES,
    tube_triangles,
)
import numpy as np
import pytest
from std_msgs.msg import Header
from visualization_msgs.msg import Marker

SEGMENTED = rigid_arm().replace('</robot>', """
  <flexdyn version="1.0"><flexible_link link="upper" inertial="hub">
    <segments count="4" directions="x y z" tip="elbow" y_axis="0 1 0" young="2e9" shear="8e8"
              area="1e-3" iy="4e-8" iz="4e-8" j="8e-8" mass="1.0"/>
  </flexible_link></flexdyn></robot>""")


def test_the_drawn_beam_ends_where_the_next_link_begins():
    dyn = fd.Dynamics(fd.load_robot(flexible_arm()))
    modes = np.array([0.05, -0.02])
    q = [0.3, 0.0, *modes]
    (shape,) = link_shapes(dyn.robot, 9, 0.02)
    drawn = shape.deformed(dyn.frame_pose(q, 'upper'), modes, 1.0)
    assert np.allclose(drawn.line[0], [0.0, 0.0, 0.0])
    assert np.allclose(drawn.line[-1], dyn.frame_pose(q, 'fore')[:3, 3])
    assert drawn.deflection[0] == pytest.approx(0.0, abs=1e-15)
    assert drawn.deflection[-1] == pytest.approx(0.03)
    radii = np.linalg.norm(drawn.rings - drawn.line[:, None, :], axis=2)
    assert np.allclose(radii, 0.02)


def test_a_drawn_chain_of_segments_ends_where_the_next_link_begins():
    dyn = fd.Dynamics(fd.load_robot(SEGMENTED), backend='reference')
    modes = np.random.default_rng(2).uniform(-0.2, 0.2, dyn.robot.n_modes)
    q = np.array([0.3, -0.4, *modes])
    (shape,) = link_shapes(dyn.robot, 9, 0.02)
    poses = {name: dyn.frame_pose(q, name) for name in dyn.robot.frame_names}
    drawn = shape.deformed(poses['upper'], modes, 1.0)
    assert np.allclose(drawn.line[-1], poses['fore'][:3, 3], atol=1e-12)
    straight = dyn.frame_pose([0.3, -0.4, *(0 * modes)], 'fore')[:3, 3]
    assert drawn.deflection[-1] == pytest.approx(np.linalg.norm(drawn.line[-1] - straight))
    # Rigid pieces: the first point lies on the joint axis, neighbours keep their distance.
    steps = np.linalg.norm(np.diff(drawn.line, axis=0), axis=1)
    assert np.all(steps <= 1.0 / 8 + 1e-12)
    # The chain is not drawn as a rigid line as well.
    assert len(rigid_segments(dyn.robot, poses)) == 2


def test_a_link_from_a_file_is_drawn_by_its_nodes(tmp_path):
    """The nodes of a beam's modes lie on the drawn beam, geometric stiffening included."""
    described = flexible_arm().replace('stiffening="false"', 'stiffening="true"')
    beam = fd.load_robot(described)
    upper = beam.link('upper')
    places = [x * np.array(upper.beam.axes)[:, 0] * upper.beam.length
              for x in np.linspace(0.0, 1.0, 9)]
    write_modal_file(tmp_path / 'upper.npz', link_body(upper), places)
    text = re.sub(r'<beam.*</beam>', '<modal file="upper.npz" format="npz"/>', described,
                  flags=re.DOTALL)
    robot = fd.load_robot(text, base_dir=tmp_path)
    pose = fd.Dynamics(beam, backend='reference').frame_pose([0.3, 0.0, 0.0, 0.0], 'upper')
    modes = np.array([0.15, -0.05])
    for factor in (1.0, 2.0):
        drawn, nodes = (link_shapes(each, 9, 0.02)[0].deformed(pose, modes, factor)
                        for each in (beam, robot))
        assert np.allclose(nodes.line, drawn.line, atol=1e-9)
        assert np.allclose(nodes.deflection, drawn.deflection, atol=1e-9)
        assert nodes.rings.shape == (9, 0, 3)
    markers = marker_array(Header(), [nodes], np.zeros((0, 3)), 0.1).markers
    assert [(m.ns, m.type, len(m.points), len(m.colors)) for m in markers] == [
        ('nodes', Marker.POINTS, 9, 9)]


def test_exaggeration_scales_the_line_and_not_the_reported_deflection():
    dyn = fd.Dynamics(fd.load_robot(flexible_arm()))
    modes = np.array([0.05, -0.02])
    (shape,) = link_shapes(dyn.robot, 9, 0.0)
    one, three = (shape.deformed(np.eye(4), modes, factor) for factor in (1.0, 3.0))
    assert np.allclose(three.line[:, 2], 3.0 * one.line[:, 2])
    assert np.array_equal(one.deflection, three.deflection)


def test_the_triangles_of_a_tube_use_every_ring_and_share_every_edge_twice_inside():
    triangles = tube_triangles(3)
    assert len(triangles) == 2 * 2 * SIDES
    edges = {}
    for corners in triangles:
        named = [tuple(corner) for corner in corners]
        for edge in zip(named, named[1:] + named[:1]):
            edges[frozenset(edge)] = edges.get(frozenset(edge), 0) + 1
    ends = [n for edge, n in edges.items() if {point for point, _ in edge} in ({0}, {2})]
    inside = [n for edge, n in edges.items() if {point for point, _ in edge} not in ({0}, {2})]
    assert set(ends) == {1}
    assert set(inside) == {2}


def test_colours_run_from_blue_over_green_to_red():
    assert colour(0.0) == (0.0, 0.0, 1.0)
    assert colour(0.5) == (0.0, 1.0, 0.0)
    assert colour(1.0) == colour(7.0) == (1.0, 0.0, 0.0)

# SPDX-License-Identifier: Apache-2.0
"""The node that draws the bent arm, over DDS, in a process of its own."""

import signal

from arms import flexible_arm
import flexdyn_ros as fd
from matplotlib import colormaps
from node_processes import joint_state, key_values
import numpy as np
import pytest
from visualization_msgs.msg import Marker, MarkerArray

pytestmark = pytest.mark.ros

NODE = 'deflection_markers_node'
MARKERS = f'/{NODE}/markers'
STATE = joint_state(('elbow', 'shoulder'), (0.3, 0.2), (0.0, 0.0))
MODES = joint_state(('upper/bending_z1', 'upper/bending_z2'), (0.05, -0.01), ())
ROBOT = flexible_arm()


def send_both(probe):
    """Return a function that publishes joint and modal states."""

    def send():
        probe.publish('joint_states', STATE)
        probe.publish('modal_states', MODES)

    return send


def line_of(array):
    """Return the points of the centre line, (n, 3)."""
    (marker,) = [m for m in array.markers if m.ns == 'centre_line']
    return np.array([[p.x, p.y, p.z] for p in marker.points])


def wait_for_line(probe, markers, tip, what, meanwhile):
    """Wait until the centre line ends at `tip`, and return the marker array."""
    return probe.wait_for(
        lambda: markers and np.allclose(line_of(markers[-1])[-1], tip, atol=1e-9) and markers[-1],
        f'{what}: tip {tip}, last {[line_of(m)[-1] for m in markers[-1:]]}',
        meanwhile,
    )


def test_modal_states_bend_the_centre_line_to_where_the_next_link_begins(probe, start):
    start(NODE, {'robot_description': ROBOT, 'frame_prefix': 'left_', 'points': 11})
    markers = probe.listen(MarkerArray, MARKERS)
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    tip = dyn.frame_pose([0.2, 0.3, 0.05, -0.01], 'fore')[:3, 3]
    array = wait_for_line(probe, markers, tip, 'modal states', send_both(probe))
    kinds = {m.ns: m.type for m in array.markers if m.ns != 'legend'}
    assert kinds == {
        'centre_line': Marker.LINE_STRIP,
        'tube': Marker.TRIANGLE_LIST,
        'rigid_links': Marker.LINE_LIST,
    }
    assert {m.header.frame_id for m in array.markers} == {'left_base'}
    assert len(line_of(array)) == 11
    (tube,) = [m for m in array.markers if m.ns == 'tube']
    assert len(tube.points) % 3 == 0
    assert len(tube.colors) == len(tube.points)


def test_colours_go_from_blue_at_the_root_to_red_at_the_tip(probe, start):
    start(NODE, {'robot_description': ROBOT, 'deflection': 'modal_states'})
    markers = probe.listen(MarkerArray, MARKERS)
    tip = fd.Dynamics(fd.load_robot(ROBOT)).frame_pose([0.2, 0.3, 0.05, -0.01], 'fore')[:3, 3]
    array = wait_for_line(probe, markers, tip, 'modal states', send_both(probe))
    (line,) = [m for m in array.markers if m.ns == 'centre_line']
    first, last = ([c.r, c.g, c.b] for c in (line.colors[0], line.colors[-1]))
    # 0.04 m of the 0.05 m that the legend is rounded up to.
    assert np.allclose([first, last], colormaps['turbo']([0.0, 0.8])[:, :3], atol=0.02)
    texts = [m.text for m in array.markers if m.type == Marker.TEXT_VIEW_FACING]
    assert texts == ['0', '0.0125', '0.025', '0.0375', '0.05', 'deflection [m]']


def test_exaggeration_scales_the_drawn_deflection(probe, start):
    start(NODE, {'robot_description': ROBOT, 'exaggeration': 3.0})
    markers = probe.listen(MarkerArray, MARKERS)
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    tip = dyn.frame_pose([0.2, 0.3, 0.15, -0.03], 'fore')[:3, 3]
    wait_for_line(probe, markers, tip, 'three times', send_both(probe))


@pytest.mark.parametrize('loads', [
    {}, {'gravity': [0.0, 3.0, -5.0], 'payload.link': 'fore', 'payload.mass': 0.7},
])
def test_without_modal_states_the_static_deflection_is_drawn(probe, start, loads):
    start(NODE, {'robot_description': ROBOT, **loads})
    markers = probe.listen(MarkerArray, MARKERS)
    statuses = probe.statuses()
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    if loads:
        dyn.set_gravity(loads['gravity'])
        dyn.set_payload('fore', 0.7, np.zeros(3), np.zeros((3, 3)))
    q = np.array([0.2, 0.3, 0.0, 0.0])
    stiffness = np.array([dyn.elastic_vector(row, 0 * row)[2:] for row in np.eye(4)[2:]])
    for _ in range(100):
        q[2:] -= np.linalg.solve(stiffness, dyn.bias_vector(q, 0 * q)[2:])
    tip = dyn.frame_pose(q, 'fore')[:3, 3]
    assert np.linalg.norm(tip - dyn.frame_pose([0.2, 0.3, 0, 0], 'fore')[:3, 3]) > 1e-3

    def send():
        probe.publish('joint_states', STATE)

    wait_for_line(probe, markers, tip, 'quasi-static', send)
    probe.wait_for(
        lambda: statuses and key_values(statuses[-1])['deflection_source'] == 'quasi_static',
        'diagnostics', send,
    )


def test_nothing_is_drawn_without_the_state_of_every_joint(probe, start):
    start(NODE, {'robot_description': ROBOT})
    markers = probe.listen(MarkerArray, MARKERS)
    statuses = probe.statuses()
    half = joint_state(('elbow', 'shoulder'), (0.3, float('nan')), (0.0, 0.0))
    probe.wait_for(
        lambda: any('shoulder: position is nan' in s.status[0].message for s in statuses),
        'diagnostic',
        lambda: probe.publish('joint_states', half),
    )
    assert not markers


def test_deformed_frames_are_published_or_the_log_says_why_not(probe, start):
    node = start(NODE, {
        'robot_description': ROBOT, 'frame_prefix': 'left_', 'deflection': 'modal_states',
    })
    try:
        from tf2_msgs.msg import TFMessage
    except ImportError:
        probe.wait_for(lambda: 'tf2_msgs is not installed' in node.log, 'log line')
        return
    transforms = probe.listen(TFMessage, '/tf')
    message = probe.wait_for(lambda: transforms and transforms[-1], 'tf', send_both(probe))
    frames = {t.child_frame_id: t for t in message.transforms}
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    pose = dyn.frame_pose([0.2, 0.3, 0.05, -0.01], 'fore')
    found = frames['left_deformed/fore']
    assert found.header.frame_id == 'left_base'
    placed = found.transform.translation
    assert np.allclose([placed.x, placed.y, placed.z], pose[:3, 3], atol=1e-9)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_node_with_exit_code_zero(probe, start, number):
    node = start(NODE, {'robot_description': ROBOT})
    markers = probe.listen(MarkerArray, MARKERS)
    probe.wait_for(lambda: markers, 'markers', send_both(probe))
    assert node.stop(number) == 0
    assert 'Traceback' not in node.log


class Drawing:
    """An active node in this process, and the markers that it draws."""

    def __init__(self, parameters):
        """Configure and activate the node."""
        from flexdyn_ros.nodes.deflection_markers_node import DeflectionMarkersNode
        from node_in_process import overrides
        import rclpy

        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = DeflectionMarkersNode(context=self.context, parameter_overrides=overrides({
            'robot_description': flexible_arm(), 'autostart': False, 'backend': 'reference',
            **parameters}))
        self.published, self.transforms = [], []
        self.node.markers.publish = self.published.append
        if self.node.transforms:
            self.node.transforms.publish = self.transforms.append
        self.node.trigger_configure()
        self.node.trigger_activate()

    def draw(self, positions=(0.1, 0.2), modes=None):
        """Return the markers of joint positions and modal coordinates, by namespace."""
        from rclpy.serialization import deserialize_message, serialize_message

        state = joint_state(('shoulder', 'elbow'), positions, (0.0, 0.0))
        state.header.stamp.sec, state.header.stamp.nanosec = 12, 345
        self.node.joint_states[1].callback(serialize_message(state))
        if modes is not None:
            names = self.node.robot.mode_names
            self.node._on_modal_states(joint_state(names, modes, (0.0,) * len(names)))
        self.node.timer.callback()
        found = {}
        for marker in deserialize_message(self.published[-1], MarkerArray).markers:
            found.setdefault(marker.ns, []).append(marker)
        return found

    def set(self, **parameters):
        """Set parameters while the node works; return whether they are taken."""
        from node_in_process import overrides

        return all(r.successful for r in self.node.set_parameters(overrides(parameters)))

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *_):
        """End the node."""
        import rclpy

        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


def points_of(marker):
    """Return the points of a marker, (n, 3)."""
    return np.array([[p.x, p.y, p.z] for p in marker.points])


VISUALS = """<visual><origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/>
  <geometry><cylinder radius="0.03" length="1"/></geometry></visual>"""
RIGID = """<visual><origin xyz="0.3 0 0" rpy="0 0 0.5"/>
  <geometry><box size="0.6 0.1 0.2"/></geometry>
  <material name="red"><color rgba="0.9 0.1 0.2 1"/></material></visual>"""


def visible_arm():
    """Return the arm with a cylinder that bends and a box that does not."""
    return flexible_arm().replace('<link name="upper">', f'<link name="upper">{VISUALS}').replace(
        '<link name="fore">', f'<link name="fore">{RIGID}')


def test_visuals_are_triangles_where_they_bend_and_shapes_where_they_do_not():
    dyn = fd.Dynamics(fd.load_robot(visible_arm()), backend='reference')
    modes = (0.05, -0.01)
    with Drawing({'robot_description': visible_arm(), 'exaggeration': 2.0}) as drawing:
        found = drawing.draw(modes=modes)
        bent, rigid = found['visuals']
        assert 'tube' not in found
        assert (bent.type, rigid.type) == (Marker.TRIANGLE_LIST, Marker.CUBE)
        assert (rigid.scale.x, rigid.scale.y, rigid.scale.z) == (0.6, 0.1, 0.2)
        assert [rigid.color.r, rigid.color.a] == pytest.approx([0.9, 1.0])
        pose = dyn.frame_pose([0.1, 0.2, *(2.0 * np.array(modes))], 'fore')
        place = rigid.pose.position
        assert np.allclose([place.x, place.y, place.z],
                           pose[:3, 3] + 0.3 * pose[:3, 0], atol=1e-9)
        assert {(m.header.stamp.sec, m.header.stamp.nanosec) for ms in found.values()
                for m in ms} == {(12, 345)}
        corners = points_of(bent)
        assert len(corners) == len(bent.colors) <= 15000
        tip = pose[:3, 3]
        assert np.linalg.norm(corners - tip, axis=1).min() < 1e-6  # the centre of its end
        (line,) = found['centre_line']
        assert np.allclose(points_of(line)[-1], tip, atol=1e-9)


@pytest.mark.parametrize('deflection', ['auto', 'modal_states'])
def test_the_browser_shows_the_computed_arm_beside_the_measured_one(deflection):
    """Measured modes come in modal_states; the computed ones carry gravity."""
    pytest.importorskip('viser', reason='viser is not installed')
    dyn = fd.Dynamics(fd.load_robot(visible_arm()), backend='reference')
    modes = (0.05, -0.01)
    q = np.array([0.1, 0.2, 0.0, 0.0])
    stiffness = np.array([dyn.elastic_vector(row, 0 * row)[2:] for row in np.eye(4)[2:]])
    for _ in range(100):
        q[2:] -= np.linalg.solve(stiffness, dyn.bias_vector(q, 0 * q)[2:])
    with Drawing({'robot_description': visible_arm(), 'deflection': deflection,
                  'browser': '127.0.0.1:8470'}) as drawing:
        browser = drawing.node.browser
        drawing.draw(modes=modes)
        assert not browser._overlay.visible
        browser.controls['overlay'].value = 'second state'
        drawing.draw(modes=modes)
        assert browser._overlay.visible
        for arm, shown in ((browser._arm, [0.1, 0.2, *modes]), (browser._overlay, q)):
            (bent,) = [d for d in drawing.node.scene.at(shown) if d.shape.pieces]
            (bands,) = [b for b, d in zip(arm._bands, drawing.node.scene.shapes) if d.pieces]
            for band in bands:
                assert np.allclose(band.mesh.vertices, bent.vertices[band.vertices], atol=1e-6)


def test_meshes_of_rigid_links_are_left_to_the_viewer(tmp_path):
    trimesh = pytest.importorskip(
        'trimesh', reason='trimesh is not installed here: `make test` installs it')
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / 'hand.stl')
    mesh = ('<visual><geometry><mesh filename="package://hand_description/hand.stl" '
            'scale="1 2 3"/></geometry></visual>')
    text = flexible_arm().replace('<link name="fore">', f'<link name="fore">{mesh}')
    packages = [f'hand_description={tmp_path}']
    with Drawing({'robot_description': text, 'packages': packages}) as drawing:
        (hand,) = drawing.draw(modes=(0.0, 0.0))['visuals']
        assert hand.type == Marker.MESH_RESOURCE
        assert hand.mesh_resource == (tmp_path / 'hand.stl').as_uri()
        assert hand.mesh_use_embedded_materials
        assert hand.scale.z == 3.0
        assert not drawing.set(packages=['hand_description=/no/such/folder'])


def test_the_reference_and_the_factor_change_while_the_node_draws():
    dyn = fd.Dynamics(fd.load_robot(flexible_arm()), backend='reference')

    def tip(modes):
        return dyn.frame_pose([0.1, 0.2, *modes], 'fore')[:3, 3]

    with Drawing({'deflection': 'auto'}) as drawing:
        def end(modes):
            (line,) = drawing.draw(modes=modes)['centre_line']
            return points_of(line)[-1]

        assert np.allclose(end((0.03, 0.0)), tip((0.03, 0.0)))
        assert drawing.set(reference='held')
        end((0.03, 0.0))
        assert drawing.set(exaggeration=10.0)
        assert np.allclose(end((0.03, 0.0)), tip((0.03, 0.0)))
        assert np.allclose(end((0.032, 0.001)), tip((0.05, 0.01)))
        assert drawing.set(reference='static')
        q = np.array([0.1, 0.2, 0.0, 0.0])
        stiffness = np.array([dyn.elastic_vector(row, 0 * row)[2:] for row in np.eye(4)[2:]])
        for _ in range(100):
            q[2:] -= np.linalg.solve(stiffness, dyn.bias_vector(q, 0 * q)[2:])
        assert np.allclose(end(q[2:]), tip(q[2:]), atol=1e-6)
        assert np.allclose(end(q[2:] + [0.001, 0.0]), tip(q[2:] + [0.01, 0.0]), atol=1e-6)


def test_a_static_reference_needs_a_static_deflection():
    with Drawing({'deflection': 'modal_states'}) as drawing:
        assert not drawing.set(reference='static')


@pytest.mark.parametrize(
    ('quantity', 'title'), [('strain', 'strain [m/m]'), ('energy', 'energy [J]')])
def test_colours_show_strain_or_energy_with_a_legend_in_units(quantity, title):
    with Drawing({'robot_description': visible_arm()}) as drawing:
        assert drawing.set(colour_by=quantity)
        found = drawing.draw(modes=(0.05, 0.0))
        assert found['legend'][-1].text == title
        scene = drawing.node.scene
        drawn = scene.at([0.1, 0.2, 0.05, 0.0], quantity=quantity)
        values = np.concatenate([d.values for d in drawn if d.values is not None])
        high = float(found['legend'][-2].text)
        assert np.abs(values).max() <= high <= 2.5 * np.abs(values).max()
        colours = {(c.r, c.g, c.b) for c in found['visuals'][0].colors}
        assert len(colours) == 1 if quantity == 'energy' else len(colours) > 50
        assert drawing.set(legend=False, visuals=False)
        assert set(drawing.draw(modes=(0.05, 0.0))) == {'tube', 'centre_line', 'rigid_links'}


def test_markers_expire_and_are_removed_at_the_end():
    with Drawing({'rate': 2.0}) as drawing:
        found = drawing.draw()
        assert {(m.lifetime.sec, m.lifetime.nanosec) for ms in found.values() for m in ms} == {
            (2, 500_000_000)}
        drawing.node.trigger_deactivate()
        assert [m.action for m in drawing.published[-1].markers] == [Marker.DELETEALL]

# SPDX-License-Identifier: Apache-2.0
"""Messages of the node that draws the bent arm, in this process."""

from pathlib import Path

from arms import flexible_arm
import flexdyn_ros as fd
from node_processes import joint_state
import numpy as np
import pytest
from visualization_msgs.msg import Marker, MarkerArray

pytestmark = pytest.mark.ros

FOUR_BAR = Path(__file__).parents[2] / 'urdf' / 'four_bar.urdf.xacro'


class Drawing:
    """An active node in this process, and the markers that it draws."""

    def __init__(self, parameters):
        """Configure and activate the node."""
        from contexts import new_context
        from flexdyn_ros.nodes.deflection_markers_node import DeflectionMarkersNode
        from node_in_process import overrides

        self.context = new_context()
        self.node = DeflectionMarkersNode(context=self.context, parameter_overrides=overrides({
            'robot_description': flexible_arm(), 'autostart': False, 'backend': 'reference',
            **parameters}))
        self.published, self.transforms = [], []
        self.node.markers.publish = self.published.append
        if self.node.transforms:
            self.node.transforms.publish = self.transforms.append
        self.node.trigger_configure()
        self.node.trigger_activate()

    def draw(self, positions=(0.1, 0.2), modes=None, joints=('shoulder', 'elbow')):
        """Return the markers of joint positions and modal coordinates, by namespace."""
        from rclpy.serialization import deserialize_message, serialize_message

        state = joint_state(joints, positions, (0.0,) * len(joints))
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
        from contexts import end_context

        end_context(self.context, self.node)


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
    # Without the option: in the sources of the description's own package, and beside it.
    (tmp_path / 'package.xml').write_text('<package><name>hand_description</name></package>')
    for address in ('package://hand_description/hand.stl', 'hand.stl'):
        own = {'robot_description': text.replace('package://hand_description/hand.stl', address),
               'description_file': str(tmp_path / 'arm.urdf')}
        with Drawing(own) as drawing:
            (hand,) = drawing.draw(modes=(0.0, 0.0))['visuals']
            assert hand.mesh_resource == (tmp_path / 'hand.stl').as_uri()


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


def test_a_mechanism_whose_deflection_is_drawn_larger_stays_closed():
    xacro = pytest.importorskip('xacro', reason='xacro is not installed here')
    text = xacro.process_file(str(FOUR_BAR), mappings={'modes': '2'}).toxml()
    dyn, modes = fd.Dynamics(fd.load_robot(text), backend='reference'), np.array([0.006, -0.002])
    with Drawing({'robot_description': text, 'exaggeration': 8.0}) as drawing:
        (line,) = drawing.draw((0.3,), tuple(modes), ('crank',))['centre_line']
    q = dyn.project([0.3, 0.0, 0.0, *(8.0 * modes)], np.zeros(5),
                    hold=['crank', *dyn.robot.mode_names])[0]
    start, rocker = (dyn.frame_pose(q, name) for name in ('coupler', 'rocker'))
    assert np.allclose(points_of(line)[0], start[:3, 3], atol=1e-9)
    assert np.allclose(points_of(line)[-1], rocker[:3, 3] + 0.7 * rocker[:3, 0], atol=1e-9)


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

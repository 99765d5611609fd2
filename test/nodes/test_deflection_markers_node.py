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

# SPDX-License-Identifier: Apache-2.0
"""MCAP files of simulated motions, read back by the libraries of the format."""

from collections import Counter

from flexdyn_ros.errors import FileNotWritten, FlexdynError
from flexdyn_ros.visualization import mcap_file
from flexdyn_ros.visualization.mcap_file import save_mcap
from flexdyn_ros.visualization.scene import Scene
from moving_arm import moving_arm
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

TRIANGLE_LIST = 11  # visualization_msgs/Marker.msg
pytest.importorskip('rosbags', reason='rosbags is not installed')
pytest.importorskip('matplotlib', reason='colours need matplotlib')


@pytest.fixture(scope='module')
def messages(tmp_path_factory):
    """Return the messages of a file by topic, with their times [ns]."""
    reader = pytest.importorskip('mcap_ros2.reader', reason='mcap-ros2-support is not installed')
    dyn, motion = moving_arm()
    folder = tmp_path_factory.mktemp('mcap')
    assert save_mcap(motion, dyn, folder / 'motion.mcap') == folder / 'motion.mcap'
    assert [path.name for path in folder.iterdir()] == ['motion.mcap']
    found = {}
    for each in reader.read_ros2_messages(str(folder / 'motion.mcap')):
        assert (each.channel.message_encoding, each.schema.encoding) == ('cdr', 'ros2msg')
        assert each.schema.name == mcap_file._TOPICS[each.channel.topic]
        found.setdefault(each.channel.topic, []).append((each.log_time_ns, each.ros_msg))
    return found


def test_all_topics_are_there_at_their_rates(messages):
    _, motion = moving_arm()
    frames = len(motion.frames())
    assert frames == 13  # 30 a second
    assert Counter({topic: len(own) for topic, own in messages.items()}) == {
        '/joint_states': len(motion), '/modal_states': len(motion), '/tf': frames,
        '/deflection_markers': frames, '/robot_description': 1,
    }
    for topic in ('/joint_states', '/modal_states'):
        when = np.array([time for time, _ in messages[topic]])
        assert np.abs(1e-9 * when - motion.t).max() < 1e-9
    assert messages['/robot_description'][0][1].data.startswith('<robot name="arm">')


def test_states_are_by_name_on_both_sides_of_springs(messages):
    dyn, motion = moving_arm()
    spring = dyn.robot.mode_names.index('swing/elastic') + 1
    for row in (0, 123, 400):
        when, state = messages['/joint_states'][row]
        assert state.name == ['swing', 'swing_motor']
        assert 10**9 * state.header.stamp.sec + state.header.stamp.nanosec == when
        for sent, own in ((state.position, motion.q), (state.velocity, motion.qd)):
            assert list(sent) == [own[row, 0] + own[row, spring], own[row, 0]]
        _, modes = messages['/modal_states'][row]
        assert modes.name == list(dyn.robot.mode_names)
        assert list(modes.position) == motion.q[row, 1:].tolist()
        assert list(modes.velocity) == motion.qd[row, 1:].tolist()


def test_frames_and_markers_are_those_of_the_bent_arm(messages):
    dyn, motion = moving_arm()
    scene = Scene(dyn, visuals=False)
    rows = motion.frames()
    for place in (0, 7, len(rows) - 1):
        q = motion.q[rows[place]]
        _, tree = messages['/tf'][place]
        assert [t.child_frame_id for t in tree.transforms] == ['boom', 'tip']
        for sent in tree.transforms:
            assert sent.header.frame_id == 'base'
            v, r = sent.transform.translation, sent.transform.rotation
            pose = dyn.frame_pose(q, sent.child_frame_id)
            assert np.allclose([v.x, v.y, v.z], pose[:3, 3], atol=1e-12)
            turned = Rotation.from_quat([r.x, r.y, r.z, r.w]).as_matrix()
            assert np.allclose(turned, pose[:3, :3], atol=1e-12)
        _, sent = messages['/deflection_markers'][place]
        (marker,) = sent.markers
        (drawn,) = [d for d in scene.at(q) if d.values is not None]
        corners = drawn.shape.surface.triangles.ravel()
        points = np.array([[p.x, p.y, p.z] for p in marker.points])
        assert (marker.type, marker.header.frame_id) == (TRIANGLE_LIST, 'base')
        assert np.allclose(points, drawn.vertices[corners], atol=1e-12)
        assert len({(c.r, c.g, c.b) for c in marker.colors}) > 10  # by deflection


def test_rosbags_and_our_own_reader_take_the_file(tmp_path):
    from flexdyn_ros.identification.bag import read_joint_states

    dyn, motion = moving_arm()
    path = save_mcap(motion, dyn, tmp_path / 'motion.mcap')
    with pytest.raises(FlexdynError, match='--topic'):
        read_joint_states(str(path), ('swing',), {})
    read = read_joint_states(str(path), ('swing',), {'swing': 'swing_motor'}, '/joint_states')
    assert np.allclose(read.q[:, 0], motion.q[:, 0], rtol=0.0, atol=0.0)


def test_a_missing_library_or_folder_is_named(tmp_path, monkeypatch):
    dyn, motion = moving_arm()
    with pytest.raises(FileNotWritten, match='nowhere'):
        save_mcap(motion, dyn, tmp_path / 'nowhere' / 'motion.mcap')
    monkeypatch.setitem(__import__('sys').modules, 'rosbags', None)
    with pytest.raises(FlexdynError, match='pip install rosbags'):
        save_mcap(motion, dyn, tmp_path / 'motion.mcap')
    assert not list(tmp_path.iterdir())

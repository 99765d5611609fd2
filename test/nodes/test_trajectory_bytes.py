# SPDX-License-Identifier: Apache-2.0
"""A trajectory is read and written as bytes, a point at a time, as rclpy converts it."""

import time

from arms import flexible_arm
from flexdyn_ros.nodes.common.message_bytes import MessageUnreadable
from flexdyn_ros.nodes.torque.trajectory_bytes import TrajectoryBytes
from inverse_dynamics_cases import NAMES, ROBOT, STATE
from node_processes import trajectory
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros


def uneven(frame='map'):
    """Return a trajectory whose points have arrays of different lengths."""
    message = trajectory(
        ('a', 'elbow', 'é'), (-1.0, (1.0, 2.0, 3.0), (4.0,), ()), (0.5, (), (), (0.0, 1e300)),
        (2.25, (), (), ()))
    message.points[1].effort = [5.0]
    message.points[0].time_from_start.sec = -7
    message.header.frame_id = frame
    message.header.stamp.sec = 9
    return message


def read(data):
    """Return the trajectory of bytes, all points read."""
    found = TrajectoryBytes(data)
    assert list(found.read()) == list(range(1, found.count + 1))
    return found


@pytest.mark.parametrize('frame', ['', 'm', 'ma', 'map', 'map1'])
def test_all_fields_come_back_at_every_alignment(frame):
    message = uneven(frame)
    found = read(serialize_message(message))
    assert found.joint_names == message.joint_names
    for point, expected in zip(found.points, message.points):
        for field in ('positions', 'velocities', 'accelerations', 'effort'):
            assert list(getattr(point, field)) == list(getattr(expected, field))
        when = expected.time_from_start
        assert point.time_from_start == (when.sec, when.nanosec)
    *_, written = found.write()
    assert deserialize_message(written, JointTrajectory) == message


def test_the_other_order_of_bytes_is_read():
    """The bytes of one point, written out as big-endian."""
    one = np.array([1.5, -2.0], '>f8').tobytes()
    data = (
        b'\0\0\0\0' + (3).to_bytes(4, 'big') + bytes(4) + b'\0\0\0\1\0\0\0\0'
        + b'\0\0\0\1' + b'\0\0\0\2a\0\0\0' + b'\0\0\0\1' + b'\0\0\0\2' + bytes(4) + one
        + bytes(12) + b'\0\0\0\5\0\0\0\6')
    found = read(data)
    assert found.joint_names == ['a']
    assert list(found.points[0].positions) == [1.5, -2.0]
    assert found.points[0].time_from_start == (5, 6)
    *_, written = found.write()
    assert written == data


def test_what_is_cut_off_or_changed_is_refused_or_read():
    *_, data = read(serialize_message(uneven())).write()  # serialize_message appends bytes
    random = np.random.default_rng(2)
    for end in range(len(data)):
        with pytest.raises(MessageUnreadable):
            read(data[:end])
    for _ in range(2000):
        wild = bytearray(data)
        for place in random.integers(0, len(data), 3):
            wild[place] = random.integers(256)
        try:
            read(bytes(wild))
        except MessageUnreadable:
            pass


@pytest.mark.parametrize('bad', [b'', b'\0\1', b'\0\7\0\0' + bytes(40)])
def test_a_message_that_is_no_trajectory_is_logged_and_costs_nothing(torque_node, capfd, bad):
    made = torque_node({'robot_description': ROBOT})
    made.state(STATE)
    service = made.node.trajectories
    service._subscription.callback(bad)
    service._timer.callback()
    assert '~/trajectory_in: ' in capfd.readouterr().err
    assert service._timer.is_canceled()
    made.state(STATE)
    assert len(made.commands) == 2


def test_no_stretch_of_a_long_trajectory_takes_long(torque_node):
    """The conversion of rclpy would hold the interpreter for 50 ms and more, in and out."""
    made = torque_node(
        {'robot_description': ROBOT, 'backend': 'auto', 'timeout': 1e3}, activate=False)
    made.node.owns_process = True  # as where the node runs: see its start
    made.activate()
    made.state(STATE)
    rest = ((0.0, 0.0),) * 2
    data = serialize_message(trajectory(
        NAMES, *((0.001 * k, (0.2, 0.3), *rest) for k in range(5000))))
    service, out, took = made.node.trajectories, [], []
    service._publisher.publish = out.append
    service._subscription.callback(data)
    while not service._timer.is_canceled():
        begin = time.thread_time()
        service._timer.callback()
        took.append(time.thread_time() - begin)
    assert len(deserialize_message(out[0], JointTrajectory).points) == 5000
    assert np.percentile(took, 90) < 2e-3
    assert max(took) < 1e-2
    assert service._subscription.raw


def test_a_budget_that_is_too_small_for_a_point_does_not_stop_a_trajectory(torque_node):
    made = torque_node({'robot_description': ROBOT, 'compute_budget': 1e-300})
    made.state(STATE)
    (filled,) = made.trajectory(trajectory(NAMES, (0.0, (0.2, 0.3), (0.0, 0.0), (0.0, 0.0))))
    assert len(filled.points[0].effort) == 2


def test_a_trajectory_needs_no_code_of_its_own_where_wrenches_act(
    torque_node, tmp_path, monkeypatch
):
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path))
    made = torque_node({
        'robot_description': flexible_arm(), 'torque_model': 'flexible_hybrid',
        'backend': 'auto', 'wrench_links': ['fore']})
    made.state(STATE)
    before = sorted(tmp_path.rglob('*'))
    rest = ((0.0, 0.0),) * 2
    (filled,) = made.trajectory(
        trajectory(NAMES, *((t, (0.2, 0.3), *rest) for t in (0.0, 0.5))))
    assert len(filled.points[1].effort) == 2
    assert sorted(tmp_path.rglob('*')) == before

# SPDX-License-Identifier: Apache-2.0
"""Messages of the cycle are read and written as bytes, as rclpy converts them."""

import struct

from builtin_interfaces.msg import Time
from flexdyn_ros.nodes.common.message_bytes import JointStateReader, MessageUnreadable
from flexdyn_ros.nodes.torque.torque_cycle import SerializedMessage
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros


def test_joint_states_are_read_as_rclpy_converts_them():
    """Names that stay, names that change and come again, and frames of any length."""
    reader, random = JointStateReader(), np.random.default_rng(3)
    known = [['a'], ['a', 'shoulder_pan'], ['b', 'shoulder_pan'], []]
    for step in range(200):
        names = known[step // 5 % 4]
        message = JointState(name=names)
        message.header.stamp.sec, message.header.stamp.nanosec = step, int(random.integers(1e9))
        message.header.frame_id = 'x' * (step // 25)
        for field in ('position', 'velocity', 'effort'):
            count = len(names) if random.random() < 0.7 else int(random.integers(4))
            setattr(message, field, random.normal(size=count).tolist())
        found = reader.read(serialize_message(message))
        stamp = message.header.stamp
        assert found.header.stamp == (stamp.sec, stamp.nanosec)
        assert found.name == names
        assert found.position == message.position
        assert found.velocity == message.velocity


def test_joint_states_that_are_cut_off_are_refused():
    message = JointState(name=['a', 'bc'], position=[1.0, 2.0], velocity=[3.0, 4.0])
    data, reader = serialize_message(message), JointStateReader()
    whole = data.rindex(struct.pack('d', 4.0)) + 8  # later bytes are not read
    assert reader.read(data[:whole]).velocity == message.velocity
    for end in range(whole):
        with pytest.raises(MessageUnreadable):
            reader.read(data[:end])
        with pytest.raises(MessageUnreadable):
            JointStateReader().read(data[:end])


def test_what_is_published_is_what_rclpy_would_have_made():
    random = np.random.default_rng(4)
    for count in (0, 1, 2, 7):
        names = [f'joint{k}' for k in range(count)]
        state = SerializedMessage(JointState(name=names, effort=[1.0] * count))
        plain = SerializedMessage(Float64MultiArray(data=[1.0] * count))
        for sec in range(3):
            values, stamp = random.normal(size=count).tolist(), Time(sec=sec, nanosec=7 * sec)
            expected = JointState(name=names, effort=values)
            expected.header.stamp = stamp
            made = deserialize_message(state.with_values(values, stamp), JointState)
            assert made == expected
            made = deserialize_message(plain.with_values(values), Float64MultiArray)
            assert made == Float64MultiArray(data=values)

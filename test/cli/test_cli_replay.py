# SPDX-License-Identifier: Apache-2.0
"""`flexdyn replay`: torques of a recorded motion beside the measured ones."""

import json
from types import SimpleNamespace

from command import ARM, flexdyn
import flexdyn_ros as fd
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.identification.bag import joined
import numpy as np
import pytest

NAMES = ('shoulder', 'elbow')


def motion(t):
    """Return positions, velocities and accelerations of a smooth motion."""
    w, a = np.array([2.0, 3.0]), np.array([0.5, -0.4])
    return a * np.sin(w * t), a * w * np.cos(w * t), -a * w * w * np.sin(w * t)


def measured(t, factors=(1.0, 1.0)):
    """Return the torques of the motion, each times a factor."""
    dyn = fd.Dynamics(fd.load_robot(ARM), backend='reference')
    return np.array(factors) * dyn.inverse_dynamics(*motion(t))


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    """Return a bag of 3 s at 100 Hz; the elbow's effort has the wrong sign."""
    rosbags = pytest.importorskip('rosbags.rosbag2', reason='rosbags is in requirements/test.txt')
    from rosbags.typesys import get_typestore, Stores

    store = get_typestore(Stores.ROS2_JAZZY)
    kinds = store.types
    folder = tmp_path_factory.mktemp('bags') / 'swing'
    with rosbags.Writer(folder, version=9) as writer:
        kind = 'sensor_msgs/msg/JointState'
        states = writer.add_connection('/joint_states', kind, typestore=store)
        for k in range(300):
            t = 0.01 * k
            q, qd, _ = motion(t)
            stamp = kinds['builtin_interfaces/msg/Time'](
                sec=1 + k // 100, nanosec=k % 100 * 10_000_000)
            message = kinds[kind](
                header=kinds['std_msgs/msg/Header'](stamp=stamp, frame_id=''),
                name=[*NAMES[::-1], 'gripper'],
                position=np.array([*q[::-1], 0.0]), velocity=np.array([*qd[::-1], 0.0]),
                effort=np.array([*measured(t, (1.0, -1.0))[::-1], 0.0]),
            )
            writer.write(states, round(1e9 + 1e9 * t), store.serialize_cdr(message, kind))
    return folder


def test_computed_torques_lie_on_measured_ones_and_a_wrong_sign_is_named(folder, bag):
    run = flexdyn('replay', 'arm.urdf', bag, '--json', '--out', 'replayed', cwd=folder)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found['samples'] == 300
    shoulder, elbow = (found['joints'][name] for name in NAMES)
    assert shoulder['slope'] == pytest.approx(1.0, abs=0.02)
    assert shoulder['difference_rms'] < 0.05 * shoulder['measured_rms']
    assert elbow['slope'] == pytest.approx(-1.0, abs=0.05)
    assert [name.rpartition('/')[2] for name in found['files']] == [
        'torques.csv', 'shoulder.png', 'elbow.png']
    table = np.genfromtxt(folder / 'replayed' / 'torques.csv', delimiter=',', names=True)
    middle = table[150]
    assert middle['shouldercomputed'] == pytest.approx(measured(1.5)[0], rel=0.02)
    text = flexdyn('replay', 'arm.urdf', bag, '--no-plots', cwd=folder)
    assert text.returncode == 0
    assert 'elbow: Measured and computed torque have opposite signs' in text.stderr
    assert text.stdout.splitlines()[-1] == 'Written to replay.'


@pytest.mark.parametrize(('words', 'sentence'), [
    (('nowhere',), 'BAG: is "nowhere", which does not exist'),
    (('BAG', '--topic', '/other'), 'the bag has /joint_states'),
    (('empty',), 'BAG: is "empty", which cannot be read: '),
    (('file.db3',), 'BAG: is "file.db3", which cannot be read: '),
])
def test_a_wrong_bag_or_topic_is_named(folder, bag, words, sentence):
    (folder / 'empty').mkdir(exist_ok=True)
    (folder / 'file.db3').touch()
    words = [str(bag) if word == 'BAG' else word for word in words]
    run = flexdyn('replay', 'arm.urdf', *words, cwd=folder)
    assert run.returncode == 2
    assert sentence.partition(': ')[2] in run.stderr


def message(when, **values):
    """Return an object with the fields of a JointState: name=(position, velocity, effort)."""
    columns = list(zip(*values.values()))
    return when, SimpleNamespace(
        header=SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=0)),
        name=list(values), position=columns[0], velocity=columns[1], effort=columns[2])


def test_partial_messages_are_joined_and_motor_sides_go_first():
    messages = [
        message(1_000_000_000, a=(1, 2, 3)),
        message(1_100_000_000, b=(4, 5, 6), a_motor=(7, 8, 9)),
        message(1_200_000_000, a_motor=(10, 11, 12)),
        message(1_200_000_000, b=(0, 0, 0)),
    ]
    found = joined('/j', messages, ('a', 'b'), {'a': 'a_motor'})
    assert found.t == pytest.approx([0.0, 0.1])
    assert found.q.tolist() == [[7, 4], [10, 4]]
    assert found.effort.tolist() == [[9, 6], [12, 6]]
    with pytest.raises(FlexdynError, match='/j has no joint c; it has a, a_motor, b'):
        joined('/j', messages, ('c',), {})
    with pytest.raises(FlexdynError, match='1 samples of all joints'):
        joined('/j', messages[1:2], ('b',), {})

# SPDX-License-Identifier: Apache-2.0
"""From the signals of a simulated arm with flexible links to a description with its modes."""

import json

import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from flexdyn_ros.errors import ArgumentError, UnknownName
from flexdyn_ros.identification.recordings import read_signals
from flexdyn_ros.modal_testing.adjustable_model import AdjustableModel
from flexdyn_ros.modal_testing.measured_modes import ModalTest
from flexdyn_ros.modal_testing.modal_update import held_modes
from flexdyn_ros.modal_testing.recorded_modes import recorded_test
from flexdyn_ros.model.beam.body import link_body
import numpy as np
import pytest

ARM = """<robot name="boom"><link name="base"/><link name="boom"/>
<link name="tip"><inertial><mass value="0.3"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0"
  ixz="0" iyz="0"/></inertial></link>
<joint name="slew" type="continuous"><parent link="base"/><child link="boom"/><axis xyz="0 0 1"/>
</joint><joint name="end" type="fixed"><parent link="boom"/><child link="tip"/>
<origin xyz="1.5 0 0"/></joint></robot>"""
BEAM = """<flexdyn version="1.0"><flexible_link link="boom"><beam tip="end" young="7e10"
area="1e-3" iz="2e-9" mass="2"><bending axis="y" modes="2" damping_ratio="0.003"/></beam>
</flexible_link></flexdyn>"""
FACTOR, DAMPING = 1.3, 0.012
SENSORS = """sensors:
- {link: boom, at: [0.75, 0, 0], direction: [0, 1, 0], name: middle}
- {link: tip, direction: [0, 1, 0], name: end}
"""


@pytest.fixture(scope='module')
def arms():
    """Return the described arm and the true one, which is stiffer and has more damping."""
    described = fd.load_robot(ARM, extension=BEAM)
    name = {'boom/bending_y': FACTOR}
    return described, AdjustableModel(described, None).changed(name, {
        'boom/bending_y': DAMPING})


def moved(robot, angle, deflection, seconds=5.0, step=1e-3):
    """
    Return times, states (T, 3) and accelerations of an arm whose joint follows (q, qd, qdd)(t).

    The modes follow by Runge and Kutta's method from a deflection on.
    """
    dyn = fd.Dynamics(robot)
    t = np.arange(0.0, seconds, step)

    def rate(when, x):
        q, qd, qdd = angle(when)
        modes = dyn.hybrid_dynamics([q, *x[:2]], [qd, *x[2:]], [qdd])[1]
        return np.concatenate([x[2:], modes])

    states = [np.array([*deflection, 0.0, 0.0])]
    for when in t[:-1]:
        x = states[-1]
        a = rate(when, x)
        b = rate(when + step / 2, x + step / 2 * a)
        c = rate(when + step / 2, x + step / 2 * b)
        d = rate(when + step, x + step * c)
        states.append(x + step / 6 * (a + 2 * b + 2 * c + d))
    joint = np.array([angle(when) for when in t])
    found = np.array(states)
    rates = np.array([rate(when, x) for when, x in zip(t, found)])
    return t, *(np.column_stack([joint[:, k], part]) for k, part in enumerate(
        (found[:, :2], found[:, 2:], rates[:, 2:])))


def tip_accelerations(robot, q, qd, qdd):
    """Return those that an IMU at the tip measures across the beam, (T,)."""
    dyn = fd.Dynamics(robot)
    found = []
    for state in zip(q, qd, qdd):
        turn = np.array(dyn.frame_pose(state[0], 'boom'))[:3, :3]
        linear = dyn.jacobian(state[0], 'tip') @ state[2] + dyn.jacobian_rate_qd(*state[:2], 'tip')
        found.append(turn[:, 1] @ linear[:3])
    return np.array(found)


def sweep(t, low=1.0, high=30.0, seconds=5.0, size=3e-3):
    """Return angle, velocity and acceleration of a chirp that starts at rest."""
    phase = 2 * np.pi * (low * t + 0.5 * (high - low) / seconds * t**2)
    rate = 2 * np.pi * (low + (high - low) / seconds * t)
    change = 2 * np.pi * (high - low) / seconds
    return (size * (1 - np.cos(phase)), size * rate * np.sin(phase),
            size * (rate**2 * np.cos(phase) + change * np.sin(phase)))


def turned(t, size=0.02, seconds=0.1):
    """Return angle, velocity and acceleration of a step: a quintic from rest to rest."""
    s, v = min(t / seconds, 1.0), size / seconds
    return (size * s**3 * (10 - 15 * s + 6 * s**2), 30 * v * s**2 * (1 - s) ** 2,
            60 * v / seconds * s * (1 - s) * (1 - 2 * s))


def written(folder, heads, *columns):
    """Write a log, its description, and return the words that update it."""
    rows = (','.join(f'{value:.9g}' for value in row) for row in np.column_stack(columns))
    (folder / 'log.csv').write_text('\n'.join([heads, *rows]))
    (folder / 'arm.urdf').write_text(ARM)
    (folder / 'beam.xml').write_text(BEAM)
    (folder / 'sensors.yaml').write_text(SENSORS)
    return ['update-modes', str(folder / 'arm.urdf'), '--extension', str(folder / 'beam.xml'),
            '--measured', str(folder / 'log.csv'), '-o', str(folder / 'new.urdf'), '--json']


def check_modes(folder, true):
    """Compare the modes of the written description with those of the true arm, joint held."""
    nothing = ModalTest(())
    wanted = held_modes(true, np.zeros(true.nq), nothing)
    found = held_modes(fd.load_robot(folder / 'new.urdf'), np.zeros(true.nq), nothing)
    assert np.allclose(found.frequencies, wanted.frequencies, rtol=5e-3)
    assert np.allclose(found.damping_ratios, wanted.damping_ratios, rtol=0.05)
    assert main(['check', str(folder / 'new.urdf')]) == 0


def noisy(random, signal, part=0.01):
    return signal + part * np.std(signal) * random.normal(size=signal.shape)


def test_a_free_decay_of_strains_is_written_into_the_description(arms, tmp_path, capsys):
    described, true = arms
    random = np.random.default_rng(0)
    t, q, *_ = moved(true, lambda t: (0.0, 0.0, 0.0), (0.01, 0.002), seconds=3.0)
    # Deflections at two places, sampled at times that jitter, beside a signal that stays.
    times = np.sort(t[::2] + 1e-4 * random.normal(size=len(t[::2])))
    columns = [times]
    for place in (0.75, 1.5):
        shape = link_body(true.link('boom')).node_at(np.array([place, 0, 0])).translation[:, 1]
        columns.append(noisy(random, np.interp(times, t, q[:, 1:] @ shape), 0.005))
    words = written(
        tmp_path, 'time,middle,end,switch', *columns, np.ones(len(times)))
    assert main([*words, '--measured', str(tmp_path / 'log.csv'), str(tmp_path / 'sensors.yaml'),
                 '--count', '2']) == 0
    answer = json.loads(capsys.readouterr().out)
    assert min(answer['mac'][0][0], answer['mac'][1][1]) > 0.99
    assert answer['stiffness_factors']['boom/bending_y'] == pytest.approx(FACTOR, rel=5e-3)
    check_modes(tmp_path, true)


@pytest.mark.parametrize(('path', 'kind', 'options'), [
    (sweep, 'imu', ['--count', '2']), (turned, 'strain', []),
    pytest.param(sweep, 'strain', [], marks=pytest.mark.slow),
    pytest.param(turned, 'imu', [], marks=pytest.mark.slow),
])
def test_a_moving_joint_gives_the_modes_with_it_held(
    arms, tmp_path, path, kind, options, capsys
):
    _, true = arms
    random = np.random.default_rng(1)
    t, q, qd, qdd = moved(true, path, (0.0, 0.0))
    if kind == 'strain':  # by the joint's position
        signal, joint = q[:, 1] - 0.4 * q[:, 2], q[:, 0]
    else:
        signal, joint = tip_accelerations(true, q, qd, qdd), qdd[:, 0]
    words = written(tmp_path, 't,signal,slew', t[::2], noisy(random, signal[::2]), joint[::2])
    assert main([*words, '--inputs', 'slew', '--band', '0.5', '60', *options]) == 0
    capsys.readouterr()
    check_modes(tmp_path, true)


def test_wrong_recordings_are_errors(tmp_path, capsys):
    t = np.linspace(0.0, 2.0, 200)
    signals = {'a': np.exp(-t) * np.cos(20 * t), 'b': np.ones(200)}
    assert len(recorded_test(t, signals, count=1).modes) == 1
    for words, error in (({'chosen': ['c']}, UnknownName), ({'inputs': ['a']}, ArgumentError)):
        with pytest.raises(error):
            recorded_test(t, signals, **words)
    with pytest.raises(ArgumentError, match='falls'):
        recorded_test(t[::-1], signals)
    words = written(tmp_path, 'a,b', t, t)
    assert main(words) == 2
    assert 'no column t' in capsys.readouterr().err
    words[words.index(str(tmp_path / 'log.csv'))] = str(tmp_path / 'sensors.yaml')
    assert main(words) == 2
    assert 'neither modes nor stiffness' in capsys.readouterr().err


def test_an_imu_in_a_bag(tmp_path):
    rosbags = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
    from rosbags.typesys import get_typestore, Stores

    store = get_typestore(Stores.LATEST)
    vector, turn = (store.types[f'geometry_msgs/msg/{name}'] for name in ('Vector3', 'Quaternion'))
    header, time = store.types['std_msgs/msg/Header'], store.types['builtin_interfaces/msg/Time']
    kind, none = 'sensor_msgs/msg/Imu', np.zeros(9)
    t = np.arange(0.0, 2.0, 0.01)
    wave = 3.0 * np.exp(-0.8 * t) * np.cos(40.0 * t)
    storage = rosbags.StoragePlugin.MCAP
    with rosbags.Writer(tmp_path / 'bag', version=9, storage_plugin=storage) as writer:
        connection = writer.add_connection('/tip/imu', kind, typestore=store)
        for when, value in zip(t, wave):
            stamp = round(when * 1e9) + 10**9
            message = store.types[kind](
                header(time(*divmod(stamp, 10**9)), ''), turn(0.0, 0.0, 0.0, 1.0), none,
                vector(0.0, 0.0, 0.0), none, vector(0.0, value, 9.81), none)
            writer.write(connection, stamp, store.serialize_cdr(message, kind))
    times, signals = read_signals(str(tmp_path / 'bag'))
    assert np.allclose(signals['linear_acceleration/y'], wave)
    mode, = recorded_test(times, signals, count=1).modes  # a resting signal is none
    assert mode.frequency * 2.0 * np.pi == pytest.approx(np.hypot(40.0, 0.8), rel=1e-3)
    assert mode.damping_ratio == pytest.approx(0.02, rel=1e-2)
    with pytest.raises(ArgumentError, match='the bag has /tip/imu'):
        read_signals(str(tmp_path / 'bag'), '/imu')

# SPDX-License-Identifier: Apache-2.0
"""`flexdyn identify`: logs, options, results, errors and exit codes."""

from dataclasses import replace
import json
from pathlib import Path
import sys

import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / 'identification'))
from simulated_arms import (  # noqa: E402
    described_arm,
    recorded,
    recorded_with_modes,
    true_arm,
)

GAINS = np.array([20.0, 25.0, 8.0])


@pytest.fixture(scope='module')
def logs(tmp_path_factory):
    """Write a description and two logs, one of torques by name and one of numbered currents."""
    folder = tmp_path_factory.mktemp('logs')
    arm, random = described_arm(), np.random.default_rng(11)
    true = true_arm(arm, random)
    (folder / 'arm.urdf').write_text(arm.descriptions[0])
    (folder / 'drives.xml').write_text(arm.descriptions[1])
    names = arm.joint_names
    for file, heads, scale in (
        ('torques.csv', ['t', *names, *(f'{name}/torque' for name in names)], np.ones(3)),
        ('currents.csv', ['time_s', 'q1', 'q2', 'q3', 'i1', 'i2', 'i3'], GAINS),
    ):
        motion = recorded(true, random)
        table = np.column_stack([motion.t, motion.q, motion.tau / scale])
        rows = [','.join(f'{value:.9g}' for value in row) for row in table]
        rows[100] = rows[100].rpartition(',')[0] + ','  # a missing sample
        (folder / file).write_text('\n'.join([','.join(heads), *rows]) + '\n')
    return folder, true


def call(folder, *words):
    return main(['identify', str(folder / 'arm.urdf'), *map(str, words),
                 '--extension', str(folder / 'drives.xml')])


def test_torques_and_currents_give_the_parameters(logs, tmp_path, capsys):
    folder, true = logs
    for log, options in (('torques.csv', ()),
                         ('currents.csv', ('--gains', *map(str, GAINS.tolist())))):
        out = tmp_path / log
        assert call(folder, folder / log, '-o', out, '--json', *options) == 0
        record = json.loads(capsys.readouterr().out)
        for joint in true.joints:
            found = record['parameters'][f'{joint.name}/coulomb']
            miss = found['value'] - joint.dynamics.friction.coulomb
            assert abs(miss) < 4.0 * found['deviation']
        report = (out / 'report.md').read_text()
        assert '3999 samples, 0 repeated stamps left out, 0 gaps not bridged' in report
        assert 'Torques depend on sums with others alone: link1/izz, link2/mx' in report
        assert main(['check', str(out / 'arm3.urdf')]) == 0
        capsys.readouterr()


def write_csv(file, heads, *columns):
    rows = (','.join(f'{value:.9g}' for value in row) for row in np.column_stack(columns))
    file.write_text('\n'.join([','.join(heads), *rows]) + '\n')


def test_a_loaded_run_gives_the_gains(logs, tmp_path, capsys):
    folder, true = logs
    random = np.random.default_rng(3)
    carried = fd.load_robot(folder / 'arm.urdf', extension=[(
        '<flexdyn version="1.0"><payload link="link3" mass="3" com="0.1 0 0.1"/></flexdyn>')])
    loaded = recorded(replace(true, payloads=carried.payloads), random)
    heads = ['t', 'q1', 'q2', 'q3', 'i1', 'i2', 'i3']
    write_csv(tmp_path / 'loaded.csv', heads, loaded.t, loaded.q, loaded.tau / GAINS)
    assert call(
        folder, folder / 'currents.csv', '--loaded', tmp_path / 'loaded.csv', '--unknown-gains',
        '--load', 'link3', 3, 0.1, 0, 0.1, '--gains', 20, 20, 10, '--friction', 'default',
        '-o', tmp_path / 'out', '--bound', 'link2/mass=1:20', 'link1/mass=:9',
        '--weight', '2', 'link1/*=5', '--json') == 0
    record = json.loads(capsys.readouterr().out)
    for k, factor in enumerate((1.0, 1.25, 0.8)):
        found = record['parameters'][f'joint{k + 1}/gain']
        assert abs(found['value'] - factor) < 4.0 * found['deviation'] < 0.2


@pytest.mark.parametrize('both', [True, False])
def test_positions_on_both_sides_give_the_stiffness(tmp_path, capsys, both):
    elastic, random = described_arm('stiffness="3000" damping="2"'), np.random.default_rng(8)
    true = true_arm(elastic, random)
    motion, names = recorded_with_modes(true, random), elastic.joint_names
    (tmp_path / 'arm.urdf').write_text(elastic.descriptions[0])
    (tmp_path / 'drives.xml').write_text(elastic.descriptions[1])
    motor, deflection = motion.q[:, :3], motion.q[:, 3:]
    heads = ['t', *(f'{name}/torque' for name in names)]
    if both:
        heads += [*(f'{name}_motor' for name in names), *names]
        sides = motor, motor + deflection
    else:
        heads += [*names, *(f'{name}/elastic' for name in names)]
        sides = motor, deflection
    write_csv(tmp_path / 'log.csv', heads, motion.t, motion.tau[:, :3], *sides)
    assert call(tmp_path, tmp_path / 'log.csv', '--elastic', '-o', tmp_path / 'out', '--friction',
                'default', '--json') == 0
    record = json.loads(capsys.readouterr().out)
    for joint in true.joints:
        found = record['parameters'][f'{joint.name}/stiffness']
        assert found['value'] == pytest.approx(joint.dynamics.stiffness, rel=0.02)


def test_text_names_residuals_and_fixed_parameters_stay(logs, tmp_path, capsys):
    folder, _ = logs
    out = tmp_path / 'out'
    assert call(folder, folder / 'torques.csv', '-o', out, '--fix', 'joint1/viscous=2.5',
                'link3/*', '--friction', 'viscous', 'coulomb') == 0
    text = capsys.readouterr().out
    assert 'residual rms' in text and 'joint3' in text and f'Written to {out}' in text
    record = json.loads((out / 'identification.json').read_text())
    assert 'joint1/viscous' not in record['parameters']
    assert not any(name.startswith('link3/') for name in record['parameters'])
    assert not any(name.endswith('offset') for name in record['parameters'])


@pytest.mark.parametrize(('words', 'error'), [
    (('missing.csv',), 'does not exist'),
    (('torques.csv', '--gains', '1', '2'), '--gains'),
    (('currents.csv',), 'has no gain of "joint1"'),
    (('torques.csv', '--gains', 'joint9=2'), 'joint9'),
    (('torques.csv', '--friction', 'sticky'), 'sticky'),
    (('torques.csv', '--cutoff', '300'), 'cutoff'),
    (('torques.csv', '--fix', 'joint1/viscos'), 'Did you mean'),
    (('degrees.csv',), 'radians'),
    (('milliseconds.csv',), 'Write times in seconds'),
    (('rates.csv',), 'velocities of "joint1" are 57.3 times the slopes'),
    (('short.csv',), 'lacks a column'),
    (('text.csv',), 'line 3: a value is not a number'),
])
def test_wrong_calls_are_errors(logs, capsys, words, error):
    folder, _ = logs
    lines = (folder / 'torques.csv').read_text().splitlines()
    (folder / 'short.csv').write_text('\n'.join(line.rpartition(',')[0] for line in lines))
    (folder / 'text.csv').write_text('\n'.join([lines[0], lines[1], lines[2] + 'x', *lines[3:]]))
    rows = [line.split(',') for line in lines[1:] if not line.endswith(',')]
    degrees = [','.join([row[0], str(57.3 * float(row[1])), *row[2:]]) for row in rows]
    (folder / 'degrees.csv').write_text('\n'.join([lines[0], *degrees]))
    table = np.array(rows, dtype=float)
    write_csv(folder / 'milliseconds.csv', lines[0].split(','), 1e3 * table[:, 0], table[:, 1:])
    slopes = 57.3 * np.gradient(table[:, 1:4], table[:, 0], axis=0)
    write_csv(folder / 'rates.csv', [*lines[0].split(','), 'qd1', 'qd2', 'qd3'], table, slopes)
    assert call(folder, folder / words[0], *words[1:]) in (1, 2)
    assert error in capsys.readouterr().err


def test_a_bag_gives_what_a_csv_file_gives(logs, tmp_path, capsys):
    rosbags = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
    from flexdyn_ros.identification.recordings import read_motion
    from rosbags.typesys import get_typestore, Stores

    folder, _ = logs
    store = get_typestore(Stores.LATEST)
    state = store.types['sensor_msgs/msg/JointState']
    header, time = store.types['std_msgs/msg/Header'], store.types['builtin_interfaces/msg/Time']
    table = np.genfromtxt(folder / 'torques.csv', delimiter=',', skip_header=1)
    table = table[np.isfinite(table).all(axis=1)]
    names = ['joint1', 'joint2', 'joint3']
    for plugin in rosbags.StoragePlugin:
        place = tmp_path / plugin.name
        with rosbags.Writer(place, version=9, storage_plugin=plugin) as writer:
            connection = writer.add_connection(
                '/joint_states', 'sensor_msgs/msg/JointState', typestore=store)
            for row in table:
                stamp = round(row[0] * 1e9) + 10**9
                message = state(header(
                    time(*divmod(stamp, 10**9)), ''), names, row[1:4], np.array([]), row[4:7])
                writer.write(
                    connection, stamp, store.serialize_cdr(message, 'sensor_msgs/msg/JointState'))
    mcap = tmp_path / 'MCAP' / 'MCAP.mcap'
    motions = [read_motion(str(log), names, {}) for log in (tmp_path / 'SQLITE3', mcap)]
    assert all(np.array_equal(getattr(motions[0], kind), getattr(motions[1], kind))
               for kind in ('t', 'q', 'tau'))
    records = []
    for log in (mcap, folder / 'torques.csv'):
        assert call(folder, log, '-o', tmp_path / 'out', '--json') == 0
        records.append(json.loads(capsys.readouterr().out)['parameters'])
    for name, each in records[0].items():
        assert each['value'] == pytest.approx(records[1][name]['value'], rel=1e-2, abs=1e-3)

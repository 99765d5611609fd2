# SPDX-License-Identifier: Apache-2.0
"""`flexdyn demo`, shortened, in a shell with another ROS sourced; and its stop."""

import json
import os
from pathlib import Path
import signal
import sys
import time

from demo_process import (
    DemoProcess,
    hostile_variables,
    is_running,
    left_behind,
    ROOT,
    shared_memory_of,
)
import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.slow]

DURATION = 2.0  # [s]
RATE = 200.0  # [Hz]
PROCESSES = {
    'forward_dynamics_node', 'inverse_dynamics_node', 'deflection_markers_node', 'driver',
}
BY_HAND = [sys.executable, '-m', 'flexdyn_ros', 'demo']
AS_MAKE = [str(ROOT / 'scripts' / 'demo.sh')]  # also takes PYTHONHOME away


@pytest.fixture(scope='module')
def finished(tmp_path_factory):
    """Run both robots with flexible feed-forward among hostile variables."""
    folder = tmp_path_factory.mktemp('demo')
    variables = {**hostile_variables(folder), 'PYTHONHOME': str(folder)}
    demo = DemoProcess(
        AS_MAKE, folder, variables, ['--duration', str(DURATION), '--controls', 'flexible'])
    try:
        held = shared_memory_of(demo.wait_for_motion().values())
        code = demo.wait()
    finally:
        demo.close()
    assert code == 0, demo.text
    return demo, json.loads((demo.folder / 'report.json').read_text()), held


def test_last_line_names_the_folder(finished):
    demo, _, _ = finished
    assert demo.text.strip().splitlines()[-1] == f'Report, data and pictures: {demo.folder}'


def test_no_errors_and_both_robots(finished):
    _, report, _ = finished
    assert report['errors'] == []
    assert [run['robot'] for run in report['runs']] == ['canadarm', 'vendor']
    vendor = report['runs'][1]['description']
    assert vendor['file'].endswith('airo_models/arms/ur5e/ur5e.urdf')
    assert vendor['as_topic'] is True


def processes(demo):
    """Return (name, process id) of all processes of all runs."""
    files = demo.folder.glob('*/*/processes.json')
    return [pair for file in files for pair in json.loads(file.read_text()).items()]


def test_processes_are_distinct(finished):
    demo, _, _ = finished
    names, pids = zip(*processes(demo))
    assert set(names) == PROCESSES
    assert len(set(pids)) == len(pids) == 2 * len(PROCESSES)


@pytest.mark.parametrize('topic, states_only', [
    ('/joint_states', True),
    ('/forward_dynamics_node/modal_states', True),
    ('/forward_dynamics_node/tip_poses', True),
    ('/clock', True),
    ('/inverse_dynamics_node/joint_torques', False),
])
def test_counts_match_duration_times_rate(finished, topic, states_only):
    _, report, _ = finished
    wanted = DURATION * RATE + (1 if states_only else 0)
    for run in report['runs']:
        found = run['topics'][topic]
        assert found['messages'] - found['repeated'] == pytest.approx(wanted, rel=0.01)


def test_markers_come(finished):
    _, report, _ = finished
    for run in report['runs']:
        assert run['topics']['/deflection_markers_node/markers']['messages'] >= 2


def test_torque_fits_the_motion(finished):
    demo, report, _ = finished
    for run in report['runs']:
        assert run['simulated_time_s'] == pytest.approx(DURATION)
        assert run['real_time_factor'] > 0.0
        # The feed-forward has the exact model: only the hold over a period of 5 ms is left.
        assert run['tracking_error_rad']['largest'] < 2e-4
        assert max(run['largest_modal_coordinate'].values()) > 1e-4


def test_the_tip_is_compared_with_an_exact_and_a_wrong_model(finished):
    """Inversion of the exact model leaves nothing; the table shows all beside joint errors."""
    demo, report, _ = finished
    rows = {(row['robot'], row['model'], row['control']): row for row in report['tips']}
    assert len(rows) == len(report['tips']) == 8
    for robot in ('canadarm', 'vendor'):
        rigid, inverted = (
            rows[robot, 'exact', f'PD + {method}']
            for method in ('rigid feed-forward', 'stable inversion'))
        assert inverted['tip_error_m'] < 1e-5 < 1e-3 < rigid['tip_error_m']
        wrong = rows[robot, '5 % wrong', 'PD + stable inversion']
        assert wrong['tip_error_m'] > 100.0 * inverted['tip_error_m']
    assert 'residual vibration [mm]' in demo.text and '5 % wrong' in demo.text


def test_pictures_and_data(finished):
    demo, report, _ = finished
    assert len(report['pictures']) == 10
    for name in report['pictures']:
        data = (demo.folder / name).read_bytes()
        assert data.startswith(b'\x89PNG') and len(data) > 10_000
    for robot in ('canadarm', 'vendor'):
        folder = demo.folder / robot / 'flexible'
        with np.load(folder / 'data.npz') as data:
            assert np.all(np.isfinite(data['time']))
            assert data['time'][-1] == pytest.approx(DURATION)
            rows = len(data['time'])
        assert len((folder / 'data.csv').read_text().splitlines()) == rows + 1


def test_only_this_machine_and_a_domain_of_its_own(finished):
    _, report, _ = finished
    domains = [run['network']['ROS_DOMAIN_ID'] for run in report['runs']]
    assert len(set(domains)) == 2 and '0' not in domains
    for run in report['runs']:
        network = run['network']
        assert network['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
        assert network['ROS_DISCOVERY_SERVER'] is None
        assert network['ROS_STATIC_PEERS'] is None
        assert Path(network['FASTDDS_DEFAULT_PROFILES_FILE']).name == 'fastdds_profile.xml'


def test_processes_are_gone_and_shared_memory_is_clean(finished):
    demo, _, held = finished
    assert not any(is_running(pid) for _, pid in processes(demo))
    assert held
    assert left_behind(held, demo.earlier) == set()


@pytest.fixture
def demo_by_hand(tmp_path):
    """Start the Canadarm alone, by hand, among hostile variables."""
    demo = DemoProcess(
        BY_HAND, tmp_path, hostile_variables(tmp_path),
        ['--duration', '60', '--robots', 'canadarm', '--controls', 'flexible'],
    )
    yield demo
    demo.close()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_stop_everything(demo_by_hand, number):
    pids = demo_by_hand.wait_for_motion()
    held = shared_memory_of(pids.values())
    demo_by_hand.process.send_signal(number)
    assert demo_by_hand.wait() == 130
    assert 'Interrupted; all processes have been stopped.' in demo_by_hand.text
    assert not any(is_running(pid) for pid in pids.values())
    assert held
    assert left_behind(held, demo_by_hand.earlier) == set()


def test_a_node_that_dies_ends_the_demo_with_its_name(demo_by_hand):
    pids = demo_by_hand.wait_for_motion()
    os.kill(pids['inverse_dynamics_node'], signal.SIGTERM)
    assert demo_by_hand.wait() == 1
    assert 'the process inverse_dynamics_node ended early' in demo_by_hand.text
    assert not any(is_running(pid) for pid in pids.values())


def test_nothing_outlives_a_demo_that_was_killed(demo_by_hand):
    pids = demo_by_hand.wait_for_motion()
    demo_by_hand.process.kill()
    demo_by_hand.wait()
    end = time.monotonic() + 20.0
    while any(is_running(pid) for pid in pids.values()) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(is_running(pid) for pid in pids.values())

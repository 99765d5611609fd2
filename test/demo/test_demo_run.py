# SPDX-License-Identifier: Apache-2.0
"""`flexdyn demo`, shortened, in a shell with another ROS sourced; and how it stops."""

import importlib.util
import json
import os
from pathlib import Path
import signal
import sys

from demo_process import DemoProcess
from demo_process import hostile_variables
from demo_process import is_running
from demo_process import left_behind
from demo_process import ROOT
from demo_process import shared_memory_of
import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.slow]

DURATION = 2.0  # [s]
RATE = 200.0  # [Hz]
OWN_NODES = {'forward_dynamics_node', 'inverse_dynamics_node', 'deflection_markers_node'}
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
    has_launch_ros = importlib.util.find_spec('launch_ros') is not None
    assert (report['launched_by'] == 'launch_ros') is has_launch_ros
    assert [run['robot'] for run in report['runs']] == ['canadarm', 'vendor']
    vendor = report['runs'][1]['description']
    assert vendor['file'].endswith('airo_models/arms/ur5e/ur5e.urdf')
    assert vendor['as_topic'] is True


def test_processes_are_distinct_and_launched(finished):
    _, report, _ = finished
    processes = [process for run in report['runs'] for process in run['processes']]
    pids = [process['pid'] for process in processes]
    assert len(pids) == 12
    assert len(set(pids)) == len(pids)
    for run in report['runs']:
        launched = {
            process['name']: Path(process['executable'])
            for process in run['processes'] if process['name'] in OWN_NODES
        }
        assert set(launched) == OWN_NODES
        for name, path in launched.items():
            assert path.name == name
            assert path.parent.name == 'flexdyn_ros'
            assert path.parent.parent.name == 'lib'


@pytest.mark.parametrize('topic, states_only', [
    ('/joint_states', True),
    ('/forward_dynamics_node/modal_states', True),
    ('/forward_dynamics_node/tip_poses', True),
    ('/clock', True),
    ('/inverse_dynamics_node/joint_torques', False),
    ('/inverse_dynamics_node/reference', False),
    ('/forward_dynamics_node/pd_reference', False),
])
def test_counts_match_duration_times_rate(finished, topic, states_only):
    _, report, _ = finished
    wanted = DURATION * RATE + (1 if states_only else 0)
    for run in report['runs']:
        found = run['topics'][topic]
        assert found['messages'] - found['repeated'] == pytest.approx(wanted, rel=0.01)
        assert found['rate_in_simulated_time_hz'] == pytest.approx(RATE, rel=0.02)


def test_markers_come_at_their_rate(finished):
    _, report, _ = finished
    for run in report['runs']:
        found = run['topics']['/deflection_markers_node/markers']
        assert found['messages'] >= 2
        # On a steady clock, so that a machine that stalls moves the few there are.
        assert 1.0 < found['rate_in_real_time_hz'] < 4.0


def test_torque_fits_the_motion(finished):
    demo, report, _ = finished
    for run in report['runs']:
        assert run['simulated_time_s'] == pytest.approx(DURATION)
        assert run['real_time_factor'] > 0.0
        # The feed-forward knows the arm: only the hold over a period of 5 ms is left.
        assert run['tracking_error_rad']['largest'] < 2e-4
        assert max(run['largest_modal_coordinate'].values()) > 1e-4


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
        with np.load(folder / 'markers.npz') as data:
            assert any('centre_line' in name for name in data)


def test_only_this_machine_and_a_domain_of_its_own(finished):
    _, report, _ = finished
    domains = [run['network']['ROS_DOMAIN_ID'] for run in report['runs']]
    assert len(set(domains)) == 2 and '0' not in domains
    for run in report['runs']:
        network = run['network']
        assert network['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
        assert network['ROS_DISCOVERY_SERVER'] is None
        assert network['ROS_STATIC_PEERS'] is None
        assert run['versions']['rmw'] == 'rmw_fastrtps_cpp'
        assert Path(network['FASTDDS_DEFAULT_PROFILES_FILE']).name == 'fastdds_profile.xml'


def test_processes_are_gone_and_shared_memory_is_clean(finished):
    demo, report, held = finished
    for run in report['runs']:
        assert not any(is_running(process['pid']) for process in run['processes'])
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
    pids = {**demo_by_hand.wait_for_motion(), **demo_by_hand.companions()}
    held = shared_memory_of(pids.values())
    demo_by_hand.process.send_signal(number)
    assert demo_by_hand.wait() == 130
    assert 'Interrupted; all processes have been stopped.' in demo_by_hand.text
    assert not any(is_running(pid) for pid in pids.values())
    assert held
    assert left_behind(held, demo_by_hand.earlier) == set()


def test_a_node_that_dies_ends_the_demo_with_its_name(demo_by_hand):
    pids = {**demo_by_hand.wait_for_motion(), **demo_by_hand.companions()}
    os.kill(pids['inverse_dynamics_node'], signal.SIGTERM)
    assert demo_by_hand.wait() == 1
    assert 'the process inverse_dynamics_node ended early' in demo_by_hand.text
    assert not any(is_running(pid) for pid in pids.values())

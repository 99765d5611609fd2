# SPDX-License-Identifier: Apache-2.0
"""
Every launch file resolves, starts its nodes, and stops cleanly.

They run through the LaunchService where launch_ros can be imported, else through the
stand-in of the tests.
"""

import os
from pathlib import Path
import signal
import stat
import subprocess
import sys

from arms import flexible_arm
import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from geometry_msgs.msg import PoseArray
from launch_stand_in import stand_in
from launch_stand_in.context import LaunchFileError
from node_processes import joint_state, LIMIT
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from visualization_msgs.msg import MarkerArray
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / 'test' / 'identification'))
from simulated_arms import described_arm  # noqa: E402, I100

sys.path.append(str(ROOT / 'test' / 'visualization'))
from headless import browser_page  # noqa: E402, I100

pytestmark = pytest.mark.ros

NODES = ('forward_dynamics', 'inverse_dynamics', 'deflection_markers')
ALONE = (*NODES, 'modal_observer')
FILES = (*ALONE, 'bringup', 'identify', 'trajectory_correction', 'view')
EXECUTABLES = (*ALONE, 'identification', 'trajectory_correction')
needs_stand_in = pytest.mark.skipif(
    stand_in.launch_ros_is_installed(),
    reason='the stand-in makes way for launch_ros, which is installed here',
)


@pytest.fixture(scope='module')
def share(tmp_path_factory):
    """Return the share folder of an ament prefix that holds the sources of this repository."""
    prefix = tmp_path_factory.mktemp('prefix')
    index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'flexdyn_ros').touch()
    folder = prefix / 'share' / 'flexdyn_ros'
    folder.mkdir()
    for name in ('launch', 'config', 'urdf', 'rviz'):
        (folder / name).symlink_to(ROOT / name)
    executables = prefix / 'lib' / 'flexdyn_ros'
    executables.mkdir(parents=True)
    for node in EXECUTABLES:
        script = executables / f'{node}_node'
        script.write_text(
            f'#!{sys.executable}\nimport sys\n'
            f'from flexdyn_ros.nodes.{node}_node import main\nsys.exit(main())\n'
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    before = {name: os.environ.get(name) for name in ('AMENT_PREFIX_PATH', 'PATH')}
    joined = [str(prefix), *filter(None, [before['AMENT_PREFIX_PATH']])]
    os.environ['AMENT_PREFIX_PATH'] = os.pathsep.join(joined)
    os.environ['PATH'] = os.pathsep.join([str(Path(sys.executable).parent), before['PATH']])
    yield folder
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


@pytest.fixture
def description(tmp_path):
    """Return a URDF file of the flexible arm."""
    path = tmp_path / 'arm of test.urdf'
    path.write_text(flexible_arm())
    return path


def launch_file(share, name):
    """Return the path of a launch file."""
    return str(share / 'launch' / f'{name}.launch.py')


class Launched:
    """A launch file run in a process of its own, stopped at the end of a with block."""

    def __init__(self, log, file, **arguments):
        words = [f'{name}:={value}' for name, value in arguments.items()]
        self.log = log
        with open(log, 'w') as output:
            self._process = subprocess.Popen(
                [sys.executable, '-m', 'launch_stand_in', file, *words],
                stdout=output, stderr=subprocess.STDOUT,
                env={**os.environ, 'PYTHONUNBUFFERED': '1', 'PYTHONPATH': os.pathsep.join(
                    [str(ROOT / 'test'), os.environ['PYTHONPATH']])},
            )

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = 'still running'
        if failure[0] is None:
            assert code == 0, self.log.read_text()


def shipped_launch_files():
    """Return the names of all launch files."""
    return sorted(path.name.split('.')[0] for path in (ROOT / 'launch').glob('*'))


def test_no_launch_file_is_left_untested():
    assert shipped_launch_files() == sorted(FILES)


@needs_stand_in
@pytest.mark.parametrize('name', FILES)
def test_every_argument_is_described_and_others_are_refused(share, name):
    declared = stand_in.describe(launch_file(share, name))
    assert declared
    assert all(len(words) > 10 for _, words in declared.values())
    with pytest.raises(LaunchFileError, match='typo'):
        stand_in.resolve(launch_file(share, name), {'typo': '1'})


@needs_stand_in
@pytest.mark.parametrize('name', ALONE)
def test_without_a_file_the_description_comes_from_the_topic(share, description, name):
    file = launch_file(share, name)
    (waiting,) = stand_in.resolve(file)
    (described,) = stand_in.resolve(file, {'description_file': str(description)})
    assert waiting.executable == described.executable == f'{name}_node'
    assert 'robot_description' not in waiting.parameters[-1]
    assert '<robot' in described.parameters[-1]['robot_description']
    assert described.parameters[-1]['description_file'] == str(description)


@needs_stand_in
def test_the_trajectory_goes_to_a_controller(share, description):
    file = launch_file(share, 'identify')
    (node,) = stand_in.resolve(
        file, {'description_file': str(description), 'controller_topic': '/arm/trajectory'})
    assert node.executable == 'identification_node'
    assert '~/joint_trajectory:=/arm/trajectory' in ' '.join(node.command)


@needs_stand_in
def test_corrected_goals_go_to_a_controller(share, description):
    (node,) = stand_in.resolve(
        launch_file(share, 'trajectory_correction'),
        {'description_file': str(description), 'controller_action': 'arm/follow',
         'rigid_joint_states_topic': 'planned/joint_states'})
    assert node.executable == 'trajectory_correction_node'
    assert node.parameters[-1]['controller_action'] == 'arm/follow'
    assert '~/joint_states:=planned/joint_states' in ' '.join(node.command)


@needs_stand_in
def test_the_nodes_of_bringup_are_connected(share, description):
    arguments = {'description_file': str(description), 'namespace': 'left'}
    resolved = stand_in.resolve(launch_file(share, 'bringup'), arguments)
    by_name = {item.executable: ' '.join(item.command) for item in resolved}
    assert sorted(by_name) == sorted(f'{name}_node' for name in NODES)
    assert all('__ns:=/left' in command for command in by_name.values())
    efforts = '~/joint_efforts:=inverse_dynamics_node/joint_torques'
    assert efforts in by_name['forward_dynamics_node']
    modal = 'modal_states:=forward_dynamics_node/modal_states'
    assert modal in by_name['deflection_markers_node']
    swing = '~/swing_reference:=inverse_dynamics_node/reference'
    assert swing in by_name['forward_dynamics_node']
    assert all('/clock:=clock' in command for command in by_name.values())


@needs_stand_in
def test_rviz_runs_in_the_namespace_with_the_root_of_the_robot(
    share, description, tmp_path, monkeypatch
):
    index = share.parent / 'ament_index' / 'resource_index' / 'packages'
    for package in ('rviz2', 'robot_state_publisher'):
        (index / package).touch()
        script = share.parents[1] / 'lib' / package / package
        script.parent.mkdir(exist_ok=True)
        script.write_text('#!/bin/sh\n')
        script.chmod(0o755)
    arguments = {
        'description_file': str(description), 'namespace': 'left', 'use_rviz': 'true'}
    resolved = stand_in.resolve(launch_file(share, 'bringup'), arguments)
    (rviz,) = [' '.join(item.command) for item in resolved if item.executable == 'rviz2']
    assert '-f base' in rviz
    assert '__ns:=/left' in rviz
    assert '/clock:=clock' in rviz


@pytest.mark.slow
def test_bringup_with_defaults_moves_by_itself(share, probe, tmp_path):
    """In a namespace, with the clock below it."""
    clock = probe.listen(Clock, '/left/clock')
    others = probe.listen(Clock, '/clock')
    states = probe.listen(JointState, '/left/joint_states')
    torques = probe.listen(JointState, '/left/inverse_dynamics_node/joint_torques')
    with Launched(tmp_path / 'log', launch_file(share, 'bringup'), namespace='left'):
        probe.wait_for(
            lambda: clock and states and torques and abs(states[-1].position[0]) > 1e-3,
            'a moving arm')
    assert not others


@pytest.mark.slow
def test_identification_from_the_launch_file_to_the_description(share, probe, tmp_path):
    """Play, record, identify, write: friction, rotors, stiffness that the description lacks."""
    arm = described_arm('stiffness="4000" damping="8"')
    (tmp_path / 'arm.urdf').write_text(arm.descriptions[0])
    (tmp_path / 'drives.xml').write_text(arm.descriptions[1])
    (tmp_path / 'simulator.yaml').write_text(yaml.safe_dump({'/**': {'ros__parameters': {
        'publish_rate': 200.0,
        'pd': {'kp': [3000.0, 3000.0, 800.0], 'kd': [150.0, 150.0, 30.0]}}}}))
    assert main(['excite', str(tmp_path / 'arm.urdf'), '-o', str(tmp_path), '--period', '10',
                 '--steps', '8', '--rate', '50']) == 0
    reports = probe.statuses()
    simulator = Launched(
        tmp_path / 'simulator.log', launch_file(share, 'forward_dynamics'),
        description_file=tmp_path / 'arm.urdf', extension_file=tmp_path / 'drives.xml',
        params_file=tmp_path / 'simulator.yaml')
    with simulator, Launched(
        tmp_path / 'identify.log', launch_file(share, 'identify'),
        description_file=tmp_path / 'arm.urdf', output_folder=tmp_path / 'out',
        trajectory_file=tmp_path / 'joint_trajectory.yaml',
        controller_topic='/forward_dynamics_node/joint_trajectory',
    ):
        probe.wait_for(
            lambda: {'done', 'failed'} & {
                value.value for message in reports for status in message.status
                for value in status.values if value.key == 'stage'},
            'an identified arm', limit=400.0)
    assert main(['check', str(tmp_path / 'out' / 'arm3.urdf')]) == 0
    found = fd.load_robot(tmp_path / 'out' / 'arm3.urdf')
    for joint in arm.joints:
        drive, true = found.joint(joint.name).dynamics, joint.dynamics
        assert drive.stiffness == pytest.approx(true.stiffness, rel=0.05)
        assert drive.friction.coulomb == pytest.approx(true.friction.coulomb, rel=0.15)
        assert drive.friction.viscous == pytest.approx(true.friction.viscous, rel=0.15)
        assert drive.reflected_inertia == pytest.approx(true.reflected_inertia, rel=0.3)


@pytest.mark.parametrize('name', EXECUTABLES)
def test_shipped_parameter_files_name_parameters_that_exist(name):
    from flexdyn_ros.nodes.common.parameters import node_specifications

    known = {s.name: s for s in node_specifications(f'{name}_node')}
    content = yaml.safe_load((ROOT / 'config' / f'{name}.yaml').read_text())
    flat = {}
    for key, value in content['/**']['ros__parameters'].items():
        inner = value if isinstance(value, dict) else {None: value}
        flat.update({f'{key}.{k}' if k else key: v for k, v in inner.items()})
    for key, value in flat.items():
        assert known[key].problem(value) is None


@pytest.mark.slow
def test_the_inverse_dynamics_launch_file_runs(share, description, probe, tmp_path):
    commands = probe.listen(Float64MultiArray, '/controller/commands')
    state = joint_state(('shoulder', 'elbow'), (0.1, 0.2), (0.0, 0.0))
    arguments = {'description_file': description, 'commands_topic': '/controller/commands'}
    file = launch_file(share, 'inverse_dynamics')
    with Launched(tmp_path / 'log', file, **arguments):
        probe.wait_for(
            lambda: commands, 'torque', lambda: probe.publish('joint_states', state)
        )
    assert len(commands[0].data) == 2


@pytest.mark.slow
def test_the_forward_dynamics_launch_file_runs(share, description, probe, tmp_path):
    states = probe.listen(JointState, '/left/joint_states')
    poses = probe.listen(PoseArray, '/left/forward_dynamics_node/tip_poses')
    arguments = {'description_file': description, 'namespace': 'left'}
    with Launched(tmp_path / 'log', launch_file(share, 'forward_dynamics'), **arguments):
        probe.wait_for(lambda: states and poses, 'states')
    assert list(states[0].name) == ['shoulder', 'elbow']


def test_the_deflection_markers_launch_file_runs(share, description, probe, tmp_path):
    markers = probe.listen(MarkerArray, '/deflection_markers_node/markers')
    state = joint_state(('shoulder', 'elbow'), (0.1, 0.2), (0.0, 0.0))
    arguments = {'description_file': description}
    with Launched(tmp_path / 'log', launch_file(share, 'deflection_markers'), **arguments):
        probe.wait_for(
            lambda: markers, 'markers', lambda: probe.publish('joint_states', state)
        )
    assert markers[0].markers


@pytest.mark.slow
def test_the_view_shows_live_topics(share, description, probe, tmp_path):
    """Joint and modal states bend the arm in Chromium; the server binds this machine alone."""
    pytest.importorskip('viser', reason='viser is not installed')
    psutil = pytest.importorskip('psutil', reason='psutil is not installed')
    markers = probe.listen(MarkerArray, '/deflection_markers_node/markers')
    names = fd.load_robot(flexible_arm()).mode_names
    port = 8391

    def send():
        probe.publish('joint_states', joint_state(('shoulder', 'elbow'), (0.1, 0.2), (0.0, 0.0)))
        probe.publish('modal_states', joint_state(names, (0.04,) + (0.0,) * (len(names) - 1), ()))

    arguments = {'description_file': description, 'browser': f'127.0.0.1:{port}'}
    with Launched(tmp_path / 'log', launch_file(share, 'view'), **arguments), \
            browser_page() as page:
        probe.wait_for(lambda: markers, 'markers', send)
        listening = [c.laddr.ip for c in psutil.net_connections('tcp')
                     if c.status == psutil.CONN_LISTEN and c.laddr.port == port]
        assert listening == ['127.0.0.1']
        page.goto(f'http://127.0.0.1:{port}')
        page.wait_for_selector('text=deflection [m]')
        probe.wait_for(
            lambda: '0.05' in page.inner_text('body').split(), 'a legend up to 0.05 m', send)
    assert f'http://127.0.0.1:{port}' in (tmp_path / 'log').read_text()


def test_bringup_runs_all_three_nodes_on_one_clock(share, description, probe, tmp_path):
    clock = probe.listen(Clock, '/clock')
    torques = probe.listen(JointState, '/inverse_dynamics_node/joint_torques')
    markers = probe.listen(MarkerArray, '/deflection_markers_node/markers')
    arguments = {'description_file': description}
    with Launched(tmp_path / 'log', launch_file(share, 'bringup'), **arguments):
        probe.wait_for(
            lambda: clock and torques and markers and clock[-1].clock.nanosec > 50_000_000,
            'clock, torques and markers',
        )
    stamps = {message.header.stamp.sec for message in torques}
    assert max(stamps) < 1000  # simulated time, not that of the machine

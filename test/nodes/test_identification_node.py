# SPDX-License-Identifier: Apache-2.0
"""The identification node with the simulator: from an unknown arm to its description."""

import json
from pathlib import Path
import sys

from diagnostic_msgs.msg import DiagnosticArray
import flexdyn_ros as fd
from flexdyn_ros.cli.main import main
from node_processes import joint_state
import numpy as np
import pytest
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

sys.path.append(str(Path(__file__).resolve().parents[1] / 'identification'))
from simulated_arms import described_arm  # noqa: E402, I100

pytestmark = pytest.mark.ros

LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
CONTROLLER = '/forward_dynamics_node/joint_trajectory'


@pytest.fixture(scope='module')
def arm():
    """Return an arm with friction, rotors and elastic joints."""
    return described_arm('stiffness="4000" damping="8"')


@pytest.fixture(scope='module')
def trajectory(arm, tmp_path_factory):
    """Return the file of a short exciting trajectory of the arm as its vendor describes it."""
    folder = tmp_path_factory.mktemp('excitation')
    (folder / 'arm.urdf').write_text(arm.descriptions[0])
    assert main(['excite', str(folder / 'arm.urdf'), '-o', str(folder), '--period', '10',
                 '--steps', '8', '--rate', '50']) == 0
    return folder / 'joint_trajectory.yaml'


def statuses(messages):
    """Return the stages that diagnostics of the node have reported."""
    return [value.value for message in messages for status in message.status
            if status.name.endswith('identification_node')
            for value in status.values if value.key == 'stage']


@pytest.mark.slow
def test_an_unknown_arm_is_identified_end_to_end(arm, trajectory, start, probe, tmp_path):
    start('forward_dynamics_node', {
        'robot_description': arm.descriptions[0],
        'extension_file': str(write(tmp_path / 'drives.xml', arm.descriptions[1])),
        'publish_rate': 200.0, 'pd': {'kp': [3000.0, 3000.0, 800.0], 'kd': [150.0, 150.0, 30.0]},
    })
    excited = probe.listen(Bool, '/identification_node/excited', LATCHED)
    reports = probe.listen(DiagnosticArray, '/diagnostics')
    # The vendor's description: no friction, no rotors, no stiffness.
    start('identification_node', {
        'robot_description': arm.descriptions[0], 'trajectory_file': str(trajectory),
        'output_folder': str(tmp_path / 'out'), 'repetitions': 1, 'approach_velocity': 1.0,
        'friction': ['viscous', 'coulomb'],
    }, ['-r', f'~/joint_trajectory:={CONTROLLER}'])
    probe.wait_for(lambda: {'done', 'failed'} & set(statuses(reports)), 'an identified arm')
    assert 'failed' not in statuses(reports)
    assert [message.data for message in excited][-1]
    assert main(['check', str(tmp_path / 'out' / 'arm3.urdf')]) == 0
    found = fd.load_robot(tmp_path / 'out' / 'arm3.urdf')
    record = json.loads((tmp_path / 'out' / 'identification.json').read_text())
    assert not any('condition number' in warning for warning in record['warnings'])
    for joint in arm.joints:
        drive, true = found.joint(joint.name).dynamics, joint.dynamics
        assert drive.stiffness == pytest.approx(true.stiffness, rel=0.05)
        assert drive.friction.coulomb == pytest.approx(true.friction.coulomb, rel=0.15)
        assert drive.friction.viscous == pytest.approx(true.friction.viscous, rel=0.15)
        assert drive.reflected_inertia == pytest.approx(true.reflected_inertia, rel=0.3)


def write(file, text):
    """Write a file and return its path."""
    file.write_text(text)
    return file


def test_the_trajectory_leads_from_where_the_arm_stands(arm, trajectory, start, probe, tmp_path):
    sent = probe.listen(JointTrajectory, '/identification_node/joint_trajectory')
    start('identification_node', {
        'robot_description': arm.descriptions[0], 'trajectory_file': str(trajectory),
        'repetitions': 2, 'approach_velocity': 0.5})
    state = joint_state(arm.joint_names, (0.3, -0.2, 0.1), (0.0, 0.0, 0.0))
    probe.wait_for(lambda: sent, 'a trajectory', lambda: probe.publish('joint_states', state))
    points = sent[0].points
    t = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points])
    q, qd = (np.array([getattr(p, kind) for p in points]) for kind in ('positions', 'velocities'))
    assert np.abs(q[0] - (0.3, -0.2, 0.1)).max() < 0.01
    assert (np.diff(t) > 0.0).all()
    rates = np.diff(q, axis=0) / np.diff(t)[:, None]
    assert np.abs(rates - 0.5 * (qd[1:] + qd[:-1])).max() < 0.05
    assert np.abs(qd[:49]).max() <= 0.5 + 1e-9
    assert np.abs(qd[-1]).max() < 1e-6


def test_motions_by_hand_and_wrong_calls(arm, start, probe, tmp_path):
    reports = probe.listen(DiagnosticArray, '/diagnostics')
    start('identification_node', {
        'robot_description': arm.descriptions[0], 'play': False,
        'output_folder': str(tmp_path / 'out')})
    probe.wait_for(lambda: 'recording' in statuses(reports), 'recording')
    few = JointState(name=['joint1'], position=[0.0])
    probe.publish('joint_states', few)
    response = probe.call(Trigger, '/identification_node/identify', Trigger.Request())
    assert response.success
    probe.wait_for(lambda: 'failed' in statuses(reports), 'a failure')
    response = probe.call(Trigger, '/identification_node/identify', Trigger.Request())
    assert not response.success and 'failed' in response.message
    assert not (tmp_path / 'out').exists()

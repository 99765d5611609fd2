# SPDX-License-Identifier: Apache-2.0
"""The simulator node over DDS: states, commands, controller, wrenches, services."""

import signal

from arms import elastic_joint_arm, flexible_arm, rigid_arm
from diagnostic_msgs.msg import DiagnosticStatus
import flexdyn_ros as fd
from geometry_msgs.msg import PoseArray, WrenchStamped
from node_processes import key_values, trajectory
import numpy as np
import pytest
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulator_cases import FREE_RUNNING, NODE, seconds
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger

pytestmark = pytest.mark.ros


def wait_for_time(probe, states, time):
    """Return the first state at or after a simulated time [s]."""
    return probe.wait_for(
        lambda: next((s for s in states if seconds(s.header.stamp) >= time - 1e-9), None),
        f'simulated time {time}',
    )


def at_level(statuses, level):
    """Return the first message of diagnostics of a level, or None."""
    return next((each for each in statuses if each.status[0].level == level), None)


def test_states_follow_the_library_simulation(probe, start):
    states = probe.listen(JointState, 'joint_states', 1000)
    modes = probe.listen(JointState, f'/{NODE}/modal_states', 1000)
    start(NODE, {
        **FREE_RUNNING,
        'robot_description': flexible_arm(),
        'step': 0.001,
        'initial_positions': [0.1, -0.2],
        'start_paused': True,
    })
    probe.wait_for(lambda: states and modes, 'first state')
    probe.call(SetBool, f'/{NODE}/pause', SetBool.Request(data=False))
    state = wait_for_time(probe, states, 0.2)
    when = seconds(state.header.stamp)
    mode = probe.wait_for(
        lambda: next((m for m in modes if m.header.stamp == state.header.stamp), None), 'modes'
    )
    dyn = fd.Dynamics(fd.load_robot(flexible_arm()))
    q0 = np.array([0.1, -0.2, 0.0, 0.0])
    motion = fd.simulate(dyn, q0, 0 * q0, None, when, 0.0005)
    assert tuple(state.name) == dyn.robot.joint_names
    assert tuple(mode.name) == dyn.robot.mode_names
    found = [*state.position, *mode.position]
    assert np.allclose(found, motion.q[-1], rtol=0, atol=1e-6)
    assert np.allclose([*state.velocity, *mode.velocity], motion.qd[-1], rtol=0, atol=1e-4)


def test_gravity_torque_as_command_holds_the_arm_and_a_bad_command_is_ignored(probe, start):
    urdf = rigid_arm()
    dyn = fd.Dynamics(fd.load_robot(urdf))
    torque = dyn.gravity_vector([0.4, -0.3])
    states = probe.listen(JointState, 'joint_states', 1000)
    statuses = probe.statuses()
    start(NODE, {
        **FREE_RUNNING, 'robot_description': urdf, 'lockstep': True,
        'initial_positions': [0.4, -0.3],
    })
    command = Float64MultiArray(data=list(torque))
    bad = [Float64MultiArray(data=[1.0]), Float64MultiArray(data=[float('nan'), 0.0])]
    turn = []

    def send():
        turn.append(1)
        probe.publish(f'/{NODE}/effort_commands', [command, *bad][len(turn) % 3])

    probe.wait_for(
        lambda: states and seconds(states[-1].header.stamp) >= 0.3, 'simulated time', send
    )
    assert np.allclose(states[-1].position, [0.4, -0.3], atol=1e-9)
    probe.wait_for(
        lambda: statuses and int(key_values(statuses[-1])['rejected_inputs']) > 0, 'rejections',
        send,
    )


def test_the_joint_controller_follows_its_reference(probe, start):
    states = probe.listen(JointState, 'joint_states', 1000)
    start(NODE, {
        **FREE_RUNNING, 'robot_description': rigid_arm(), 'gravity': [0.0, 0.0, 0.0],
        'pd.kp': 400, 'pd.kd': [60, 20],
    })
    reference = trajectory(('elbow', 'shoulder'), (0.0, (0.2, -0.1), (), ()))
    probe.wait_for(
        lambda: states and np.allclose(states[-1].position, [-0.1, 0.2], atol=1e-3),
        'reference reached',
        lambda: probe.publish(f'/{NODE}/pd_reference', reference),
    )


def test_an_elastic_joint_shows_its_link_side_and_its_motor_side(probe, start):
    states = probe.listen(JointState, 'joint_states', 1000)
    start(NODE, {
        **FREE_RUNNING, 'robot_description': elastic_joint_arm(), 'initial_deflection': 'static',
        'start_paused': True,
    })
    state = probe.wait_for(lambda: states and states[-1], 'state')
    assert list(state.name) == ['shoulder', 'elbow', 'shoulder_motor']
    link, _, motor = state.position
    dyn = fd.Dynamics(fd.load_robot(elastic_joint_arm()))
    held = dyn.gravity_vector([motor, 0.0, link - motor])[0]
    assert motor == 0.0
    assert link - motor == pytest.approx(-held / 500.0, rel=1e-6)
    assert state.effort[0] == pytest.approx(held, rel=1e-6)


def test_tip_poses_are_those_of_the_bent_arm_in_the_root_frame(probe, start):
    urdf = flexible_arm()
    states = probe.listen(JointState, 'joint_states', 1000)
    modes = probe.listen(JointState, f'/{NODE}/modal_states', 1000)
    poses = probe.listen(PoseArray, f'/{NODE}/tip_poses', 1000)
    start(NODE, {
        **FREE_RUNNING, 'robot_description': urdf, 'initial_deflection': 'static',
        'initial_positions': [0.3, 0.5], 'tips': ['fore'], 'frame_prefix': 'left_',
        'start_paused': True,
    })
    probe.wait_for(lambda: states and modes and poses, 'state')
    dyn = fd.Dynamics(fd.load_robot(urdf))
    pose = dyn.frame_pose([*states[-1].position, *modes[-1].position], 'fore')
    straight = dyn.frame_pose([*states[-1].position, 0.0, 0.0], 'fore')
    found = poses[-1].poses[0].position
    assert poses[-1].header.frame_id == 'left_base'
    assert np.allclose([found.x, found.y, found.z], pose[:3, 3], atol=1e-12)
    assert np.linalg.norm(pose[:3, 3] - straight[:3, 3]) > 1e-3


def test_an_extension_file_makes_a_described_arm_flexible(probe, start, tmp_path):
    flexible = flexible_arm()
    first, last = flexible.index('<flexdyn'), flexible.index('</robot>')
    extension = tmp_path / 'beam.xml'
    extension.write_text(flexible[first:last])
    modes = probe.listen(JointState, f'/{NODE}/modal_states', 1000)
    latched = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
    start(NODE, {'extension_file': str(extension), 'start_paused': True})
    plain = String(data=flexible[:first] + flexible[last:])
    probe.publish('robot_description', plain, latched)
    probe.wait_for(lambda: modes, 'modal states')
    assert list(modes[0].name) == ['upper/bending_z1', 'upper/bending_z2']


def test_a_wrench_acts_on_the_frame_it_names(probe, start):
    states = probe.listen(JointState, 'joint_states', 1000)
    start(NODE, {
        **FREE_RUNNING, 'robot_description': rigid_arm(), 'gravity': [0.0, 0.0, 0.0],
        'lockstep': True,
    })
    probe.wait_for(lambda: states, 'state')
    wrench = WrenchStamped()
    wrench.header.frame_id = 'fore'
    wrench.wrench.force.z = 2.0
    topic = f'/{NODE}/wrench'
    probe.wait_for(lambda: probe.node.count_subscribers(topic), 'wrench topic')
    probe.publish(topic, wrench)
    moved = probe.wait_for(
        lambda: states and abs(states[-1].velocity[0]) > 0.01 and states[-1],
        'motion',
        lambda: probe.publish(f'/{NODE}/effort_commands', Float64MultiArray(data=[0.0, 0.0])),
    )
    # A force along z at the end of the upper link turns the shoulder about -y.
    assert moved.velocity[0] < 0.0


def test_pause_stops_the_clock_and_reset_returns_to_the_start(probe, start):
    states = probe.listen(JointState, 'joint_states', 1000)
    clock = probe.listen(Clock, '/clock', 1000)
    start(NODE, {
        **FREE_RUNNING, 'robot_description': rigid_arm(), 'initial_positions': [0.1, 0.2],
    })
    wait_for_time(probe, states, 0.1)
    probe.wait_for(lambda: clock, 'clock')
    assert probe.call(SetBool, f'/{NODE}/pause', SetBool.Request(data=True)).success
    # States on their way may still arrive; then the same one comes again and again.
    probe.wait_for(
        lambda: len({seconds(s.header.stamp) for s in states[-5:]}) == 1, 'time standing still'
    )
    stopped = states[-1].header.stamp
    assert not np.allclose(states[-1].position, [0.1, 0.2])
    assert probe.call(Trigger, f'/{NODE}/reset', Trigger.Request()).success
    probe.wait_for(lambda: np.allclose(states[-1].position, [0.1, 0.2]), 'initial state')
    assert np.allclose(states[-1].velocity, 0.0)
    assert seconds(states[-1].header.stamp) >= seconds(stopped)


def test_real_time_is_kept_and_told(probe, start):
    statuses = probe.statuses()
    start(NODE, {
        'robot_description': rigid_arm(), 'publish_rate': 50.0, 'step': 0.02,
        'gravity': [0.0, 0.0, 0.0],
    })
    probe.wait_for(
        lambda: statuses
        and abs(float(key_values(statuses[-1]).get('real_time_factor', 0)) - 1.0) < 0.05,
        'real-time factor of one',
    )


def test_a_simulation_that_falls_behind_warns_and_keeps_its_own_time(probe, start):
    """Stamps a cycle apart, at any pace of real time; the log names the slow activity."""
    states, statuses = probe.listen(JointState, 'joint_states', 1000), probe.statuses()
    start(NODE, {
        'robot_description': rigid_arm(), 'publish_rate': 50.0, 'step': 1e-4,
        'backend': 'reference', 'initial_positions': [0.5, -0.3],
    })
    warned = probe.wait_for(
        lambda: at_level(statuses, DiagnosticStatus.WARN), 'warning')
    message = warned.status[0].message
    assert '200 rk4 steps of 0.1 ms a cycle in Python' in message
    assert 'of real time' in message and 'longer step' in message
    probe.wait_for(lambda: len(states) > 8, 'states')
    assert float(key_values(warned)['real_time_factor']) < 0.9
    times = np.array([s.header.stamp.sec + 1e-9 * s.header.stamp.nanosec for s in states])
    assert np.diff(times)[1:] == pytest.approx(0.02, abs=1e-6)
    q, qd = (np.array([getattr(s, name) for s in states]) for name in ('position', 'velocity'))
    rate = (q[3:] - q[1:-2]) / (times[3:] - times[1:-2])[:, np.newaxis]
    assert np.abs(rate - qd[2:-1]).max() < 0.02 * np.abs(qd).max()


def test_a_state_that_is_not_plausible_is_not_published_until_a_reset(probe, start):
    """The node stays, reports the coordinate and the remedy, and a reset starts it again."""
    states, statuses = probe.listen(JointState, 'joint_states', 1000), probe.statuses()
    node = start(NODE, {
        **FREE_RUNNING, 'robot_description': rigid_arm(), 'initial_positions': [0.1, 0.2],
    })
    wait_for_time(probe, states, 0.05)
    failed = probe.wait_for(
        lambda: at_level(statuses, DiagnosticStatus.ERROR), 'error',
        lambda: probe.publish(f'/{NODE}/effort_commands', Float64MultiArray(data=[1e9, 0.0])),
    )
    assert '~/reset' in failed.status[0].message and 'diverged at' in failed.status[0].message
    assert '~/reset' in node.log
    assert all(np.abs([*s.position, *s.velocity]).max() <= 1e6 for s in states)
    count = len(states)
    assert probe.call(Trigger, f'/{NODE}/reset', Trigger.Request()).success
    probe.wait_for(lambda: len(states) > count + 5, 'states')
    assert np.abs(states[-1].position).max() < 100.0


def test_on_the_clock_of_another_simulator_time_passes_with_its_ticks(probe, start):
    states = probe.listen(JointState, 'joint_states', 1000)
    start(NODE, {'robot_description': rigid_arm(), 'publish_rate': 100.0, 'use_sim_time': True})
    ticks = []

    def tick():
        # Ten states fall between two ticks.
        ticks.append(1000.0 + 0.1 * len(ticks))
        message = Clock()
        message.clock.sec = int(ticks[-1])
        message.clock.nanosec = round(ticks[-1] % 1.0 * 1e9)
        probe.publish('/clock', message)

    def moving():
        return sorted({s.header.stamp.sec + 1e-9 * s.header.stamp.nanosec for s in states})[2:]

    probe.wait_for(lambda: len(moving()) > 30, 'states', tick)
    stamps = np.array(moving())
    assert stamps[0] >= 1000.0 - 1e-6
    assert stamps[-1] <= ticks[-1] + 1e-6
    whole = np.diff(stamps) / 0.01
    assert np.allclose(whole, np.round(whole), atol=1e-4)
    assert np.median(whole) == pytest.approx(1.0)


def test_a_massless_arm_is_refused_by_name(probe, start):
    urdf = rigid_arm().replace('mass value="1"', 'mass value="0"')
    urdf = urdf.replace('ixx="0.01" iyy="0.05" izz="0.05"', 'ixx="0" iyy="0" izz="0"')
    node = start(NODE, {'robot_description': urdf})
    probe.wait_for(lambda: 'elbow' in node.log and 'ERROR' in node.log, 'error')
    assert 'Traceback' not in node.log


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_running_simulation_with_exit_code_zero(probe, start, number):
    states = probe.listen(JointState, 'joint_states', 1000)
    node = start(NODE, {**FREE_RUNNING, 'robot_description': rigid_arm()})
    wait_for_time(probe, states, 0.1)
    assert node.stop(number) == 0
    assert 'Traceback' not in node.log

# SPDX-License-Identifier: Apache-2.0
"""
An arm on a satellite, over DDS: its floating joint travels in multi_dof_joint_states.

The simulator moves it. The inverse dynamics answers each of its states with the torques of a
desired joint motion, the satellite being free to recoil.
"""

import math

from arms import flexible_arm, moving_arm, rigid_arm
from diagnostic_msgs.msg import DiagnosticArray
import flexdyn_ros as fd
from geometry_msgs.msg import Transform, Twist, Vector3
from node_processes import joint_state, trajectory
import numpy as np
import pytest
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Float64MultiArray
from visualization_msgs.msg import MarkerArray

pytestmark = pytest.mark.ros

NAMES = ('shoulder', 'elbow')
RATE = 100.0  # [Hz]
DURATION = 0.5  # [s]
SWING = np.array([0.6, -0.8])  # [rad]
SIMULATOR = {
    'publish_clock': True, 'lockstep': True, 'real_time_factor': 0.0, 'publish_rate': RATE,
    'step': 0.002,
}
INVERSE = {
    'torque_model': 'flexible_hybrid', 'compute_on': 'reference', 'reference_timeout': 0.0,
    'timeout': 30.0, 'use_sim_time': True, 'limit_torques': False, 'modes.step': 0.002,
}


def desired(time):
    """Return positions, velocities and accelerations of a swing from rest to rest."""
    s, w = np.clip(time / DURATION, 0.0, 1.0), 2 * math.pi / DURATION
    return (
        SWING * (s - math.sin(2 * math.pi * s) / (2 * math.pi)),
        SWING * (1 - math.cos(w * time)) / DURATION,
        SWING * math.sin(w * time) * w / DURATION,
    )


def momentum(dyn, state, body, modes):
    """Return momentum and angular momentum in the satellite's axes, (6,), from messages."""
    place, turn = body.transforms[0].translation, body.transforms[0].rotation
    moving = body.twist[0]
    q = [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w]
    qd = [getattr(part, axis) for part in (moving.linear, moving.angular) for axis in 'xyz']
    # The rows of the mass matrix for the floating joint.
    mass = dyn.mass_matrix([*q, *state.position, *modes.position])[:6]
    return mass @ [*qd, *state.velocity, *modes.velocity]


@pytest.mark.parametrize('arm', [
    pytest.param(rigid_arm(), marks=pytest.mark.slow, id='rigid'),
    pytest.param(flexible_arm(), id='flexible'),
])
def test_the_joints_of_a_free_floating_arm_follow_the_torque_of_their_motion(probe, start, arm):
    description = moving_arm(arm)
    fresh = probe.listen(JointState, 'joint_states', 1000)
    bodies = probe.listen(MultiDOFJointState, 'multi_dof_joint_states', 1000)
    modes = probe.listen(JointState, '/forward_dynamics_node/modal_states', 1000)
    simulator = start('forward_dynamics_node', {**SIMULATOR, 'robot_description': description})
    inverse = start(
        'inverse_dynamics_node', {**INVERSE, 'robot_description': description},
        ('-r', '~/joint_torques:=/forward_dynamics_node/joint_efforts'))
    states = {}

    def answer():
        for state in fresh:
            time = seconds(state)
            message = trajectory(NAMES, (0.0, *desired(time + 0.5 / RATE)))
            message.header.stamp = state.header.stamp
            probe.publish('/inverse_dynamics_node/reference', message)
            states[time] = state
        fresh.clear()
        return max(states, default=0.0) >= DURATION - 1e-9

    probe.wait_for(answer, 'the end of the swing')
    # There is no feedback: the remaining error is that of a torque held over a period.
    errors = [np.abs(np.array(s.position) - desired(t)[0]).max() for t, s in states.items()]
    assert max(errors) < 0.02 * np.abs(SWING).max()
    assert 'No force acts on body/tx' in inverse.log
    assert 'Traceback' not in simulator.log + inverse.log
    # The satellite recoils, and the momentum stays zero.
    by_time = [{seconds(message): message for message in heard} for heard in (bodies, modes)]
    dyn = fd.Dynamics(fd.load_robot(description), backend='reference')
    middle = sorted(set(states) & set(by_time[0]) & set(by_time[1]))[::10]
    assert len(middle) >= 4
    for time in middle:
        parts = (states[time], by_time[0][time], by_time[1][time])
        assert np.allclose(momentum(dyn, *parts), 0.0, atol=1e-6)
    assert max(abs(body.twist[0].angular.y) for body in bodies) > 0.1


def seconds(message):
    """Return the stamp of a message [s]."""
    return round(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec, 6)


def satellite(position=0.0, twist=True):
    """Return a message about the satellite."""
    message = MultiDOFJointState(joint_names=['body'], transforms=[Transform()])
    message.transforms[0].translation.x = position
    if twist:
        message.twist = [Twist(angular=Vector3(y=0.5))]
    return message


def test_the_torque_counts_the_motion_of_the_base_and_needs_it(probe, start):
    description = moving_arm(rigid_arm())
    commands = probe.listen(Float64MultiArray, '/inverse_dynamics_node/commands')
    diagnostics = probe.listen(DiagnosticArray, '/diagnostics')
    start('inverse_dynamics_node', {
        'robot_description': description, 'timeout': 30.0, 'base_acceleration': 'zero'})
    arm = joint_state(NAMES, (0.2, 0.3), (0.4, -0.5))

    def send(message):
        probe.publish('multi_dof_joint_states', message)
        probe.publish('joint_states', arm)

    probe.wait_for(
        lambda: any('body: never received' in d.status[0].message for d in diagnostics),
        'the missing base', lambda: probe.publish('joint_states', arm))
    assert not commands
    dyn = fd.Dynamics(fd.load_robot(description))
    q = dyn.robot.neutral_configuration()
    q[0], q[7:] = 1.0, (0.2, 0.3)
    torque = dyn.bias_vector(q, [0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.4, -0.5])[6:]
    probe.wait_for(
        lambda: commands and np.allclose(commands[-1].data, torque, rtol=1e-9),
        'torque', lambda: send(satellite(1.0)))
    probe.wait_for(
        lambda: any('body: twist is missing' in d.status[0].message for d in diagnostics),
        'the missing twist', lambda: send(satellite(1.0, twist=False)))
    probe.wait_for(
        lambda: any('body: transform is' in d.status[0].message for d in diagnostics),
        'the wrong transform', lambda: send(satellite(math.nan)))


def test_markers_of_a_floating_arm_move_with_its_base(probe, start):
    markers = probe.listen(MarkerArray, '/deflection_markers_node/markers')
    start('deflection_markers_node', {
        'robot_description': moving_arm(flexible_arm()), 'rate': 20.0, 'timeout': 30.0})
    arm = joint_state(NAMES, (0.0, 0.0), (0.0, 0.0))

    def send():
        probe.publish('multi_dof_joint_states', satellite(7.0))
        probe.publish('joint_states', arm)

    probe.wait_for(lambda: markers, 'markers', send)
    line = next(m for m in markers[-1].markers if m.ns == 'centre_line')
    assert line.points[0].x == pytest.approx(7.0)

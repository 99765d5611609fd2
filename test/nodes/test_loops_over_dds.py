# SPDX-License-Identifier: Apache-2.0
"""Mechanisms with loops in all nodes, over DDS: the motors alone are driven and known."""

from diagnostic_msgs.msg import DiagnosticStatus
import flexdyn_ros as fd
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from mechanisms import described, dynamics, four_bar_motion
from node_processes import joint_state, key_values, trajectory
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from visualization_msgs.msg import MarkerArray

pytestmark = pytest.mark.ros

SIMULATOR, TORQUES = 'forward_dynamics_node', 'inverse_dynamics_node'
MARKERS = 'deflection_markers_node'
EFFORTS = f'/{SIMULATOR}/joint_efforts'
MOTORS = ('motor1', 'motor2', 'motor3')
LOCKSTEP = {
    'publish_rate': 100.0, 'publish_clock': True, 'lockstep': True, 'real_time_factor': 0.0,
    'step': 0.002,
}


def seconds(stamp):
    """Return a time stamp [s]."""
    return stamp.sec + 1e-9 * stamp.nanosec


@pytest.mark.parametrize(('name', 'torque'), [
    ('four_bar', {'crank': 1.5}), ('delta', dict(zip(MOTORS, (0.5, -1.0, -2.0)))),
])
def test_the_simulator_keeps_loops_closed_under_torques_of_the_motors(probe, start, name, torque):
    text = described(name)
    states = probe.listen(JointState, '/joint_states', 1000)
    modes = probe.listen(JointState, f'/{SIMULATOR}/modal_states', 1000)
    start(SIMULATOR, {**LOCKSTEP, 'robot_description': text, 'initial_deflection': 'static'})
    dyn = dynamics(text)
    seen, bent = {}, {}

    def answer():
        bent.update((seconds(message.header.stamp), message) for message in modes)
        for state in states:
            time = seconds(state.header.stamp)
            seen[time] = state
            if time < 0.195:
                answered = JointState(name=list(torque), effort=list(torque.values()))
                answered.header.stamp = state.header.stamp
                probe.publish(EFFORTS, answered)
        states.clear()
        # Modes come on a topic of their own, at their own time.
        whole = bent.keys() >= seen.keys() or not dyn.robot.n_modes
        return whole and max(seen, default=0.0) > 0.195

    probe.wait_for(answer, 'a fifth of a second')
    configurations = {
        time: [*state.position, *(bent[time].position if dyn.robot.n_modes else ())]
        for time, state in seen.items()
    }
    assert len(configurations) == 21
    for time, q in configurations.items():
        assert tuple(seen[time].name) == dyn.robot.joint_names
        assert np.abs(dyn.loop_gaps(q)).max() < 1e-8
    times = sorted(configurations)
    tau = np.zeros(dyn.robot.nv)
    tau[[dyn.robot.joint_names.index(joint) for joint in torque]] = list(torque.values())
    motion = fd.simulate(dyn, configurations[times[0]], np.zeros(dyn.robot.nv), tau, 0.2, 1e-3)
    np.testing.assert_allclose(configurations[times[-1]], motion.q[-1], atol=1e-5)
    assert np.abs(np.subtract(configurations[times[-1]], configurations[times[0]])).max() > 0.05


def test_torques_of_a_four_bar_whose_crank_alone_is_measured(probe, start):
    text = described('four_bar')
    node = start(TORQUES, {'robot_description': text, 'joints': ['rocker', 'crank']})
    commands = probe.listen(Float64MultiArray, f'/{TORQUES}/commands')
    statuses = probe.statuses()
    dyn = dynamics(text)
    messages = [joint_state(('crank',), (0.5,), (2.0,))]
    references = []

    def send():
        for message in messages:
            probe.publish('joint_states', message)
        for message in references:
            probe.publish(f'/{TORQUES}/reference', message)

    def wait(motion, what):
        torque = dyn.inverse_dynamics(*motion)[[2, 0]]
        assert torque[0] == 0.0
        probe.wait_for(
            lambda: commands and np.allclose(commands[-1].data, torque, rtol=1e-9, atol=1e-9),
            f'{what}: {torque}, last {commands[-1:]}', send,
        )

    wait(four_bar_motion(dyn, 0.5, 2.0, 0.0), 'measured motion')
    assert 'joint_states may omit coupler, rocker' in node.log
    references.append(trajectory(('crank',), (0.0, (0.7,), (1.0,), (4.0,))))
    wait(four_bar_motion(dyn, 0.7, 1.0, 4.0), 'desired motion')
    other, still, _ = four_bar_motion(dyn, 0.5, 0.0, 0.0, (-2.0, -2.5))
    messages[0] = joint_state(dyn.robot.joint_names, other, still)
    references[0] = trajectory(('crank',), (0.0, (0.5,), (1.0,), (4.0,)))
    wait(four_bar_motion(dyn, 0.5, 1.0, 4.0, other[1:]), 'the branch that is measured')
    references[0] = trajectory(('rocker',), (0.0, (0.5,), (1.0,), (4.0,)))
    probe.wait_for(
        lambda: any('name the actuated joints' in s.status[0].message for s in statuses),
        'refusal', send,
    )


def test_loops_that_cannot_close_stop_the_torque_and_are_named(probe, start):
    text = described('four_bar').replace('joints="crank"', 'joints="rocker"')
    node = start(TORQUES, {'robot_description': text, 'torque_model': 'gravity'})
    commands = probe.listen(Float64MultiArray, f'/{TORQUES}/commands')
    statuses = probe.statuses()
    out_of_reach = joint_state(('rocker',), (2.5,), ())
    probe.wait_for(
        lambda: any(
            s.status[0].level == DiagnosticStatus.ERROR
            and 'no torque: Loop "pin" does not close' in s.status[0].message for s in statuses
        ),
        'diagnostic', lambda: probe.publish('joint_states', out_of_reach),
    )
    assert 'no torque: Loop "pin" does not close' in node.log
    assert not commands
    within = joint_state(('rocker',), (0.1,), ())
    probe.wait_for(lambda: commands, 'torque', lambda: probe.publish('joint_states', within))


DURATION, RATE = 0.6, LOCKSTEP['publish_rate']


def desired(time):
    """Return position, velocity, acceleration of a half turn of the crank (quintic in time)."""
    s = min(time / DURATION, 1.0)
    return (
        np.pi * (10 * s**3 - 15 * s**4 + 6 * s**5),
        np.pi * (30 * s**2 - 60 * s**3 + 30 * s**4) / DURATION,
        np.pi * (60 * s - 180 * s**2 + 120 * s**3) / DURATION**2,
    )


def tracking_error(probe, start, with_torque):
    """Return the root mean square error of the crank over one half turn [rad]."""
    text = described('four_bar')
    states = probe.listen(JointState, '/all_states', 1000)
    processes = [start(SIMULATOR, {
        **LOCKSTEP, 'robot_description': text, 'initial_positions': [0.0], 'pd.kp': [40.0],
        'pd.kd': [4.0], 'pd.lockstep': True,
    }, ('-r', 'joint_states:=all_states'))]
    if with_torque:
        processes.append(start(TORQUES, {
            'robot_description': text, 'compute_on': 'reference', 'reference_timeout': 0.0,
            'timeout': 30.0, 'use_sim_time': True,
        }, ('-r', f'~/joint_torques:={EFFORTS}')))
    errors = {}

    def answer():
        for state in states:
            time = seconds(state.header.stamp)
            # The command is held until the next state: that of the middle is right.
            point = (0.0, *([value] for value in desired(time + 0.5 / RATE)))
            message = trajectory(('crank',), point)
            message.header.stamp = state.header.stamp
            probe.publish(f'/{SIMULATOR}/pd_reference', message)
            if with_torque:
                encoder = joint_state(('crank',), state.position[:1], state.velocity[:1])
                encoder.header.stamp = state.header.stamp
                probe.publish('/joint_states', encoder)
                probe.publish(f'/{TORQUES}/reference', message)
            else:
                probe.publish(EFFORTS, JointState(
                    header=state.header, name=['crank'], effort=[0.0]))
            errors[time] = state.position[0] - desired(time)[0]
        states.clear()
        return max(errors, default=0.0) >= DURATION

    probe.wait_for(answer, 'half a turn', limit=120.0)
    for process in processes:
        process.stop()
    assert len(errors) == round(DURATION * RATE) + 1
    return float(np.sqrt(np.mean(np.square(list(errors.values())))))


@pytest.mark.slow
def test_torques_from_the_crank_alone_reduce_the_tracking_error(probe, start):
    alone, helped = (tracking_error(probe, start, on) for on in (False, True))
    assert helped < alone / 50.0, (alone, helped)


def test_a_bent_arm_of_a_delta_is_drawn_where_motors_and_modes_have_it(probe, start):
    text = described('delta')
    start(MARKERS, {'robot_description': text})
    markers = probe.listen(MarkerArray, f'/{MARKERS}/markers')
    statuses = probe.statuses()
    dyn = dynamics(text)
    places = [dyn.robot.joint_names.index(name) for name in MOTORS]
    angles = (0.1, -0.05, 0.2)
    state = joint_state(MOTORS, angles, (0.0, 0.0, 0.0))
    bent = joint_state(dyn.robot.mode_names, (0.004, -0.02), ())

    def wait(q, source, meanwhile):
        def drawn():
            for array in markers[-1:]:
                (line,) = [m for m in array.markers if m.ns == 'centre_line']
                (rigid,) = [m for m in array.markers if m.ns == 'rigid_links']
                last = line.points[-1]
                tool = dyn.frame_pose(q, 'tool')[:3, 3]
                nearest = min(np.abs([p.x, p.y, p.z] - tool).max() for p in rigid.points)
                knee = dyn.frame_pose(q, 'knee1')[:3, 3]
                return np.allclose([last.x, last.y, last.z], knee, atol=1e-7) and nearest < 1e-6
            return False

        probe.wait_for(drawn, source, meanwhile)
        probe.wait_for(
            lambda: statuses and key_values(statuses[-1])['deflection_source'] == source,
            f'diagnostics {source}', meanwhile,
        )

    forward = FeedForward(dyn, 'flexible_quasi_static')
    given = np.full(15, np.nan)
    given[places] = angles
    forward.torque(JointSample(0.0, given, np.zeros(15), np.zeros(15)))
    wait(
        [*forward.base.rest_positions, *forward.state.delta], 'quasi_static',
        lambda: probe.publish('joint_states', state),
    )

    def both():
        probe.publish('joint_states', state)
        probe.publish('modal_states', bent)

    rest = dyn.robot.neutral_configuration()
    rest[places], rest[15:] = angles, bent.position
    hold = (*MOTORS, *dyn.robot.mode_names)
    wait(dyn.project(rest, np.zeros(17), hold=hold)[0], 'modal_states', both)

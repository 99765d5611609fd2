# SPDX-License-Identifier: Apache-2.0
"""The simulator node in lockstep: which answers count, over DDS."""

from arms import rigid_arm
from builtin_interfaces.msg import Time
import flexdyn_ros as fd
from node_processes import trajectory
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from simulator_cases import FREE_RUNNING, NODE, seconds
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros
NAMES = ('shoulder', 'elbow')


def test_lockstep_waits_for_a_command(probe, start):
    states = probe.listen(JointState, 'joint_states', 1000)
    start(NODE, {**FREE_RUNNING, 'robot_description': rigid_arm(), 'lockstep': True})
    probe.wait_for(lambda: len(states) > 4, 'the first state, again and again')
    assert {seconds(s.header.stamp) for s in states} == {0.0}
    zero = Float64MultiArray(data=[0.0, 0.0])
    probe.wait_for(
        lambda: seconds(states[-1].header.stamp) > 0.03, 'simulated time',
        lambda: probe.publish(f'/{NODE}/effort_commands', zero),
    )


def efforts(names, values, stamp):
    """Return torques with names and a stamp."""
    message = JointState(name=list(names), effort=list(map(float, values)))
    message.header.stamp = stamp
    return message


def test_in_lockstep_torques_count_for_the_state_of_their_stamp_alone(probe, start):
    states = probe.listen(JointState, 'joint_states', 1000)
    node = start(NODE, {
        **FREE_RUNNING, 'robot_description': rigid_arm(), 'lockstep': True, 'step': 0.01,
        'gravity': [0.0, 0.0, 0.0],
    })
    answered = []

    def answer():
        # Every state is answered as often as it comes, and a wrong answer to another goes ahead.
        for state in states:
            stamp = state.header.stamp
            other = Time(sec=stamp.sec + 1, nanosec=stamp.nanosec)
            topic = f'/{NODE}/joint_efforts'
            probe.publish(topic, efforts(('elbow', 'shoulder'), (9.0, 9.0), other))
            torque = (2.0, 1.0) if seconds(stamp) < 0.045 else (0.0, 0.0)
            probe.publish(topic, efforts(('shoulder', 'elbow'), torque, stamp))
            answered.append(state)
        states.clear()
        return answered and seconds(answered[-1].header.stamp) > 0.095

    probe.wait_for(answer, 'a tenth of a second')
    dyn = fd.Dynamics(fd.load_robot(rigid_arm()))
    dyn.set_gravity([0.0, 0.0, 0.0])
    motion = fd.simulate(dyn, [0.0, 0.0], [0.0, 0.0], [2.0, 1.0], 0.05, 0.01)
    motion = fd.simulate(dyn, motion.q[-1], motion.qd[-1], None, 0.05, 0.01)
    last = answered[-1]
    assert seconds(last.header.stamp) == pytest.approx(0.1)
    assert np.allclose(last.position, motion.q[-1], rtol=1e-9)
    assert 'Traceback' not in node.log


def test_in_lockstep_the_references_of_the_controller_are_waited_for_too(probe, start):
    states = probe.listen(JointState, 'joint_states', 1000)
    node = start(NODE, {
        **FREE_RUNNING, 'robot_description': rigid_arm(), 'lockstep': True, 'pd.lockstep': True,
        'pd.kp': 400, 'pd.kd': [60, 20],
    })

    def answer(with_reference):
        for state in states[-1:]:
            stamp = state.header.stamp
            probe.publish(f'/{NODE}/joint_efforts', efforts(('shoulder',), (0.0,), stamp))
            if with_reference:
                reference = trajectory(('shoulder', 'elbow'), (0.0, (0.1, 0.2), (), ()))
                reference.header.stamp = stamp
                probe.publish(f'/{NODE}/pd_reference', reference)

    probe.wait_for(
        lambda: 'waiting for ~/pd_reference with the stamp of the state' in node.log, 'log line',
        lambda: answer(False),
    )
    assert {seconds(s.header.stamp) for s in states} == {0.0}
    probe.wait_for(
        lambda: seconds(states[-1].header.stamp) > 0.03, 'simulated time', lambda: answer(True)
    )


def test_efforts_that_do_not_fit_are_refused_by_name(probe, start):
    node = start(NODE, {'robot_description': rigid_arm(), 'publish_rate': 50.0})
    bad = {
        'unknown joints wrist, expected some of shoulder, '
        'elbow': efforts(('wrist',), (1.0,), Time()),
        'effort must be 2 finite numbers, got [1.0]': efforts(NAMES, (1.0,), Time()),
        'effort must be 2 finite numbers, got [nan, 0.0]': efforts(
            NAMES, (float('nan'), 0.0), Time()),
        'a name comes twice in elbow, elbow': efforts(('elbow',) * 2, (1.0, 2.0), Time()),
    }
    for words, message in bad.items():
        probe.wait_for(
            lambda words=words: words in node.log, words,
            lambda message=message: probe.publish(f'/{NODE}/joint_efforts', message),
        )

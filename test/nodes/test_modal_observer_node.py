# SPDX-License-Identifier: Apache-2.0
"""The node that estimates modal states, from messages of a simulated arm."""

from arms import flexible_arm
import flexdyn_ros as fd
from flexdyn_ros.simulation import TrackingTorque
from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from sensor_msgs.msg import Imu, JointState

pytestmark = pytest.mark.ros

RATE = 500.0
SENSORS = """<flexdyn version="1.0">
<sensor name="m1" measures="motor_position" frame="shoulder" noise="2e-5"/>
<sensor name="m2" measures="motor_position" frame="elbow" noise="2e-5"/>
<sensor name="gauge" measures="strain" frame="upper" axis="0 0 1" distance="0.02" noise="1e-6"/>
<sensor name="turn" measures="angular_velocity" frame="fore" axis="0 1 0" noise="1e-3"/>
<sensor name="push" measures="force" frame="mount" axis="0 0 2" noise="0.1"/></flexdyn>
<joint name="mount" type="fixed"><parent link="fore"/><child link="tool"/><origin xyz="0.6 0 0"/>
</joint><link name="tool"><inertial><mass value="0.5"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


@pytest.fixture
def observing(active):
    """Return a function that makes an active node in this process, which keeps its estimates."""
    from flexdyn_ros.nodes.modal_observer_node import ModalObserverNode

    def make(text, backend='reference'):
        node = active(ModalObserverNode, robot_description=text, timeout=5.0, backend=backend)
        node.estimates = []
        node.modal_states.publish = node.estimates.append
        return node

    return make


def vibration(dyn, duration=2.4):
    """Return a motion of the arm, held at zero, after its upper link is let go."""
    n, nv = dyn.robot.n_joints, dyn.robot.nv
    rest = np.zeros(n)
    torque, deflection, _ = dyn.quasi_static_torque(rest, rest, rest)
    forward = np.append(torque, np.zeros_like(deflection))
    law = TrackingTorque(
        dyn.robot, [0.0, duration], np.zeros((2, n)), np.zeros((2, n)), np.tile(forward, (2, 1)),
        kp=20000.0, kd=400.0)
    start = np.append(rest, deflection)
    start[n] += 0.002
    return fd.simulate(dyn, start, np.zeros(nv), law, duration, 1.0 / RATE, 'implicit',
                       energy_tolerance=None)


def states(motion, row, names=('elbow', 'shoulder')):
    """Return the message of joint_states at a row."""
    places = [('shoulder', 'elbow').index(name) for name in names]
    message = JointState(name=names, position=motion.q[row, places].tolist(),
                         effort=motion.tau[row, places].tolist())
    message.header.stamp.nanosec = int(motion.t[row] * 1e9)
    message.header.stamp.sec = 10
    return message


def stamped(message, stamp):
    """Return the message with a stamp [s]."""
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(round(stamp * 1e9), 10**9)
    return message


def test_the_estimate_is_the_vibration_of_the_simulated_arm(observing):
    """From positions and efforts of joint_states alone, without noise."""
    text = flexible_arm()
    node = observing(text, 'auto')
    dyn = fd.Dynamics(fd.load_robot(text))
    motion = vibration(dyn)
    for row in range(len(motion.t)):
        node.joint_states.callback(states(motion, row))
    assert len(node.estimates) == len(motion.t)
    late = slice(2 * len(motion.t) // 3, None)
    found = np.array([each.position for each in node.estimates])[late]
    rates = np.array([each.velocity for each in node.estimates])[late]
    assert list(node.estimates[-1].name) == list(dyn.robot.mode_names)
    true = motion.q[late, 2:]
    size = np.ptp(true[:, 0])
    assert size > 5e-4
    assert np.abs(found - true)[:, 0].max() < 0.05 * size
    assert np.abs(rates - motion.qd[late, 2:])[:, 0].max() < 0.1 * np.ptp(motion.qd[late, 2])
    values = node.diagnostic_values()
    assert 0.0 <= values['innovation/shoulder_encoder'] < 1.0
    assert any(name.startswith('mode/') for name in values)


def test_every_sensor_is_needed_and_used(observing):
    """Readings by name, an IMU and a force sensor by their frames; a silent one stops it."""
    text = flexible_arm().replace('</robot>', SENSORS)
    node = observing(text)
    dyn = fd.Dynamics(fd.load_robot(text))
    motion = vibration(dyn, 0.02)
    from flexdyn_ros.modal_observer.sensor_equations import SensorEquations

    read = SensorEquations(dyn, dyn.robot.sensors)(
        motion.q[0], motion.qd[0], dyn.forward_dynamics(motion.q[0], motion.qd[0], motion.tau[0]))
    node.joint_states.callback(states(motion, 0))
    assert not node.estimates
    assert 'gauge: never received' in node.diagnostics._message
    by_name, imu, wrench = node.readings.subscriptions
    by_name.callback(JointState(name=['gauge'], position=[read[2]]))
    message = Imu()
    message.header.frame_id = 'fore'
    message.angular_velocity.y = read[3]
    imu.callback(message)
    push = WrenchStamped()
    push.header.frame_id = 'tool'
    push.wrench.force.z = read[4]
    wrench.callback(push)
    node.joint_states.callback(stamped(states(motion, 0), 10.001))
    assert len(node.estimates) == 1
    assert node.readings.values == pytest.approx(read)


@pytest.mark.parametrize('spoil, why', [
    (lambda m: setattr(m, 'effort', []), 'effort'),
    (lambda m: setattr(m, 'position', [float('nan'), 0.0]), 'elbow'),
    (lambda m: setattr(m, 'name', ['elbow', 'other']), 'shoulder'),
    (lambda m: setattr(m, 'position', [0.0]), 'position of each name'),
])
def test_a_message_that_lacks_something_stops_the_estimate(observing, spoil, why):
    """It starts anew with the next one."""
    text = flexible_arm()
    node, motion = observing(text), vibration(fd.Dynamics(fd.load_robot(text)), 0.02)
    node.joint_states.callback(states(motion, 0))
    wrong = states(motion, 1)
    spoil(wrong)
    node.joint_states.callback(wrong)
    assert len(node.estimates) == 1
    assert why in node.diagnostics._message
    node.joint_states.callback(states(motion, 2))
    assert len(node.estimates) == 2
    assert node.updates == 1


def test_stamps_that_do_not_run_forward_stop_the_estimate(observing):
    """Diagnostics name it: a stamp that runs back, lies in the future or stands still."""
    text = flexible_arm()
    node, motion = observing(text), vibration(fd.Dynamics(fd.load_robot(text)), 0.02)

    def send(stamp):
        node.joint_states.callback(stamped(states(motion, 0), stamp))
        return len(node.estimates)

    assert send(10.0) == 1 and send(10.002) == 2
    assert send(9.0) == 2
    assert 'joint_states: the stamp runs back by 1 s' in node.diagnostics._message
    assert send(10.004) == 3 and node.updates == 1
    assert send(2e9) == 3
    assert 's in the future' in node.diagnostics._message
    assert send(10.006) == 4
    # More of them in a row: the clock was set anew.
    assert [send(5.0 + 0.002 * k) for k in range(8)][4:] == [4, 5, 6, 7]
    # Messages with one stamp carry no news.
    node._received -= 60.0
    assert send(5.014) == 7
    node._watch()
    assert 'no new stamp has come' in node.diagnostics._message
    assert send(5.014) == 7 and send(5.016) == 8


def test_messages_at_a_rate_of_their_own_are_followed(observing):
    """Three for five periods of the observer: no time is lost to rounding."""
    text = flexible_arm()
    node, dyn = observing(text, 'auto'), fd.Dynamics(fd.load_robot(text))
    motion, sent = vibration(dyn, 1.2), []
    for k in range(int(1.2 * RATE * 0.6)):
        t = k / (0.6 * RATE)
        message = states(motion, 0)
        message.position = [np.interp(t, motion.t, motion.q[:, n]) for n in (1, 0)]
        message.effort = [np.interp(t, motion.t, motion.tau[:, n]) for n in (1, 0)]
        node.joint_states.callback(stamped(message, 10.0 + t))
        sent.append(t)
    assert len(node.estimates) == len(sent)
    late = np.array(sent) > 0.8
    found = np.array([each.position[0] for each in node.estimates])[late]
    true = np.interp(np.array(sent)[late], motion.t, motion.q[:, 2])
    assert np.abs(found - true).max() < 0.2 * np.ptp(true)


def test_readings_without_a_position_of_each_name_are_dropped(observing):
    """And implausible encoders are no readings."""
    text = flexible_arm().replace('</robot>', SENSORS)
    node = observing(text)
    by_name = node.readings.subscriptions[0]
    for names, values in ((['gauge', 'turn'], [1.0]), (['gauge', 'gauge'], [1.0, 2.0])):
        by_name.callback(JointState(name=names, position=values))
        assert np.isnan(node.readings.values).all()
    for position, why in (([1e9, 0.0], 'elbow: position 1e+09 is implausible'),
                          ([0.0, 0.0, 0.0], 'different names')):
        names = ['elbow', 'shoulder', 'elbow'][:len(position)]
        node.joint_states.callback(JointState(
            name=names, position=position, effort=[0.0] * len(position)))
        assert why in node.diagnostics._message
    assert not node.estimates

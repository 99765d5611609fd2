# SPDX-License-Identifier: Apache-2.0
"""Wrenches, gravity by an IMU, a prescribed base, and a trajectory controller's state."""

from types import SimpleNamespace

from arms import flexible_arm, moving_arm, rigid_arm
import flexdyn_ros as fd
from flexdyn_ros.nodes.torque.reference_input import ControllerReference
from geometry_msgs.msg import AccelStamped, TransformStamped, WrenchStamped
from inverse_dynamics_cases import NAMES, ROBOT, STATE
from node_processes import trajectory
import numpy as np
import pytest
from sensor_msgs.msg import Imu, MultiDOFJointState

pytestmark = pytest.mark.ros

Q, QD = [0.2, 0.3], [0.4, -0.5]
WITH_TOOL = rigid_arm().replace('</robot>', """
  <joint name="flange" type="fixed"><parent link="fore"/><child link="tool"/>
    <origin xyz="0.6 0 0.1" rpy="0 0.7 0.3"/></joint><link name="tool"/></robot>""")


def wrench(frame, *six):
    """Return a WrenchStamped."""
    message = WrenchStamped()
    message.header.frame_id = frame
    for part, values in ((message.wrench.force, six[:3]), (message.wrench.torque, six[3:])):
        part.x, part.y, part.z = map(float, values)
    return message


def push(made, message):
    """Send a wrench, then a state."""
    made.node.inputs.wrenches._subscription.callback(message)
    made.state(STATE)


def under(text, frame, six, q=Q, qd=QD):
    """Return the library's torque under a wrench given in axes of its frame."""
    dyn = fd.Dynamics(fd.load_robot(text), backend='reference')
    turn = dyn.frame_pose(q, frame)[:3, :3]
    six = np.array(six, dtype=float)
    rooted = np.append(turn @ six[:3], turn @ six[3:])
    return dyn.inverse_dynamics(q, qd, np.zeros(len(qd)), {frame: rooted})


SIX = (3.0, -20.0, 11.0, 0.5, 1.5, -0.3)


@pytest.mark.parametrize('frame', ['fore', 'left/fore', 'tool'])
def test_a_wrench_in_axes_of_its_frame_lowers_the_torque(torque_node, frame):
    made = torque_node({
        'robot_description': WITH_TOOL, 'wrench_links': ['fore'], 'frame_prefix': 'left/',
        'change_ramp_time': 0.0})
    made.state(STATE)
    free = made.commands[-1]
    assert free == pytest.approx(under(WITH_TOOL, 'fore', [0.0] * 6))
    push(made, wrench(frame, *SIX))
    expected = under(WITH_TOOL, frame.removeprefix('left/'), SIX)
    assert made.commands[-1] == pytest.approx(expected)
    assert np.abs(expected - free).max() > 1.0
    made.node.inputs.wrenches._wrenches['fore'].received -= 1.0
    made.state(STATE)
    assert made.commands[-1] == pytest.approx(free)
    assert '~/wrench stale, ignored: fore' in made.message


def test_a_frame_of_tf_below_a_link_carries_a_wrench(torque_node):
    tf2 = pytest.importorskip(
        'tf2_msgs.msg', reason='tf2_msgs is not here: `make test` builds it')
    made = torque_node({
        'robot_description': WITH_TOOL, 'wrench_links': ['tool'], 'change_ramp_time': 0.0})
    mounted = TransformStamped(child_frame_id='sensor')
    mounted.header.frame_id = 'tool'
    mounted.transform.translation.z = 0.25
    mounted.transform.rotation.x = mounted.transform.rotation.w = 0.5**0.5
    made.node.inputs.wrenches._topics._on_static(tf2.TFMessage(transforms=[mounted]))
    push(made, wrench('sensor', *SIX))
    text = WITH_TOOL.replace('</robot>', """
      <joint name="mount" type="fixed"><parent link="tool"/><child link="sensor"/>
        <origin xyz="0 0 0.25" rpy="1.5707963267948966 0 0"/></joint><link name="sensor"/>
      </robot>""")
    assert made.commands[-1] == pytest.approx(under(text, 'sensor', SIX))


def test_wrenches_that_do_not_fit_are_refused_and_counted(torque_node):
    made = torque_node({'robot_description': WITH_TOOL, 'wrench_links': ['fore']})
    for message in (wrench('upper', *SIX), wrench('nowhere', *SIX),
                    wrench('fore', *SIX[:5], float('nan')), wrench('fore', 1e9, *SIX[1:])):
        push(made, message)
    assert made.values()['wrenches_refused'] == 4
    assert made.commands[-1] == pytest.approx(under(WITH_TOOL, 'fore', [0.0] * 6))


def test_a_wrench_bends_a_flexible_arm(torque_node):
    made = torque_node({
        'robot_description': flexible_arm(), 'wrench_links': ['fore'], 'change_ramp_time': 0.0,
        'torque_model': 'flexible_quasi_static', 'compensate.friction': False})
    made.state(STATE)
    before = made.node.feed_forward.state.delta
    push(made, wrench('fore', 0.0, 0.0, -10.0, 0.0, 0.0, 0.0))
    delta = made.node.feed_forward.state.delta
    assert np.abs(delta - before).max() > 1e-3
    found = under(flexible_arm(), 'fore', (0, 0, 0, 0, 0, 0), [*Q, *delta], [*QD, 0.0, 0.0])
    dyn = fd.Dynamics(fd.load_robot(flexible_arm()), backend='reference')
    turn = dyn.frame_pose([*Q, 0.0, 0.0], 'fore')[:3, :3]
    external = dyn.external_force_vector(
        [*Q, *delta], {'fore': np.append(turn @ [0.0, 0.0, -10.0], np.zeros(3))})
    assert (found + external)[2:] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert made.commands[-1] == pytest.approx((found + external)[:2])


def imu(frame='', orientation=None, acceleration=(0.0, 0.0, 0.0)):
    """Return an Imu message."""
    message = Imu()
    message.header.frame_id = frame
    turn = message.orientation
    if orientation is None:
        message.orientation_covariance[0] = -1.0
    else:
        turn.x, turn.y, turn.z, turn.w = orientation
    a = message.linear_acceleration
    a.x, a.y, a.z = map(float, acceleration)
    return message


def test_an_imu_on_the_base_gives_the_direction_of_gravity(torque_node):
    """A base that is pitched by 0.4 rad, by orientation and by the acceleration at rest."""
    text = rigid_arm().replace('</robot>', """
      <joint name="mount" type="fixed"><parent link="base"/><child link="imu"/>
        <origin rpy="0 0 1.5707963267948966"/></joint><link name="imu"/></robot>""")
    s, c = np.sin(0.4), np.cos(0.4)
    dyn = fd.Dynamics(fd.load_robot(text), backend='reference')
    # With R the rotation by 0.4 rad about y from base to world axes: R^T (0, 0, -g).
    dyn.set_gravity([9.81 * s, 0.0, -9.81 * c])
    expected = dyn.inverse_dynamics(Q, QD, np.zeros(2))
    messages = (
        imu('base', (0.0, np.sin(0.2), 0.0, np.cos(0.2))),
        imu('base', None, (-9.81 * s, 0.0, 9.81 * c)),
        # The IMU's x axis is the base's y axis, its y axis the base's -x axis.
        imu('imu', None, (0.0, 9.81 * s, 9.81 * c)),
    )
    for message in messages:
        made = torque_node({'robot_description': text, 'gravity_from_imu': True})
        made.state(STATE)
        assert made.commands == []
        assert 'gravity is unknown' in made.message
        made.node.inputs.gravity._subscription.callback(message)
        made.state(STATE)
        assert made.commands[-1] == pytest.approx(expected)


def test_an_imu_on_a_moving_link_is_refused_and_a_silent_one_warns(torque_node):
    made = torque_node({
        'robot_description': ROBOT, 'gravity_from_imu': True, 'gravity_frame_timeout': 0.1})
    heard = made.node.inputs.gravity._subscription.callback
    heard(imu('fore', None, (0.0, 0.0, 9.81)))
    made.state(STATE)
    assert 'must be a link that fixed joints connect to base' in made.message
    heard(imu('base', None, (0.0, 0.0, 9.81)))
    heard(imu('base', None, (50.0, 0.0, 9.81)))  # the base is shaken
    made.state(STATE)
    assert made.message == 'working'
    made.node.inputs.gravity._received -= 1.0
    made.state(STATE)
    assert 'the last direction of gravity is in force' in made.message
    assert len(made.commands) == 2


def test_a_prescribed_base_is_fed_with_its_acceleration(torque_node):
    text = moving_arm(rigid_arm(), gravity='0 0 -9.81').replace(
        '</flexdyn>', '<base motion="prescribed"/></flexdyn>')
    text = text[:text.index('<joint name="body"')] + text[text.index('</joint>') + 8:]
    text = text.replace('<link name="world"/>', '')
    made = torque_node({'robot_description': text})
    base = MultiDOFJointState(joint_names=['base_motion'])
    from geometry_msgs.msg import Transform, Twist

    base.transforms, base.twist = [Transform()], [Twist()]
    base.twist[0].linear.x, base.twist[0].angular.y = 0.3, 0.2
    made.node.joint_states[0].callback(base)
    made.state(STATE)
    q = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *Q]
    qd = np.array([0.3, 0.0, 0.0, 0.0, 0.2, 0.0, *QD])
    dyn = fd.Dynamics(fd.load_robot(text), backend='reference')
    assert made.commands[-1] == pytest.approx(dyn.inverse_dynamics(q, qd, np.zeros(8))[6:])
    message = AccelStamped()
    message.accel.linear.x, message.accel.linear.z, message.accel.angular.y = 1.0, 2.0, -0.7
    made.node.inputs.base._subscription.callback(message)
    made.state(STATE)
    # dv/dt = a - w x v in axes of the base: w x v = (0, 0.2, 0) x (0.3, 0, 0) = (0, 0, -0.06).
    qdd = np.array([1.0, 0.0, 2.06, 0.0, -0.7, 0.0, 0.0, 0.0])
    assert made.commands[-1] == pytest.approx(dyn.inverse_dynamics(q, qd, qdd)[6:])
    made.node.inputs.base.watchdog.feed(-10.0)
    made.state(STATE)
    assert '~/base_acceleration stale, policy gravity' in made.message


def test_the_state_of_a_trajectory_controller_is_a_reference():
    point = trajectory(NAMES, (0, (0.1, 0.2), (0.3, 0.4), (0.5, 0.6))).points[0]
    empty = SimpleNamespace(positions=[])
    for field in ('reference', 'desired'):
        message = SimpleNamespace(header='h', joint_names=NAMES, **{field: point})
        found = ControllerReference.of(message)
        assert (found.header, found.joint_names, found.points) == ('h', NAMES, [point])
    message = SimpleNamespace(header='h', joint_names=NAMES, reference=empty)
    assert ControllerReference.of(message).points == []


def test_without_control_msgs_its_type_is_refused_with_advice(torque_node, monkeypatch):
    from flexdyn_ros.nodes.torque import reference_input

    monkeypatch.setattr(reference_input, 'JointTrajectoryControllerState', None)
    made = torque_node({
        'robot_description': ROBOT, 'reference_type': 'JointTrajectoryControllerState',
    }, activate=False)
    made.node.trigger_configure()
    assert 'needs control_msgs, which is not installed' in made.message

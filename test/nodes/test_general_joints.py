# SPDX-License-Identifier: Apache-2.0
"""A screw and a joint of oblique, offset axes in the nodes, against a chain of single joints."""

from arms import flexible_arm, LINK
import flexdyn_ros as fd
from node_processes import joint_state, trajectory
import numpy as np
import pytest
from rclpy.serialization import serialize_message

pytestmark = pytest.mark.ros

PITCH = 0.07
THROUGH = np.array([0.1, 0.0, 0.3])
NAMES = ('shoulder', 'elbow', 'wrist/swing', 'wrist/stroke')
MODES = ('upper/bending_z1', 'upper/bending_z2')
SCREW = '<axis xyz="2 -1 2"/>'
HAND = LINK.format(name='hand', x=0.2, mass=1, i=0.02)
TURN = '<parent link="{}"/><child link="{}"/><origin xyz="{} {} {}"/><axis xyz="{}"/></joint>'
LIMIT = '<limit lower="-9" upper="9" effort="99" velocity="9"/>'
WRIST = ('<joint name="wrist" type="floating"><parent link="fore"/><child link="hand"/>'
         '<origin xyz="0.4 0 0"/></joint>')
DATA = f"""<joint_dynamics joint="elbow" pitch="{PITCH}"/><multi_axis_joint joint="wrist">
  <axis name="swing" xyz="1 2 -2" through="{' '.join(map(str, THROUGH))}"/>
  <axis name="stroke" xyz="6 2 3" motion="slide"/></multi_axis_joint>"""
CHAIN = np.array([  # shoulder, turn and slide of the elbow, swing, stroke, modes
    [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, PITCH, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0],
    [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]])
"""Coordinates of the chain from those of the arm."""
STATE = np.array([0.3, 0.8, -0.5, 0.1])
RATES = np.array([0.4, -0.6, 0.7, 0.2])


def arm(data=DATA):
    """Return the flexible arm with a screw for an elbow, and a hand on two oblique axes."""
    return _with_elbow(flexible_arm(), SCREW).replace(
        '<flexdyn', HAND + WRIST + '<flexdyn').replace('</flexdyn>', data + '</flexdyn>')


def _with_elbow(text, axis):
    before, elbow = text.split('<joint name="elbow"')
    return before + '<joint name="elbow"' + elbow.replace('<axis xyz="0 1 0"/>', axis)


def chain():
    """Return the dynamics of joints one by one; massless links stand between them."""
    parts = ''.join(f'<link name="{name}"/>' for name in ('nut', 'ring', 'rod'))
    parts += f'<joint name="slide" type="prismatic">{LIMIT}' + TURN.format(
        'nut', 'fore', 0, 0, 0, '2 -1 2')
    parts += '<joint name="swing" type="continuous">' + TURN.format(
        'fore', 'ring', *THROUGH + [0.4, 0.0, 0.0], '1 2 -2')
    parts += f'<joint name="stroke" type="prismatic">{LIMIT}' + TURN.format(
        'ring', 'rod', *-THROUGH, '6 2 3')
    parts += ('<joint name="end" type="fixed"><parent link="rod"/><child link="hand"/></joint>')
    text = _with_elbow(flexible_arm(), SCREW).replace(
        '<parent link="upper"/><child link="fore"/>', '<parent link="upper"/><child link="nut"/>')
    return fd.Dynamics(fd.load_robot(text.replace('<flexdyn', HAND + parts + '<flexdyn')),
                       'reference')


@pytest.fixture(scope='module')
def oracle():
    """Return the dynamics of the chain."""
    made = chain()
    assert made.robot.coordinate_names == (
        'shoulder', 'elbow', 'slide', 'swing', 'stroke', *MODES)
    return made


def with_modes(joints, modes=(0.0, 0.0)):
    """Return coordinates of the chain."""
    return CHAIN @ np.concatenate((joints, modes))


def test_the_torque_is_that_of_the_chain(torque_node, oracle):
    made = torque_node({'robot_description': arm(), 'joints': list(NAMES)})
    made.state(joint_state(NAMES, STATE, RATES))
    torque = CHAIN.T @ oracle.inverse_dynamics(
        with_modes(STATE), with_modes(RATES), np.zeros(oracle.robot.nv))
    assert made.commands[-1] == pytest.approx(torque[:4], rel=1e-11)
    # A reference adds its accelerations.
    wanted = (0.9, 0.5, -1.1, 0.3)
    made.reference(trajectory(NAMES, (0, STATE, RATES, wanted)))
    made.state(joint_state(NAMES, STATE, RATES))
    torque = CHAIN.T @ oracle.inverse_dynamics(
        with_modes(STATE), with_modes(RATES), with_modes(wanted))
    assert made.commands[-1] == pytest.approx(torque[:4], rel=1e-11)


def test_the_simulated_motion_is_that_of_the_chain(active, oracle):
    from flexdyn_ros.nodes.forward_dynamics_node import ForwardDynamicsNode

    node = active(ForwardDynamicsNode, robot_description=arm(), start_paused=True, method='rk4',
                  step=1e-3, publish_rate=100.0, initial_positions=list(STATE))
    node.thread.stop()
    node.paused = False
    states, poses = [], []
    node.output._joint_states.publish = states.append
    node.output._tip_poses.publish = poses.append
    node._heard_cycle()

    def rates(state):
        q, qd = CHAIN @ state[:6], CHAIN @ state[6:]
        mass = CHAIN.T @ oracle.mass_matrix(q) @ CHAIN
        return np.append(state[6:], np.linalg.solve(mass, -CHAIN.T @ oracle.bias_vector(q, qd)))

    state, dt = np.append(STATE, np.zeros(8)), node.simulator.step
    for _ in range(round(node.simulator.time / dt)):
        a = rates(state)
        b = rates(state + 0.5 * dt * a)
        c = rates(state + 0.5 * dt * b)
        state = state + dt / 6.0 * (a + 2.0 * b + 2.0 * c + rates(state + dt * c))
    assert tuple(states[-1].name) == NAMES
    assert np.abs(state[:4] - STATE).max() > 1e-4
    np.testing.assert_allclose(states[-1].position, state[:4], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(states[-1].velocity, state[6:10], rtol=0.0, atol=1e-9)
    tip = oracle.frame_pose(CHAIN @ state[:6], 'hand')[:3, 3]
    place = poses[-1].poses[0].position
    np.testing.assert_allclose([place.x, place.y, place.z], tip, rtol=0.0, atol=1e-11)


def test_transforms_are_those_of_the_chain_and_not_of_a_revolute_joint(active, oracle):
    from flexdyn_ros.nodes.deflection_markers_node import DeflectionMarkersNode

    node = active(DeflectionMarkersNode, robot_description=arm(), tf_prefix='')
    sent = []
    node.markers.publish = lambda message: None
    node.transforms.publish = sent.append
    modes = (0.05, -0.01)
    node.joint_states[1].callback(serialize_message(joint_state(NAMES, STATE, RATES)))
    node.modal_states.callback(joint_state(MODES, modes, (0.0, 0.0)))
    node.timer.callback()
    found = {each.child_frame_id: each for each in sent[-1].transforms}
    assert found.keys() == {'upper', 'fore', 'hand'}
    q = with_modes(STATE, modes)
    for name, each in found.items():
        assert each.header.frame_id == 'base'
        place, turn = each.transform.translation, each.transform.rotation
        pose = oracle.frame_pose(q, name)
        np.testing.assert_allclose(
            [place.x, place.y, place.z], pose[:3, 3], rtol=0.0, atol=1e-12)
        # Trace of a rotation matrix, Diebel (2006).
        assert np.trace(pose[:3, :3]) == pytest.approx(4 * turn.w**2 - 1, abs=1e-12)
    # Other programs read the elbow as revolute: they miss the travel of the nut.
    held = np.where(np.arange(len(q)) == 2, 0.0, q)
    missed = oracle.frame_pose(q, 'fore') - oracle.frame_pose(held, 'fore')
    assert np.linalg.norm(missed[:3, 3]) == pytest.approx(PITCH * STATE[1], rel=1e-12)


def test_a_trajectory_gets_the_torques_of_the_chain(torque_node, oracle):
    made = torque_node({'robot_description': arm(), 'joints': list(NAMES)})
    made.state(joint_state(NAMES, STATE, RATES))
    wanted = (0.9, 0.5, -1.1, 0.3)
    message = trajectory(NAMES, (0.0, STATE, RATES, wanted), (1.0, 0 * STATE, 0 * RATES, wanted))
    (filled,) = made.trajectory(message)
    torque = CHAIN.T @ oracle.inverse_dynamics(
        with_modes(STATE), with_modes(RATES), with_modes(wanted))
    assert filled.points[0].effort == pytest.approx(torque[:4], rel=1e-9)

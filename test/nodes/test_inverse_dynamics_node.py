# SPDX-License-Identifier: Apache-2.0
"""Contents of the torque of the inverse dynamics node; the first test over DDS."""

import time

from arms import flexible_arm
import flexdyn_ros as fd
from inverse_dynamics_cases import (
    COMMANDS,
    expected,
    LATCHED,
    NAMES,
    NODE,
    ROBOT,
    sending,
    set_parameter,
    STATE,
    wait_for_torque,
)
from node_processes import joint_state, trajectory
import numpy as np
import pytest
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros

Q, QD = (0.2, 0.3), (0.4, -0.5)
MOVING = expected(ROBOT, Q, QD)


def test_torques_arrive_over_dds_in_the_order_of_joints_and_under_new_parameters(probe, start):
    node = start(NODE, {
        'robot_description': ROBOT, 'joints': ['elbow', 'shoulder'], 'change_ramp_time': 0.0})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    named = probe.listen(JointState, f'/{NODE}/joint_torques')
    wait_for_torque(probe, commands, MOVING[::-1], 'torque', sending(probe))
    probe.wait_for(lambda: named, 'joint_torques', sending(probe))
    assert tuple(named[-1].name) == NAMES[::-1]
    assert np.allclose(named[-1].effort, MOVING[::-1])
    late = probe.listen(JointState, f'/{NODE}/joint_names', LATCHED)
    probe.wait_for(lambda: late, 'latched joint_names')
    assert list(late[0].name) == ['elbow', 'shoulder']
    assert 'accelerations: of ~/reference, else zero' in node.log
    assert set_parameter(probe, 'gravity', [1.0, 2.0, -3.0]).successful
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    dyn.set_gravity([1.0, 2.0, -3.0])
    torque = dyn.inverse_dynamics(Q, QD, np.zeros(2))[::-1]
    wait_for_torque(probe, commands, torque, 'gravity', sending(probe))
    assert not set_parameter(probe, 'gravity', [1.0, 2.0]).successful
    refused = set_parameter(probe, 'torque_model', 'gravity')
    assert 'Takes effect at the next configure' in refused.reason


def test_names_decide_and_not_their_order(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.state(joint_state(('gripper', 'elbow', 'shoulder'), (9, 0.3, 0.2), (9, -0.5, 0.4)))
    assert made.commands[-1] == pytest.approx(MOVING)


def test_modal_coordinates_never_appear_in_the_torque(torque_node):
    made = torque_node({
        'robot_description': flexible_arm(), 'torque_model': 'flexible_quasi_static'})
    made.state(STATE)
    assert [len(torque) for torque in made.commands] == [2]


def test_a_reference_replaces_what_it_names_and_the_rest_is_measured(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.state(STATE)
    made.reference(trajectory(('elbow',), (0, (), (), (2.0,))))
    assert made.commands[-1] == pytest.approx(expected(ROBOT, Q, QD, (0.0, 2.0)))
    made.reference(trajectory(NAMES, (0, (0.1, 0.2), (0.3, 0.4), (0.5, 0.6))))
    assert made.commands[-1] == pytest.approx(
        expected(ROBOT, (0.1, 0.2), (0.3, 0.4), (0.5, 0.6)))
    made.reference(trajectory(NAMES))
    made.state(STATE)
    assert made.commands[-1] == pytest.approx(MOVING)


def test_gravity_mode_does_not_depend_on_velocity(torque_node):
    made = torque_node({'robot_description': ROBOT, 'torque_model': 'gravity'})
    gravity = fd.Dynamics(fd.load_robot(ROBOT)).gravity_vector(Q)
    for velocities in ((0.0, 0.0), (2.0, -3.0)):
        made.state(joint_state(NAMES, Q, velocities))
        assert made.commands[-1] == pytest.approx(gravity)


def test_terms_can_be_switched_off_while_running_and_the_log_names_them(torque_node, capfd):
    made = torque_node({
        'robot_description': ROBOT, 'compensate.friction': False, 'change_ramp_time': 0.0})
    made.state(STATE)
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    coriolis = dyn.coriolis_vector(Q, QD)
    assert made.commands[-1] == pytest.approx(dyn.gravity_vector(Q) + coriolis)
    assert made.set(compensate__gravity=False)[0].successful
    made.state(STATE)
    assert made.commands[-1] == pytest.approx(coriolis)
    executor = SingleThreadedExecutor(context=made.node.context)
    executor.add_node(made.node)
    log, end = '', time.monotonic() + 10.0
    while 'omitted: gravity, friction' not in log and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
        log += capfd.readouterr().err
    executor.shutdown()
    assert 'contains: gravity, coriolis, inertia; omitted: friction' in log
    assert 'omitted: gravity, friction' in log


def test_a_payload_takes_effect_is_replaced_and_cleared_bit_for_bit(torque_node):
    made = torque_node({
        'robot_description': ROBOT, 'torque_model': 'gravity', 'change_ramp_time': 0.0})
    made.state(STATE)
    before = made.commands[-1].tolist()
    dyn = fd.Dynamics(fd.load_robot(ROBOT), backend='reference')
    assert made.set(payload__com=[0.6, 0.0, 0.1], payload__link='fore')[1].successful
    for mass in (1.5, 0.5):
        assert made.set(payload__mass=mass)[0].successful
        dyn.set_payload('fore', mass, [0.6, 0.0, 0.1], np.zeros((3, 3)))
        made.state(STATE)
        assert made.commands[-1] == pytest.approx(dyn.gravity_vector(Q))
    assert not made.set(payload__link='nowhere')[0].successful
    assert made.set(payload__link='')[0].successful
    made.state(STATE)
    assert made.commands[-1].tolist() == before

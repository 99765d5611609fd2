# SPDX-License-Identifier: Apache-2.0
"""The inverse dynamics node over DDS, in a process of its own: what its torque contains."""

from arms import flexible_arm
import flexdyn_ros as fd
from inverse_dynamics_cases import COMMANDS
from inverse_dynamics_cases import expected
from inverse_dynamics_cases import LATCHED
from inverse_dynamics_cases import NAMES
from inverse_dynamics_cases import NODE
from inverse_dynamics_cases import ROBOT
from inverse_dynamics_cases import sending
from inverse_dynamics_cases import set_parameter
from inverse_dynamics_cases import STATE
from inverse_dynamics_cases import wait_for_torque
from node_processes import joint_state
from node_processes import trajectory
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros


def test_torque_of_a_rigid_arm_arrives_as_the_library_computes_it(probe, start):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    named = probe.listen(JointState, f'/{NODE}/joint_torques')
    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, torque, 'torque', sending(probe))
    probe.wait_for(lambda: named, 'joint_torques', sending(probe))
    assert tuple(named[-1].name) == NAMES
    assert np.allclose(named[-1].effort, torque)


def test_names_decide_and_not_their_order(probe, start):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    permuted = joint_state(('gripper', 'elbow', 'shoulder'), (9, 0.3, 0.2), (9, -0.5, 0.4))
    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, torque, 'torque', sending(probe, permuted))


def test_the_parameter_joints_sets_the_order_which_is_latched(probe, start):
    start(NODE, {'robot_description': ROBOT, 'joints': ['elbow', 'shoulder']})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))[::-1]
    wait_for_torque(probe, commands, torque, 'torque', sending(probe))
    late = probe.listen(JointState, f'/{NODE}/joint_names', LATCHED)
    probe.wait_for(lambda: late, 'latched joint_names')
    assert list(late[0].name) == ['elbow', 'shoulder']


def test_modal_coordinates_never_appear_in_the_torque(probe, start):
    start(NODE, {'robot_description': flexible_arm(), 'torque_model': 'flexible_quasi_static'})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: len(commands) > 3, 'torques', sending(probe))
    assert {len(message.data) for message in commands} == {2}


def test_without_reference_accelerations_are_zero_and_the_log_says_so(probe, start):
    node = start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    wait_for_torque(
        probe, commands, expected(ROBOT, (0.2, 0.3), (0.4, -0.5)), 'torque', sending(probe)
    )
    assert 'accelerations: of ~/reference, else zero' in node.log


def test_a_reference_replaces_what_it_names_and_the_rest_is_measured(probe, start):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    reference = trajectory(('elbow',), (0, (), (), (2.0,)))

    def both():
        probe.publish('joint_states', STATE)
        probe.publish(f'/{NODE}/reference', reference)

    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5), (0.0, 2.0))
    wait_for_torque(probe, commands, torque, 'measured state, desired acceleration', both)
    reference = trajectory(NAMES, (0, (0.1, 0.2), (0.3, 0.4), (0.5, 0.6)))
    torque = expected(ROBOT, (0.1, 0.2), (0.3, 0.4), (0.5, 0.6))
    wait_for_torque(probe, commands, torque, 'desired state', both)


def test_gravity_mode_does_not_depend_on_velocity(probe, start):
    start(NODE, {'robot_description': ROBOT, 'torque_model': 'gravity'})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    torque = dyn.gravity_vector([0.2, 0.3])
    for velocities in ((0.0, 0.0), (2.0, -3.0)):
        message = joint_state(NAMES, (0.2, 0.3), velocities)
        commands.clear()
        wait_for_torque(probe, commands, torque, f'{velocities}', sending(probe, message))


def test_terms_can_be_switched_off_while_running_and_the_log_names_them(probe, start):
    node = start(NODE, {'robot_description': ROBOT, 'compensate.friction': False})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    q, qd = [0.2, 0.3], [0.4, -0.5]
    torque = dyn.gravity_vector(q) + dyn.coriolis_vector(q, qd)
    wait_for_torque(probe, commands, torque, 'no friction', sending(probe))
    assert 'contains: gravity, coriolis, inertia; left out: friction' in node.log
    assert set_parameter(probe, 'compensate.gravity', False).successful
    wait_for_torque(probe, commands, dyn.coriolis_vector(q, qd), 'no gravity', sending(probe))
    probe.wait_for(lambda: 'left out: gravity, friction' in node.log, 'log line')


def test_gravity_is_a_run_time_parameter(probe, start):
    start(NODE, {'robot_description': ROBOT, 'torque_model': 'gravity'})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe))
    assert set_parameter(probe, 'gravity', [1.0, 2.0, -3.0]).successful
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    dyn.set_gravity([1.0, 2.0, -3.0])
    wait_for_torque(probe, commands, dyn.gravity_vector([0.2, 0.3]), 'gravity', sending(probe))
    assert not set_parameter(probe, 'gravity', [1.0, 2.0]).successful


def test_a_payload_takes_effect_is_replaced_and_cleared_bit_for_bit(probe, start):
    start(NODE, {'robot_description': ROBOT, 'torque_model': 'gravity'})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe))
    before = list(commands[-1].data)
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    assert set_parameter(probe, 'payload.com', [0.6, 0.0, 0.1]).successful
    assert set_parameter(probe, 'payload.link', 'fore').successful
    for mass in (1.5, 0.5):
        assert set_parameter(probe, 'payload.mass', mass).successful
        dyn.set_payload('fore', mass, [0.6, 0.0, 0.1], np.zeros((3, 3)))
        wait_for_torque(
            probe, commands, dyn.gravity_vector([0.2, 0.3]), f'{mass} kg', sending(probe)
        )
    assert not set_parameter(probe, 'payload.link', 'nowhere').successful
    assert set_parameter(probe, 'payload.link', '').successful
    probe.wait_for(lambda: list(commands[-1].data) == before, 'same bits', sending(probe))

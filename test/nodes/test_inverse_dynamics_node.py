# SPDX-License-Identifier: Apache-2.0
"""The inverse dynamics node over DDS, in a process of its own."""

import signal

from arms import elastic_joint_arm
from arms import flexible_arm
from arms import rigid_arm
from diagnostic_msgs.msg import DiagnosticStatus
import flexdyn_ros as fd
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from node_processes import joint_state
from node_processes import key_values
from node_processes import trajectory
import numpy as np
import pytest
from rcl_interfaces.msg import Parameter
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import QoSDurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import QoSReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_msgs.msg import String

pytestmark = pytest.mark.ros

NODE = 'inverse_dynamics_node'
COMMANDS = f'/{NODE}/commands'
LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT = QoSProfile(depth=5, reliability=QoSReliabilityPolicy.BEST_EFFORT)
NAMES = ('shoulder', 'elbow')
STATE = joint_state(NAMES, (0.2, 0.3), (0.4, -0.5))
ROBOT = rigid_arm(extra='<dynamics damping="0.7" friction="0.3"/>')


def expected(urdf, q, qd=(0.0, 0.0), qdd=(0.0, 0.0)):
    """Return the library's joint torques with the modes at zero."""
    dyn = fd.Dynamics(fd.load_robot(urdf))
    modes = [0.0] * dyn.robot.n_modes
    return dyn.inverse_dynamics([*q, *modes], [*qd, *modes], [*qdd, *modes])[:2]


def sending(probe, message=STATE, topic='joint_states', qos=10):
    """Return a function that publishes a message again and again."""
    return lambda: probe.publish(topic, message, qos)


def wait_for_torque(probe, commands, torque, what, meanwhile):
    """Wait until the newest command is this torque."""
    probe.wait_for(
        lambda: commands and len(commands[-1].data) == len(torque)
        and np.allclose(commands[-1].data, torque, rtol=1e-9, atol=1e-9),
        f'{what}: {torque}, last {commands[-1:]}',
        meanwhile,
    )


def set_parameter(probe, name, value):
    """Set one parameter through the node's service and return its result."""
    kinds = {
        str: (ParameterType.PARAMETER_STRING, 'string_value'),
        float: (ParameterType.PARAMETER_DOUBLE, 'double_value'),
        bool: (ParameterType.PARAMETER_BOOL, 'bool_value'),
        list: (ParameterType.PARAMETER_DOUBLE_ARRAY, 'double_array_value'),
    }
    kind, field = kinds[type(value)]
    parameter = Parameter(name=name, value=ParameterValue(type=kind, **{field: value}))
    request = SetParameters.Request(parameters=[parameter])
    return probe.call(SetParameters, f'/{NODE}/set_parameters', request).results[0]


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
    start(NODE, {'robot_description': flexible_arm(), 'mode': 'flexible_quasi_static'})
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
    start(NODE, {'robot_description': ROBOT, 'mode': 'gravity'})
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
    start(NODE, {'robot_description': ROBOT, 'mode': 'gravity'})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe))
    assert set_parameter(probe, 'gravity', [1.0, 2.0, -3.0]).successful
    dyn = fd.Dynamics(fd.load_robot(ROBOT))
    dyn.set_gravity([1.0, 2.0, -3.0])
    wait_for_torque(probe, commands, dyn.gravity_vector([0.2, 0.3]), 'gravity', sending(probe))
    assert not set_parameter(probe, 'gravity', [1.0, 2.0]).successful


def test_a_payload_takes_effect_is_replaced_and_cleared_bit_for_bit(probe, start):
    start(NODE, {'robot_description': ROBOT, 'mode': 'gravity'})
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


@pytest.mark.parametrize(
    ('positions', 'velocities', 'word'),
    [
        ((0.2, float('nan')), (0.4, -0.5), 'position is nan'),
        ((0.2, 0.3), (0.4, float('inf')), 'velocity is inf'),
        ((), (0.4, -0.5), 'position is missing'),
        ((0.2, 0.3), (), 'velocity is missing'),
    ],
)
def test_bad_states_stop_the_torque_and_diagnostics_name_the_joint(
    probe, start, positions, velocities, word
):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    probe.wait_for(lambda: commands, 'torque before', sending(probe))
    bad = joint_state(NAMES, positions, velocities)
    told = probe.wait_for(
        lambda: [
            s.status[0].message for s in statuses
            if s.status[0].level == DiagnosticStatus.ERROR and word in s.status[0].message
        ],
        f'ERROR with "{word}"',
        sending(probe, bad),
    )
    assert 'elbow' in told[0]
    commands.clear()
    seen = len(statuses)
    probe.wait_for(lambda: len(statuses) > seen + 1, 'two more statuses', sending(probe, bad))
    assert not commands
    probe.wait_for(lambda: commands, 'torque after recovery', sending(probe))
    assert all(np.all(np.isfinite(message.data)) for message in commands)


def test_nan_or_missing_efforts_are_ignored(probe, start):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    message = joint_state(NAMES, (0.2, 0.3), (0.4, -0.5))
    message.effort = [float('nan'), float('nan')]
    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, torque, 'torque', sending(probe, message))


def test_a_message_with_arrays_of_the_wrong_length_is_dropped_by_name(probe, start):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    bad = joint_state(NAMES, (0.2, 0.3, 0.4), (0.4, -0.5))
    probe.wait_for(
        lambda: any('position has 3 elements for 2' in s.status[0].message for s in statuses),
        'diagnostic',
        sending(probe, bad),
    )
    assert not commands


def test_two_publishers_with_some_joints_each_make_one_state(probe, start):
    start(NODE, {'robot_description': ROBOT, 'timeout': 5.0})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    halves = [joint_state((NAMES[k],), ((0.2, 0.3)[k],), ((0.4, -0.5)[k],)) for k in (0, 1)]
    turn = []

    def alternate():
        turn.append(1)
        probe.publish('joint_states', halves[len(turn) % 2], qos=10 + len(turn) % 2)

    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, torque, 'torque', alternate)


def test_a_missing_joint_means_no_torque(probe, start):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    half = joint_state(('shoulder',), (0.2,), (0.4,))
    probe.wait_for(
        lambda: any('elbow: never received' in s.status[0].message for s in statuses),
        'diagnostic',
        sending(probe, half),
    )
    assert not commands


@pytest.mark.parametrize(
    'qos', [QoSProfile(depth=5), BEST_EFFORT], ids=['reliable', 'best_effort']
)
def test_joint_states_of_any_reliability_are_heard(probe, start, qos):
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe, qos=qos))


@pytest.mark.parametrize('policy', ['hold', 'zero', 'gravity'])
def test_stale_states_follow_the_policy(probe, start, policy):
    start(NODE, {'robot_description': ROBOT, 'stale_policy': policy, 'timeout': 0.2})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    moving = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, moving, 'torque', sending(probe))
    wanted = {
        'hold': moving,
        'zero': np.zeros(2),
        'gravity': fd.Dynamics(fd.load_robot(ROBOT)).gravity_vector([0.2, 0.3]),
    }[policy]
    probe.wait_for(
        lambda: any(f'stale, policy {policy}' in s.status[0].message for s in statuses), 'stale'
    )
    wait_for_torque(probe, commands, wanted, policy, lambda: None)


def test_a_reference_that_falls_silent_follows_the_policy(probe, start):
    start(NODE, {'robot_description': ROBOT, 'stale_policy': 'zero', 'reference_timeout': 0.3})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    wait_for_torque(
        probe, commands, expected(ROBOT, (0.2, 0.3), (0.4, -0.5)), 'torque', sending(probe)
    )
    probe.publish(f'/{NODE}/reference', trajectory(NAMES, (0, (), (), (1.0, 1.0))))
    wait_for_torque(probe, commands, np.zeros(2), 'zero', sending(probe))


def test_torques_saturate_at_the_effort_limits_and_joints_are_flagged(probe, start):
    urdf = rigid_arm(efforts=(5, 50))
    start(NODE, {'robot_description': urdf})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    statuses = probe.statuses()
    torque = expected(urdf, (0.2, 0.3), (0.4, -0.5))
    assert torque[0] < -5.0
    wait_for_torque(probe, commands, (-5.0, torque[1]), 'saturated', sending(probe))
    flags = probe.wait_for(
        lambda: [key_values(s) for s in statuses
                 if key_values(s).get('saturated/shoulder') == 'True'],
        'flag',
        sending(probe),
    )
    assert flags[-1]['saturated/elbow'] == 'False'


def test_a_declared_effort_of_zero_needs_a_decision(probe, start):
    node = start(NODE, {'robot_description': rigid_arm(efforts=(0, 50)), 'autostart': False})
    configure = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_CONFIGURE))
    activate = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_ACTIVATE))
    assert not probe.call(ChangeState, f'/{NODE}/change_state', configure).success
    assert 'Joints shoulder declare <limit effort="0">' in node.log
    assert set_parameter(probe, 'zero_effort_limit', 'unlimited').successful
    assert probe.call(ChangeState, f'/{NODE}/change_state', configure).success
    assert probe.call(ChangeState, f'/{NODE}/change_state', activate).success
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe))


def test_the_effort_display_has_full_length_and_only_joints_with_limits(probe, start):
    start(NODE, {'robot_description': rigid_arm(limits=False)})
    shown = probe.listen(JointState, f'/{NODE}/effort_display')
    probe.wait_for(lambda: shown, 'effort display', sending(probe))
    assert list(shown[-1].name) == ['shoulder']
    assert len(shown[-1].effort) == 1


def test_commands_can_be_a_joint_state(probe, start):
    start(NODE, {'robot_description': ROBOT, 'command_type': 'JointState'})
    commands = probe.listen(JointState, COMMANDS)
    probe.wait_for(lambda: commands, 'command', sending(probe))
    assert np.allclose(commands[-1].effort, expected(ROBOT, (0.2, 0.3), (0.4, -0.5)))


def test_the_description_parameter_wins_over_the_latched_topic(probe, start):
    other = rigid_arm(joints=('a', 'b'))
    probe.publish('robot_description', String(data=other), LATCHED)
    start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe))


def test_the_latched_description_starts_the_node_and_changes_only_while_inactive(probe, start):
    node = start(NODE, {})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: 'waiting for the topic robot_description' in node.log, 'waiting')
    probe.publish('robot_description', String(data=ROBOT), LATCHED)
    probe.wait_for(lambda: commands, 'torque', sending(probe))
    heavier = ROBOT.replace('<mass value="1"/>', '<mass value="3"/>')
    probe.publish('robot_description', String(data=heavier), LATCHED)
    probe.wait_for(lambda: 'takes effect when this node is deactivated' in node.log, 'log')
    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    commands.clear()
    wait_for_torque(probe, commands, torque, 'still the old one', sending(probe))
    for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE):
        request = ChangeState.Request(transition=Transition(id=transition))
        assert probe.call(ChangeState, f'/{NODE}/change_state', request).success
    torque = expected(heavier, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, torque, 'the new one', sending(probe))


def test_diagnostics_carry_age_compute_time_and_missed_cycles(probe, start):
    start(NODE, {'robot_description': ROBOT})
    statuses = probe.statuses()
    values = probe.wait_for(
        lambda: [key_values(s) for s in statuses
                 if float(key_values(s).get('compute_time_p99') or 0.0) > 0.0
                 and 0.0 <= float(key_values(s)['input_age']) < 0.1],
        'compute time and a young input',
        sending(probe),
    )[-1]
    assert 0.0 < float(values['compute_time_mean']) <= float(values['compute_time_max'])
    assert int(values['missed_cycles']) >= 0
    assert int(values['over_budget']) >= 0


def test_quasi_static_mode_fulfils_the_modal_equations(probe, start):
    urdf = flexible_arm()
    start(NODE, {'robot_description': urdf, 'mode': 'flexible_quasi_static'})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe))
    dyn = fd.Dynamics(fd.load_robot(urdf))
    q, qd = np.array([0.2, 0.3, 0.0, 0.0]), np.array([0.4, -0.5, 0.0, 0.0])
    stiffness = np.array([dyn.elastic_vector(row, 0 * row)[2:] for row in np.eye(4)[2:]])
    for _ in range(100):
        q[2:] -= np.linalg.solve(stiffness, dyn.inverse_dynamics(q, qd, np.zeros(4))[2:])
    torque = dyn.inverse_dynamics(q, qd, np.zeros(4))
    assert np.abs(torque[2:]).max() < 1e-9
    assert np.abs(q[2:]).max() > 1e-4
    assert np.allclose(commands[-1].data, torque[:2], rtol=1e-8)
    assert not np.allclose(commands[-1].data, expected(urdf, (0.2, 0.3), (0.4, -0.5)), rtol=1e-6)


def test_link_side_measurements_of_an_elastic_joint_are_taken_back_to_the_motor(probe, start):
    urdf = elastic_joint_arm()
    dyn = fd.Dynamics(fd.load_robot(urdf))
    q = np.array([0.2, 0.3, 0.0])
    for _ in range(60):
        q[2] -= dyn.inverse_dynamics(q, np.zeros(3), np.zeros(3))[2] / 500.0
    torque = dyn.inverse_dynamics(q, np.zeros(3), np.zeros(3))
    link_side = joint_state(NAMES, (q[0] + q[2], q[1]), (0.0, 0.0))
    parameters = {
        'robot_description': urdf,
        'mode': 'flexible_quasi_static',
        'measured_side': 'link',
    }
    start(NODE, parameters)
    commands = probe.listen(Float64MultiArray, COMMANDS)
    wait_for_torque(probe, commands, torque[:2], 'torque', sending(probe, link_side))


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_node_with_exit_code_zero(probe, start, number):
    node = start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    probe.wait_for(lambda: commands, 'torque', sending(probe))
    assert node.stop(number) == 0
    assert 'Traceback' not in node.log


def test_a_wrong_parameter_ends_the_node_with_one_sentence(start, probe, tmp_path):
    from node_processes import NodeProcess

    node = NodeProcess(tmp_path, NODE, {'mode': 'fast'}, may_end=True)
    probe.wait_for(lambda: not node.running(), 'end')
    assert node.stop() == 1
    assert 'mode must be one of gravity, rigid' in node.log
    assert 'Traceback' not in node.log


def test_nodes_of_two_namespaces_do_not_meet(probe, start):
    for name in ('left', 'right'):
        start(NODE, {'robot_description': ROBOT}, ('-r', f'__ns:=/{name}'))
    left = probe.listen(Float64MultiArray, f'/left/{NODE}/commands')
    right = probe.listen(Float64MultiArray, f'/right/{NODE}/commands')
    still = joint_state(NAMES, (0.0, 0.0), (0.0, 0.0))

    def both():
        probe.publish('/left/joint_states', STATE)
        probe.publish('/right/joint_states', still)

    probe.wait_for(lambda: len(left) > 2 and len(right) > 2, 'torques of both', both)
    assert {tuple(m.data) for m in left}.isdisjoint({tuple(m.data) for m in right})

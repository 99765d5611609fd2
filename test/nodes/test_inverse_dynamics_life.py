# SPDX-License-Identifier: Apache-2.0
"""The inverse dynamics node over DDS: description, diagnostics, modes and its end."""

import shutil
import signal

from arms import elastic_joint_arm, flexible_arm, rigid_arm
import flexdyn_ros as fd
from inverse_dynamics_cases import (
    COMMANDS,
    expected,
    LATCHED,
    NAMES,
    NODE,
    ROBOT,
    sending,
    STATE,
    wait_for_torque,
)
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from node_processes import joint_state, key_values
import numpy as np
import pytest
from std_msgs.msg import Float64MultiArray, String

pytestmark = pytest.mark.ros


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


COMPILERS = {
    'c': None,
    'python': '#!/bin/sh\n[ "$1" = --version ] && echo cc 1 && exit 0\n'
              'echo "no room" >&2\nexit 1\n',
    'python without': '',
}


@pytest.mark.parametrize('case', COMPILERS)
def test_the_node_compiles_while_it_configures_or_says_why_not(
    probe, start, tmp_path, monkeypatch, case
):
    """A compiler that fails, or is not there, costs one line and not the node."""
    script = COMPILERS[case]
    if script is None and shutil.which('cc') is None and shutil.which('gcc') is None:
        pytest.skip('no C compiler here')
    if script is not None:
        compiler = tmp_path / 'cc'
        if script:
            compiler.write_text(script)
            compiler.chmod(0o755)
        monkeypatch.setenv('CC', str(compiler))
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path / 'cache'))
    node = start(NODE, {'robot_description': ROBOT})
    commands = probe.listen(Float64MultiArray, COMMANDS)
    torque = expected(ROBOT, (0.2, 0.3), (0.4, -0.5))
    wait_for_torque(probe, commands, torque, 'torque', sending(probe))
    assert f'run on the backend "{case.partition(" ")[0]}"' in node.log
    warnings = [line for line in node.log.splitlines() if '[WARN]' in line]
    assert len(warnings) == (script is not None), node.log
    assert all('no room' in line or str(tmp_path / 'cc') in line for line in warnings)


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
    start(NODE, {'robot_description': urdf, 'torque_model': 'flexible_quasi_static'})
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
        'torque_model': 'flexible_quasi_static',
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

    node = NodeProcess(tmp_path, NODE, {'torque_model': 'fast'}, may_end=True)
    probe.wait_for(lambda: not node.running(), 'end')
    assert node.stop() == 1
    assert 'torque_model must be one of gravity, rigid' in node.log
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

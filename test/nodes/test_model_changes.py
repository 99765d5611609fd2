# SPDX-License-Identifier: Apache-2.0
"""Parameters that are set while the node works: acted on, or refused with advice."""

import re
import time
from types import SimpleNamespace

import flexdyn_ros as fd
from inverse_dynamics_cases import ROBOT, STATE
import numpy as np
import pytest

pytestmark = pytest.mark.ros

Q, QD = [0.2, 0.3], [0.4, -0.5]


def until(made, condition, limit=60.0):
    """Send states until a condition holds; return the number of states and torques."""
    states, before, end = 0, len(made.commands), time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, (made.message, made.log)
        made.state(STATE)
        states += 1
        time.sleep(0.002)
    return states, len(made.commands) - before


def test_the_old_model_answers_until_another_process_has_made_the_code(
    torque_node, tmp_path, monkeypatch
):
    monkeypatch.setenv('FLEXDYN_CACHE_DIR', str(tmp_path))
    made = torque_node({'robot_description': ROBOT, 'backend': 'auto', 'change_ramp_time': 0.3})
    made.state(STATE)
    old = made.commands[-1]
    carried = {'payload__mass': 2.0, 'payload__com': [0.5, 0.0, 0.0]}
    assert made.set(payload__link='upper', **carried)[0].successful
    made.state(STATE)
    assert made.commands[-1].tolist() == old.tolist()
    assert 'pending: code for a payload on upper' in made.message
    states, torques = until(made, lambda: not made.node.changes.pending)
    assert states == torques > 5
    dyn = fd.Dynamics(fd.load_robot(ROBOT), backend='reference')
    dyn.set_payload('upper', 2.0, [0.5, 0.0, 0.0], np.zeros((3, 3)))
    new = dyn.inverse_dynamics(Q, QD, np.zeros(2))
    assert not np.allclose(made.commands[-1], new, rtol=0.05)
    until(made, lambda: np.allclose(made.commands[-1], new, rtol=1e-9))
    ramp = np.array(made.commands)[:, 0]
    assert np.abs(np.diff(ramp)).max() < 0.5 * abs(new[0] - old[0])
    made.set(payload__mass=1.0)
    made.state(STATE)
    assert not made.node.changes.pending  # the mass is an argument of the code that is there


def test_gravity_and_a_payload_at_the_hand_act_at_the_next_cycle(torque_node):
    made = torque_node({
        'robot_description': ROBOT, 'backend': 'auto',
        'change_ramp_time': 0.0})
    made.state(STATE)
    made.set(payload__link='fore', payload__mass=2.0, gravity=[1.0, 0.0, -9.0])
    made.state(STATE)
    dyn = fd.Dynamics(fd.load_robot(ROBOT), backend='reference')
    dyn.set_payload('fore', 2.0, np.zeros(3), np.zeros((3, 3)))
    dyn.set_gravity([1.0, 0.0, -9.0])
    assert made.commands[-1] == pytest.approx(dyn.inverse_dynamics(Q, QD, np.zeros(2)))
    assert made.message == 'working'


def test_code_that_cannot_be_made_leaves_the_old_model_in_force(torque_node, monkeypatch):
    made = torque_node({'robot_description': ROBOT, 'backend': 'auto'})
    made.state(STATE)
    old = made.commands[-1].tolist()
    monkeypatch.setattr('flexdyn_ros.nodes.torque.code_ahead.sys.executable', '/nowhere/python')
    made.set(payload__link='upper', payload__mass=2.0)
    until(made, lambda: 'cannot be made' in made.message)
    assert made.commands[-1].tolist() == old
    assert '/nowhere/python' in made.message


@pytest.mark.parametrize(('name', 'value'), [
    ('torque_model', 'gravity'), ('mode', 'gravity'), ('joints', ['elbow']),
    ('backend', 'reference'), ('limit_torques', False), ('robot_description', '<robot/>'),
    ('modes.step', 0.1), ('plausible.velocity', 3.0), ('wrench_links', ['fore']),
])
def test_what_needs_a_new_configure_is_refused_while_active(torque_node, name, value):
    made = torque_node({'robot_description': ROBOT, 'backend': 'auto'})
    (result,) = made.set(**{name: value})
    assert not result.successful
    assert result.reason.startswith(f'{name}: Takes effect at the next configure. Deactivate')


def test_an_old_name_that_keeps_its_value_changes_nothing_while_active(torque_node):
    made = torque_node({'robot_description': ROBOT, 'mode': 'gravity'})
    made.node.trigger_deactivate()
    assert made.set(torque_model='rigid')[0].successful
    made.node.trigger_activate()
    assert 'Deactivate' in made.set(mode='gravity')[0].reason
    assert made.node.parameters['torque_model'] == 'rigid'


def test_the_description_in_force_is_not_loaded_again(torque_node, monkeypatch):
    """Loading takes longer than a cycle."""
    made = torque_node({'robot_description': ROBOT})
    monkeypatch.setattr(fd, 'load_robot', lambda *given, **more: pytest.fail('loaded'))
    assert made.set(robot_description=ROBOT)[0].successful


def test_set_while_inactive_it_is_in_force_after_activation(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.node.trigger_deactivate()
    assert made.set(torque_model='gravity')[0].successful
    made.node.trigger_activate()
    made.state(STATE)
    dyn = fd.Dynamics(fd.load_robot(ROBOT), backend='reference')
    assert made.commands[-1] == pytest.approx(dyn.gravity_vector(Q))


def test_joints_and_description_are_checked_when_they_are_set(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.node.trigger_deactivate()
    (joints,) = made.set(joints=['knee'])
    assert 'two has no joint knee; it has shoulder, elbow' in joints.reason
    (description,) = made.set(robot_description='<robot name="x">')
    assert description.reason.startswith('robot_description: ')
    assert made.node.trigger_activate() is not None
    made.state(STATE)
    assert made.commands


def test_a_description_that_comes_after_a_wrong_one_is_loaded_while_inactive(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.node.parameters._values['robot_description'] = ''
    made.node._topic = SimpleNamespace(text='<robot/>')
    made.node.trigger_deactivate()
    assert made.node.robot is None
    made.node._topic.text = ROBOT.replace('name="two"', 'name="three"')
    made.node._on_description()
    assert made.node.robot.name == 'three'


def test_compensation_acts_or_is_refused_in_every_torque_model(torque_node):
    made = torque_node({'robot_description': ROBOT, 'torque_model': 'gravity'})
    assert 'gravity alone' in made.set(compensate__gravity=False)[0].reason
    for name in ('coriolis', 'inertia', 'friction'):
        (result,) = made.set(**{f'compensate__{name}': True})
        assert 'contains gravity alone' in result.reason
    made.node.trigger_deactivate()
    assert 'contains no wrenches' in made.set(wrench_links=['fore'])[0].reason
    refused = torque_node({
        'robot_description': ROBOT, 'torque_model': 'gravity', 'compensate.gravity': False,
    }, activate=False)
    refused.node.trigger_configure()
    assert refused.node.robot is None
    assert 'gravity alone' in refused.message


def test_the_old_name_of_the_torque_model_works(torque_node):
    made = torque_node({'robot_description': ROBOT, 'mode': 'gravity'})
    assert made.node.feed_forward.mode == 'gravity'
    assert made.node.get_parameter('torque_model').value == 'gravity'


def test_descriptors_carry_ranges_and_allowed_values(torque_node):
    made = torque_node({'robot_description': ROBOT}, activate=False)
    describe = made.node.describe_parameter
    (interval,) = describe('modes.spectral_radius').floating_point_range
    assert (interval.from_value, interval.to_value) == (0.0, 1.0)
    (interval,) = describe('plausible.patience').integer_range
    assert (interval.from_value, interval.to_value) == (0, 1000)
    words = describe('torque_model').additional_constraints
    assert words.startswith('One of: gravity, rigid, flexible_quasi_static, flexible_hybrid.')
    assert words.endswith('Takes effect at the next configure.')
    assert describe('timeout').additional_constraints == 'Greater than 0.'
    assert describe('modes.step').additional_constraints.startswith('From 0.0001 to 1.')
    for name, value in (('payload__mass', 1e300), ('gravity', [0.0, 0.0, -1e80])):
        assert not made.set(**{name: value})[0].successful


def test_a_description_without_inertials_is_a_warning_once(torque_node):
    """The node loads it, as kinematics is all that it can compute."""
    warnings = []
    for text in (re.sub(r'<inertial>.*?</inertial>', '', ROBOT, flags=re.DOTALL), ROBOT):
        made = torque_node({'robot_description': text}, activate=False)
        made.node.get_logger().warning = warnings.append
        made.node.trigger_configure()
        assert made.node.robot is not None
    assert len([words for words in warnings if 'no link has a mass' in words]) == 1

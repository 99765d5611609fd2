# SPDX-License-Identifier: Apache-2.0
"""The torque node survives any message and publishes no torque outside the limits."""

import time

from arms import flexible_arm, rigid_arm
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.common.diagnostics import ERROR, SHORTEST_PERIOD
from flexdyn_ros.nodes.torque.feed_forward import MODES
from geometry_msgs.msg import AccelStamped
from inverse_dynamics_cases import NAMES, ROBOT, STATE
from node_processes import joint_state, trajectory
import numpy as np
import pytest
from test_sensor_inputs import imu, wrench

pytestmark = pytest.mark.ros

COUNT = 20_000
EXTREMES = (0.0, -0.0, 1.0, -3.0, 1e3, -1e6, 1e10, 1e80, -1e200, 1.7e308, 5e-324,
            float('nan'), float('inf'), -float('inf'))


def accelerations(six):
    """Return an AccelStamped."""
    message = AccelStamped()
    for part, values in ((message.accel.linear, six[:3]), (message.accel.angular, six[3:])):
        part.x, part.y, part.z = map(float, values)
    return message


def nonsense(random):
    """Return a joint state and a reference, some good, most not."""
    def numbers(count):
        if random.random() < 0.5:
            return random.uniform(-2.0, 2.0, count).tolist()
        return random.choice(EXTREMES, count).tolist()

    names = [NAMES, NAMES, ('elbow',), ('shoulder', 'shoulder'), ('gripper',), (),
             ('gripper', *NAMES)][random.integers(7)]
    count = len(names) + (random.random() < 0.05)
    state = joint_state(
        names, numbers(count), numbers(count),
        random.choice((0.0, 1.0, 2.0, 1e6, 2e9)) if random.random() < 0.3 else None)
    points = [(0, *(numbers(len(names)) if random.random() < 0.7 else () for _ in range(3)))]
    return state, trajectory(names, *points[:random.integers(2)])


@pytest.mark.parametrize('count', [COUNT // 16, pytest.param(COUNT, marks=pytest.mark.slow)])
@pytest.mark.parametrize('mode', MODES)
def test_no_message_ends_the_node_or_leaves_the_limits(torque_node, mode, count):
    """20 000 in every mode, a sixteenth of them in quick runs; then a good state counts."""
    random = np.random.default_rng(3)
    made = torque_node({
        'robot_description': flexible_arm(), 'torque_model': mode, 'backend': 'auto',
        'stale_gravity_time': 1e3})
    for _ in range(count // 2):
        state, reference = nonsense(random)
        made.state(state)
        made.reference(reference)
    assert len(made.commands) > 100
    assert all(len(torque) == 2 for torque in made.commands)
    torques = np.array(made.commands)
    assert np.isfinite(torques).all()
    assert (np.abs(torques) <= [100, 50]).all()
    values = made.values()
    for kind in ('not_finite', 'wrong_length', 'duplicate_names', 'implausible',
                 'stamp_runs_back', 'stamp_in_future', 'stamp_stands_still'):
        assert values[f'dropped/{kind}'] > 0, kind
    assert values['references_refused'] > 0
    made.node.inputs.reference.clear()
    seen = len(made.commands)
    for _ in range(8):
        made.state(STATE)
    assert len(made.commands) > seen
    assert made.node.cycle.episode.on is False


@pytest.mark.parametrize('mode', MODES)
def test_no_message_of_a_sensor_ends_the_node_or_leaves_the_limits(torque_node, mode):
    """Wrenches, accelerations of a base and an IMU; then good ones get a torque."""
    random = np.random.default_rng(5)
    # The torque model gravity contains no wrenches.
    links = {} if mode == 'gravity' else {'wrench_links': ['fore']}
    made = torque_node({
        'robot_description': flexible_arm(), 'torque_model': mode, 'gravity_from_imu': True,
        'stale_gravity_time': 1e3, 'gravity_frame_timeout': 1e3, 'wrench_timeout': 1e3, **links})
    inputs = made.node.inputs
    heard = [each._subscription.callback for each in (inputs.wrenches, inputs.base)]
    turned = inputs.gravity._subscription.callback
    turned(imu('base', None, (0.0, 0.0, 9.81)))
    for _ in range(150):
        values = random.choice(EXTREMES, 10).tolist()
        heard[0](wrench(random.choice(('fore', 'nowhere', '')), *values[:6]))
        heard[1](accelerations(values[:6]))
        turned(imu(random.choice(('base', 'fore')), values[:4] if values[4] > 0 else None,
                   values[5:8]))
        made.state(STATE)
    torques = np.array(made.commands)
    assert len(torques) > 50
    assert np.isfinite(torques).all()
    assert (np.abs(torques) <= [100, 50]).all()
    assert inputs.wrenches.refused > 10
    assert inputs.base.refused == 150
    assert not made.node.failures.keys() & {'~/wrench', '~/imu', '~/base_acceleration'}
    heard[0](wrench('fore', *[0.0] * 6))
    turned(imu('base', (0.0, 0.0, 0.0, 1.0)))
    made.state(STATE)
    assert not made.node.cycle.episode.on


@pytest.mark.parametrize('error', [ValueError('math domain error'), FlexdynError('no way'),
                                   OverflowError('too large'), MemoryError()])
def test_an_exception_of_a_cycle_means_the_stale_policy_at_once(torque_node, error):
    made = torque_node({'robot_description': ROBOT})
    made.state(STATE)
    good = made.commands[-1]

    def fail(sample):
        raise error

    made.node.feed_forward.torque = fail
    made.state(STATE)
    gravity = made.node.feed_forward.gravity_torque(np.array([0.2, 0.3]))
    assert len(made.commands) == 2
    assert made.commands[-1] == pytest.approx(gravity)
    assert not np.allclose(good, gravity)
    assert made.values()['failures/joint_states'] == 1
    assert str(error) in made.message
    assert 'policy gravity' in made.message
    del made.node.feed_forward.torque
    made.state(STATE)
    assert made.commands[-1] == pytest.approx(good)
    assert made.message == 'working'


def test_where_gravity_fails_too_the_last_torque_ramps_to_zero(torque_node):
    made = torque_node({
        'robot_description': ROBOT, 'stale_gravity_time': 0.0, 'stale_ramp_time': 200.0})
    made.state(STATE)
    good = made.commands[-1]

    def fail(*arguments):
        raise ZeroDivisionError('division by zero')

    made.node.feed_forward.torque = made.node.feed_forward.gravity_torque = fail
    made.state(STATE)
    assert made.commands[-1] == pytest.approx(good, rel=1e-2)
    made.node.cycle.episode._began -= 100.0
    made.state(STATE)
    assert made.commands[-1] == pytest.approx(0.5 * good, rel=1e-2)
    made.node.cycle.episode._began -= 1000.0
    made.state(STATE)
    assert made.commands[-1] == pytest.approx([0.0, 0.0])


def test_failures_of_timers_and_services_are_counted_and_answered(torque_node):
    from std_srvs.srv import Trigger

    made = torque_node({'robot_description': ROBOT})

    def fail(*arguments):
        raise RuntimeError('broken')

    timer = made.node.create_steady_timer(100.0, fail)
    service = made.node.create_service(Trigger, '~/broken', fail)
    timer.callback()
    response = Trigger.Response()
    assert service.callback(Trigger.Request(), response) is response
    assert not response.success
    counted = made.values()
    assert counted['failures/~/broken'] == 1
    assert sum(n for key, n in counted.items() if 'fail' in key and '/' in key) == 2
    made.state(STATE)
    assert len(made.commands) == 1


def test_an_implausible_velocity_is_left_out_by_joint_until_it_lasts(torque_node):
    made = torque_node({'robot_description': rigid_arm(), 'plausible.patience': 3})
    made.state(STATE)
    good = made.commands[-1]
    wild = joint_state(NAMES, (0.2, 0.3), (0.4, 1e6))
    for _ in range(3):
        made.state(wild)
        assert made.commands[-1] == pytest.approx(good)
    made.state(wild)
    assert 'elbow: velocity 1e+06 is implausible' in made.message
    assert 'policy gravity' in made.message
    assert not np.allclose(made.commands[-1], good)
    assert made.values()['dropped/implausible'] == 4
    made.state(STATE)
    assert made.commands[-1] == pytest.approx(good)


def test_levels_that_alternate_do_not_publish_diagnostics_at_every_cycle(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.state(STATE)
    seen, begin = len(made.statuses), time.monotonic()
    for _ in range(200):
        made.state(joint_state(NAMES, (float('nan'), 0.3), (0.4, -0.5)))
        assert made.node.diagnostics._level == ERROR
        made.state(STATE)
    assert len(made.statuses) - seen <= 2 * (time.monotonic() - begin) / SHORTEST_PERIOD + 2


def test_velocities_alone_may_be_desired_where_zero_is_no_position(torque_node):
    far = ROBOT.replace('lower="-3" upper="3"', 'lower="7" upper="7.5"')
    made = torque_node({'robot_description': far})
    made.state(joint_state(NAMES, (7.2, 7.2), (0.0, 0.0)))
    made.reference(trajectory(NAMES, (0, (), (0.1, 0.1), ())))
    assert len(made.commands) == 2
    made.reference(trajectory(NAMES, (0, (7.2, 1e3), (), ())))
    assert 'elbow: position 1000 is implausible' in made.message


def test_a_reference_of_many_points_is_refused(torque_node):
    made = torque_node({'robot_description': ROBOT})
    made.state(STATE)
    made.reference(trajectory(NAMES, *((k, (0.2, 0.3), (), ()) for k in range(1000))))
    assert 'expected at most 32768; send its last point alone' in made.message
    assert len(made.commands) == 1


def test_a_reference_beyond_what_the_robot_can_do_is_refused_by_name(torque_node):
    made = torque_node({'robot_description': flexible_arm(), 'torque_model': 'flexible_hybrid'})
    made.state(STATE)
    count = len(made.commands)
    made.reference(trajectory(NAMES, (0, (), (), (0.0, 1e10))))
    assert 'elbow: acceleration 1e+10 is implausible' in made.message
    assert len(made.commands) == count

# SPDX-License-Identifier: Apache-2.0
"""Trajectory in, trajectory with efforts out, over DDS."""

from arms import flexible_arm, rigid_arm
import flexdyn_ros as fd
from node_processes import joint_state, trajectory
import numpy as np
import pytest
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray
from thinned import thinned
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros

NODE = 'inverse_dynamics_node'
NAMES = ('elbow', 'shoulder')
POINTS = (
    (0.0, (0.1, 0.2), (0.0, 0.0), (1.0, -1.0)),
    (0.5, (0.2, 0.1), (0.3, -0.2), (0.0, 0.5)),
    (1.0, (0.3, 0.0), (0.0, 0.0), (-1.0, 1.0)),
)


def ready(probe, node):
    """Wait until the node is active and the probe's trajectory topic is connected."""
    filled = probe.listen(JointTrajectory, f'/{NODE}/trajectory_out')
    topic = f'/{NODE}/trajectory_in'
    probe.wait_for(
        lambda: 'Published torque contains' in node.log
        and probe.node.count_subscribers(topic)
        and probe.node.count_publishers(f'/{NODE}/trajectory_out'),
        'node',
    )
    return filled


def fill(probe, filled, message):
    """Send a trajectory until the filled one comes, and return that."""
    filled.clear()
    topic = f'/{NODE}/trajectory_in'
    count = []

    def send():
        if not count or len(count) % 100 == 0:
            probe.publish(topic, message)
        count.append(1)

    return probe.wait_for(lambda: filled and filled[-1], 'filled trajectory', send)


def test_efforts_are_filled_and_the_other_fields_stay_byte_identical(probe, start):
    node = start(NODE, {'robot_description': rigid_arm()})
    filled = ready(probe, node)
    message = trajectory(NAMES, *POINTS)
    message.header.frame_id = 'anywhere'
    message.header.stamp.sec = 7
    result = fill(probe, filled, message)
    dyn = fd.Dynamics(fd.load_robot(rigid_arm()))
    for point, (_, q, qd, qdd) in zip(result.points, POINTS):
        torque = dyn.inverse_dynamics(q[::-1], qd[::-1], qdd[::-1])[::-1]
        assert np.allclose(point.effort, torque, rtol=1e-12)
    for point in result.points:
        point.effort = []
    assert serialize_message(result) == serialize_message(message)


@pytest.mark.parametrize('field', thinned(
    ['accelerations', 'velocities', 'positions'], {'velocities'}))
def test_a_point_without_all_three_is_refused_and_not_differentiated(probe, start, field):
    node = start(NODE, {'robot_description': rigid_arm()})
    filled = ready(probe, node)
    message = trajectory(NAMES, *POINTS)
    setattr(message.points[1], field, [])
    probe.wait_for(
        lambda: f'point 1 has 0 {field}, expected 2' in node.log,
        'log line',
        lambda: probe.publish(f'/{NODE}/trajectory_in', message),
    )
    assert not filled
    # The next good one is answered, so the refusal was not a delay.
    assert fill(probe, filled, trajectory(NAMES, *POINTS))


def test_joints_that_the_trajectory_omits_stay_where_they_are_measured(probe, start):
    node = start(NODE, {'robot_description': rigid_arm(), 'timeout': 30.0})
    filled = ready(probe, node)
    commands = probe.listen(Float64MultiArray, f'/{NODE}/commands')
    message = trajectory(('shoulder',), (0.0, (0.1,), (0.2,), (0.3,)))
    probe.wait_for(
        lambda: 'omits elbow' in node.log,
        'refusal while the elbow is unknown',
        lambda: probe.publish(f'/{NODE}/trajectory_in', message),
    )
    state = joint_state(('shoulder', 'elbow'), (0.9, 0.4), (0.0, 0.5))
    probe.wait_for(lambda: commands, 'torque', lambda: probe.publish('joint_states', state))
    result = fill(probe, filled, message)
    dyn = fd.Dynamics(fd.load_robot(rigid_arm()))
    torque = dyn.inverse_dynamics([0.1, 0.4], [0.2, 0.0], [0.3, 0.0])
    assert np.allclose(result.points[0].effort, torque[:1], rtol=1e-12)


def test_only_joints_of_the_trajectory_need_an_effort_limit(probe, start):
    node = start(NODE, {
        'robot_description': rigid_arm(efforts=(0, 1.5)), 'joints': ['elbow'], 'timeout': 30.0,
    })
    filled = ready(probe, node)
    commands = probe.listen(Float64MultiArray, f'/{NODE}/commands')
    state = joint_state(('shoulder', 'elbow'), (0.9, 0.4), (0.0, 0.0))
    probe.wait_for(lambda: commands, 'torque', lambda: probe.publish('joint_states', state))
    result = fill(probe, filled, trajectory(('elbow',), (0.0, (0.0,), (0.0,), (0.0,))))
    assert list(result.points[0].effort) == [-1.5]
    message = trajectory(('shoulder',), (0.0, (0.0,), (0.0,), (0.0,)))
    probe.wait_for(
        lambda: 'Joints shoulder declare <limit effort="0">' in node.log,
        'refusal',
        lambda: probe.publish(f'/{NODE}/trajectory_in', message),
    )


def test_a_long_flexible_trajectory_leaves_the_torques_flowing(probe, start):
    node = start(NODE, {
        'robot_description': flexible_arm(),
        'torque_model': 'flexible_hybrid',
        'compute_budget': 0.01,
        'modes.step': 0.005,
    })
    filled = ready(probe, node)
    commands = probe.listen(Float64MultiArray, f'/{NODE}/commands')
    state = joint_state(('shoulder', 'elbow'), (0.1, 0.2), (0.0, 0.0))
    times = np.linspace(0.0, 1.0, 301)
    points = [
        (t, (np.sin(t), np.cos(t)), (np.cos(t), -np.sin(t)), (-np.sin(t), -np.cos(t)))
        for t in times
    ]
    probe.wait_for(lambda: commands, 'torque', lambda: probe.publish('joint_states', state))
    probe.publish(f'/{NODE}/trajectory_in', trajectory(('shoulder', 'elbow'), *points))
    commands.clear()
    probe.wait_for(
        lambda: filled, 'filled trajectory', lambda: probe.publish('joint_states', state)
    )
    assert len(commands) > 3
    assert len(filled[-1].points) == 301
    assert all(len(point.effort) == 2 for point in filled[-1].points)

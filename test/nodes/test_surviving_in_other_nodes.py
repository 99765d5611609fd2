# SPDX-License-Identifier: Apache-2.0
"""The simulator and the markers survive any message too."""

from node_processes import joint_state, trajectory
import numpy as np
import pytest
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray

pytestmark = pytest.mark.ros

NAMES = ('shoulder', 'elbow')
EXTREMES = (0.0, 1.0, -1e6, 1e10, 1e200, 1.7e308, float('nan'), float('inf'))


def numbers(random, count):
    """Return good or extreme numbers."""
    if random.random() < 0.5:
        return random.uniform(-1.0, 1.0, count).tolist()
    return random.choice(EXTREMES, count).tolist()


def test_the_markers_are_finite_or_not_drawn(active):
    from flexdyn_ros.nodes.deflection_markers_node import DeflectionMarkersNode

    random = np.random.default_rng(2)
    node = active(DeflectionMarkersNode)
    drawn = []
    node.markers.publish = drawn.append
    modes = node.robot.mode_names
    for _ in range(150):
        names = [NAMES, ('elbow',), ('shoulder', 'shoulder'), ()][random.integers(4)]
        count = len(names)
        node.joint_states[1].callback(serialize_message(
            joint_state(names, numbers(random, count), numbers(random, count))))
        if random.random() < 0.5:
            node.modal_states.callback(joint_state(modes, numbers(random, 2), ()))
        node.timer.callback()
    good = joint_state(NAMES, (0.1, 0.2), (0.0, 0.0))
    node.joint_states[1].callback(serialize_message(good))
    node.modal_states.callback(joint_state(modes, (0.0, 0.0), ()))
    drawn.clear()
    node.timer.callback()
    assert len(drawn) == 1


def test_the_simulator_stops_and_starts_again_after_a_reset(active):
    from flexdyn_ros.nodes.forward_dynamics_node import ForwardDynamicsNode
    from std_srvs.srv import Trigger

    random = np.random.default_rng(4)
    node = active(ForwardDynamicsNode, start_paused=True)
    node.thread.stop()
    node.paused = False
    commands, efforts = node.input._subscriptions[1], node.input._subscriptions[2]
    for _ in range(100):
        commands.callback(Float64MultiArray(data=numbers(random, 2)))
        efforts.callback(joint_state(NAMES, (), ()))
        node.input._subscriptions[0].callback(
            trajectory(NAMES, (0, numbers(random, 2), numbers(random, 2), ())))
    node.simulator.effort = np.array([1e200, -1e300])
    node._heard_cycle()
    assert node.failed
    response = node.calls[1].callback(Trigger.Request(), Trigger.Response())
    assert response.success
    node._heard_cycle()
    assert not node.failed
    assert np.isfinite(node.simulator.q).all()

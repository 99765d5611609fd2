# SPDX-License-Identifier: Apache-2.0
"""Topics whose values have names, as PlotJuggler shows them."""

from types import SimpleNamespace

from arms import flexible_arm
import flexdyn_ros as fd
from node_processes import joint_state
import numpy as np
import pytest

pytestmark = pytest.mark.ros
MODES = (0.02, -0.003)


def published(wrenches, listeners=1):
    """Return the dynamics, the state and messages by topic of a simulated arm."""
    from flexdyn_ros.nodes.torque.plot_topics import PlotTopics

    found = {}

    def create(_, topic, __):
        return SimpleNamespace(
            get_subscription_count=lambda: listeners,
            publish=lambda message: found.update({topic: message}))

    dyn = fd.Dynamics(fd.load_robot(flexible_arm()), backend='reference')
    q, qd = np.array([0.3, 0.5, *MODES]), np.array([0.4, -0.2, 0.1, 0.05])
    topics = PlotTopics(SimpleNamespace(create_lifecycle_publisher=create))
    topics.set_robot(
        dyn, lambda: (q, qd, np.array([3.0, -1.0, 0.0, 0.0]), wrenches), ['fore'])
    topics.publish(3_000_000_007)
    return dyn, q, qd, found


def test_torques_have_the_names_of_joints_and_terms_and_sum_up():
    wrench = {'fore': np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])}
    dyn, q, qd, found = published(wrench)
    message = found['~/torque_terms']
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (3, 7)
    terms = dict(zip(message.name, message.effort))
    assert terms['shoulder/total'] == 3.0
    assert terms['elbow/gravity'] == pytest.approx(dyn.gravity_vector(q)[1])
    tau = np.array([3.0, -1.0, 0.0, 0.0])
    inertia = dyn.inertia_vector(q, dyn.forward_dynamics(q, qd, tau, wrench))
    for k, joint in enumerate(('shoulder', 'elbow')):
        assert terms[f'{joint}/inertia'] == pytest.approx(inertia[k])
        parts = [value for name, value in terms.items()
                 if name.startswith(joint) and not name.endswith('total')]
        assert sum(parts) == pytest.approx(terms[f'{joint}/total'])


def test_tips_have_places_and_deflections_and_energies_their_kinds():
    dyn, q, qd, found = published({})
    tips = dict(zip(found['~/tip_states'].name, found['~/tip_states'].position))
    place = dyn.frame_pose(q, 'fore')[:3, 3]
    assert [tips[f'fore/{axis}'] for axis in 'xyz'] == pytest.approx(place)
    assert tips['upper/tip_z'] == pytest.approx(sum(MODES))
    energy = dict(zip(found['~/energy'].name, found['~/energy'].position))
    assert energy['kinetic'] == pytest.approx(dyn.kinetic_energy(q, qd))
    assert energy['total'] == pytest.approx(energy['kinetic'] + dyn.potential_energy(q))


def test_nothing_is_computed_where_nobody_listens():
    assert not published({}, listeners=0)[-1]


@pytest.mark.parametrize(
    'mode', ['gravity', 'rigid', 'flexible_quasi_static', 'flexible_hybrid'])
def test_the_terms_of_a_computed_torque_have_names_and_sum_up(torque_node, mode):
    made = torque_node({
        'robot_description': flexible_arm(), 'torque_model': mode, 'plot_topics': True,
        'friction_dead_band': 0.0, **({'wrench_links': ['fore']} if mode != 'gravity' else {})})
    found, listeners = [], [0]
    ((publisher, _),) = made.node.plots._publishers
    publisher.get_subscription_count = lambda: listeners[0]
    publisher.publish = found.append
    made.node._plot()
    state = joint_state(('shoulder', 'elbow'), (0.3, 0.5), (0.4, -0.2))
    state.header.stamp = made.node.get_clock().now().to_msg()
    listeners[0] = 1
    made.node._plot()
    assert not found  # before the first torque
    made.state(state)
    for wrench in made.node.feed_forward.wrenches.values():
        wrench[:] = 1.0, 2.0, 3.0, 0.1, 0.2, 0.3
    made.state(state)
    listeners[0] = 0
    made.node._plot()
    assert not found  # without a subscriber
    listeners[0] = 1
    made.node._plot()
    (message,) = found
    assert message.header.stamp == state.header.stamp
    terms = dict(zip(message.name, message.effort))
    for k, joint in enumerate(('shoulder', 'elbow')):
        assert terms[f'{joint}/total'] == pytest.approx(made.commands[-1][k])
        parts = [value for name, value in terms.items()
                 if name.startswith(joint) and not name.endswith('total')]
        assert len(parts) == 6 and sum(parts) == pytest.approx(terms[f'{joint}/total'])
        assert (abs(terms[f'{joint}/coriolis']) > 1e-3) == (mode != 'gravity')
    modes = made.node.feed_forward.state.delta
    dyn = fd.Dynamics(fd.load_robot(flexible_arm()), backend='reference')
    gravity = dyn.gravity_vector([0.3, 0.5, *modes])
    assert terms['elbow/gravity'] == pytest.approx(gravity[1])


def test_the_simulator_publishes_them_with_its_parameter(probe, start):
    from sensor_msgs.msg import JointState

    energies = probe.listen(JointState, '/forward_dynamics_node/energy', 100)
    start('forward_dynamics_node', {
        'robot_description': flexible_arm(), 'plot_topics': True, 'backend': 'reference'})
    message = probe.wait_for(lambda: energies and energies[-1], 'energy')
    assert list(message.name) == ['kinetic', 'potential', 'total']

# SPDX-License-Identifier: Apache-2.0
"""Topics of a simulated arm for PlotJuggler, whose curves have names: tips, torques, energy."""

from __future__ import annotations

from typing import Sequence

from builtin_interfaces.msg import Time
from flexdyn_ros.nodes.arm.times import NANOSECONDS
from flexdyn_ros.nodes.simulator.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.simulator.simulation_topics import doubles
from flexdyn_ros.simulation.tip_deflections import tip_deflections
import numpy as np
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState

TERMS = ('inertia', 'coriolis', 'gravity', 'friction', 'elastic', 'external', 'total')
FUNCTIONS = (
    'coriolis_vector', 'gravity_vector', 'friction_vector', 'elastic_vector', 'kinetic_energy',
    'potential_energy',
)


class PlotTopics:
    """Publishes named values of the simulated state, where a topic has subscribers."""

    def __init__(self, node: LifecycleNode):
        """Create the publishers."""
        create = node.create_lifecycle_publisher
        self._publishers = [
            (create(JointState, f'~/{name}', 10), values) for name, values in (
                ('tip_states', self._tip_states), ('torque_terms', self._torque_terms),
                ('energy', self._energy))]

    def set_robot(self, dyn, simulator: ArmSimulator, tips: Sequence[str]) -> None:
        """
        Set what is published, and compile what it needs.

        Args:
            dyn: The dynamics.
            simulator: The simulator.
            tips: Frames of ~/tip_states.
        """
        dyn.compile(*FUNCTIONS)
        self._dyn, self._simulator, self._tips = dyn, simulator, tuple(tips)

    def publish(self, when: int) -> None:
        """Publish the state of the simulator with a stamp [ns]."""
        for publisher, values in self._publishers:
            if publisher.get_subscription_count():
                message = values(self._simulator.q, self._simulator.qd)
                message.header.stamp = Time(sec=when // NANOSECONDS, nanosec=when % NANOSECONDS)
                publisher.publish(message)

    def _tip_states(self, q: np.ndarray, qd: np.ndarray) -> JointState:
        """Return places in the root frame and deflections of the tips."""
        names, _, deflections = tip_deflections(self._dyn, q[None])
        places = [self._dyn.frame_pose(q, tip)[:3, 3] for tip in self._tips]
        axes = [f'{tip}/{axis}' for tip in self._tips for axis in 'xyz']
        return JointState(
            name=[*axes, *names], position=doubles(np.concatenate([*places, deflections[0]])))

    def _torque_terms(self, q: np.ndarray, qd: np.ndarray) -> JointState:
        """Return what the torque of each joint, or the force, consists of."""
        dyn, wrenches = self._dyn, self._simulator.wrenches
        total = self._simulator.torque(q, qd)
        terms = [
            dyn.coriolis_vector(q, qd), dyn.gravity_vector(q), dyn.friction_vector(qd),
            dyn.elastic_vector(q, qd),
            dyn.external_force_vector(q, wrenches) if wrenches else 0.0 * total]
        rows = np.array([total - sum(terms), *terms, total])[:, :dyn.robot.n_joints]
        names = [f'{joint}/{term}' for joint in dyn.robot.joint_names for term in TERMS]
        return JointState(name=names, effort=doubles(rows.T.ravel()))

    def _energy(self, q: np.ndarray, qd: np.ndarray) -> JointState:
        """Return the energies, as positions for want of a field of their own."""
        kinetic, potential = self._dyn.kinetic_energy(q, qd), self._dyn.potential_energy(q)
        return JointState(name=['kinetic', 'potential', 'total'],
                          position=doubles(np.array([kinetic, potential, kinetic + potential])))

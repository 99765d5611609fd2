# SPDX-License-Identifier: Apache-2.0
"""Topics of an arm for PlotJuggler, whose curves have names: tips, torques, energy."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from builtin_interfaces.msg import Time
from flexdyn_ros.nodes.arm.times import NANOSECONDS
from flexdyn_ros.nodes.common.message_bytes import doubles
from flexdyn_ros.nodes.torque.torque_terms import force_terms, Motion, TERMS
from flexdyn_ros.simulation.tip_deflections import tip_deflections
import numpy as np
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState

TOPICS = ('tip_states', 'torque_terms', 'energy')
FUNCTIONS = (
    'coriolis_vector', 'gravity_vector', 'friction_vector', 'elastic_vector', 'kinetic_energy',
    'potential_energy',
)


class PlotTopics:
    """Publishes named values of the arm's motion, where a topic has subscribers."""

    def __init__(self, node: LifecycleNode, topics: Sequence[str] = TOPICS):
        """Create the publishers of some of TOPICS."""
        self._publishers = [
            (node.create_lifecycle_publisher(JointState, f'~/{name}', 10),
             getattr(self, f'_{name}')) for name in topics]

    def set_robot(
        self, dyn: Any, motion: Callable[[], Motion], tips: Sequence[str] = ()
    ) -> None:
        """
        Set the published robot and motion.

        Args:
            dyn: The dynamics.
            motion: Returns the present motion.
            tips: Frames of ~/tip_states.
        """
        self._dyn, self._motion, self._tips = dyn, motion, tuple(tips)

    def publish(self, when: int) -> None:
        """Publish the present motion with a stamp [ns]."""
        for publisher, message in self._publishers:
            if publisher.get_subscription_count():
                found = message(*self._motion())
                found.header.stamp = Time(sec=when // NANOSECONDS, nanosec=when % NANOSECONDS)
                publisher.publish(found)

    def _tip_states(self, q: np.ndarray, *_: Any) -> JointState:
        """Return places in the root frame and deflections of the tips."""
        names, _, deflections = tip_deflections(self._dyn, q[None])
        places = [self._dyn.frame_pose(q, tip)[:3, 3] for tip in self._tips]
        axes = [f'{tip}/{axis}' for tip in self._tips for axis in 'xyz']
        return JointState(
            name=[*axes, *names], position=doubles(np.concatenate([*places, deflections[0]])))

    def _torque_terms(self, *motion: Any) -> JointState:
        """Return the terms of the torque, or force, of each joint."""
        joints = self._dyn.robot.joint_names
        rows = force_terms(self._dyn, *motion)[:, :len(joints)]
        names = [f'{joint}/{term}' for joint in joints for term in TERMS]
        return JointState(name=names, effort=doubles(rows.T.ravel()))

    def _energy(self, q: np.ndarray, qd: np.ndarray, *_: Any) -> JointState:
        """Return the energies, as positions for want of a field of their own."""
        kinetic, potential = self._dyn.kinetic_energy(q, qd), self._dyn.potential_energy(q)
        return JointState(name=['kinetic', 'potential', 'total'],
                          position=doubles(np.array([kinetic, potential, kinetic + potential])))

# SPDX-License-Identifier: Apache-2.0
"""A slow motion to and fro of a simulated arm, and the reference of its inverse dynamics."""

from __future__ import annotations

import math
from typing import Any, Sequence

from builtin_interfaces.msg import Time
from flexdyn_ros.nodes.arm.times import NANOSECONDS
from flexdyn_ros.nodes.common.message_bytes import doubles
from flexdyn_ros.nodes.simulator.arm_simulator import ArmSimulator
import numpy as np
from rclpy.lifecycle import LifecycleNode
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

TOPIC = '~/swing_reference'
ROOM = 0.8  # part of the way to a position limit that the motion may use
BANDWIDTH = 3.0  # of the joint controller, in multiples of the frequency of the motion


def signed_amplitude(position: float, lower: float, upper: float, amplitude: float) -> float:
    """
    Return the amplitude of a joint, away from the nearer limit.

    Args:
        position: Position at the start [rad | m].
        lower: Lower position limit [rad | m].
        upper: Upper position limit [rad | m].
        amplitude: Wanted amplitude [rad | m].
    """
    up, down = max(0.0, upper - position), max(0.0, position - lower)
    return min(amplitude, ROOM * up) if up >= down else -min(amplitude, ROOM * down)


def swing_gains(
    dyn: Any, joints: Sequence[str], period: float
) -> tuple[list[float], list[float]]:
    """
    Return kp and kd of a joint controller that follows a swing, critically damped.

    The inertia is that of each joint alone at the neutral configuration.

    Args:
        dyn: The dynamics.
        joints: The commanded joints.
        period: Time to and fro [s].
    """
    robot = dyn.robot
    inertia = np.diag(dyn.mass_matrix(robot.neutral_configuration()))
    bandwidth = BANDWIDTH * 2.0 * math.pi / period
    own = [float(inertia[robot.joint_names.index(name)]) for name in joints]
    return [bandwidth**2 * each for each in own], [2.0 * bandwidth * each for each in own]


class SwingMotion:
    """A motion that leads each joint from its initial position and back, again and again."""

    def __init__(self, start: np.ndarray, amplitudes: np.ndarray, period: float):
        """
        Prepare.

        Args:
            start: Positions at rest, shape (n,) [rad | m].
            amplitudes: Amplitude of each joint, shape (n,) [rad | m].
            period: Time to and fro [s].
        """
        self._start = start
        self._half = 0.5 * amplitudes
        self._rate = 2.0 * math.pi / period

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return positions q0 + a (1 - cos w t) / 2, velocities and accelerations, (n,) each.

        Args:
            time: Since the start [s].
        """
        phase = self._rate * time
        return (
            self._start + self._half * (1.0 - math.cos(phase)),
            self._half * (self._rate * math.sin(phase)),
            self._half * (self._rate**2 * math.cos(phase)),
        )


class SwingReference:
    """Leads the joint controller of a simulator along a SwingMotion, and publishes it."""

    def __init__(self, node: LifecycleNode):
        """
        Create the publisher.

        Args:
            node: The node.
        """
        self._publisher = node.create_lifecycle_publisher(JointTrajectory, TOPIC, 1)
        self._simulator: Any = None

    def set_arm(
        self, robot: Any, simulator: ArmSimulator, amplitude: float, period: float
    ) -> Sequence[str]:
        """
        Set the joints that swing about their present positions, and return their names.

        Args:
            robot: The robot.
            simulator: The simulator.
            amplitude: Amplitude [rad | m]; 0 for no reference.
            period: Time to and fro [s].
        """
        limits = {name: joint.limit for joint in robot.joints for name in joint.coordinate_names}
        places = simulator.coordinates.places
        self._names = [name for name in simulator.joints if name in places]
        self._controlled = [simulator.joints.index(name) for name in self._names]
        start = simulator.q[[places[name][0] for name in self._names]]
        amplitudes = [
            signed_amplitude(
                position, _or(limits[name].lower, -math.inf), _or(limits[name].upper, math.inf),
                amplitude)
            for name, position in zip(self._names, start)
        ]
        self._motion = SwingMotion(start, np.array(amplitudes), period)
        self._simulator = simulator if amplitude else None
        return self._names if amplitude else ()

    def publish(self, when: int) -> None:
        """
        Lead the controller, and publish the reference for the state of the simulator.

        Args:
            when: Stamp of the state [ns].
        """
        simulator = self._simulator
        if simulator is None:
            return
        q, qd, qdd = self._motion.at(simulator.time)
        simulator.controller.position[self._controlled] = q
        simulator.controller.velocity[self._controlled] = qd
        # Positions and velocities are left to be measured: gravity is that of the measured
        # position.
        point = JointTrajectoryPoint(accelerations=doubles(qdd))
        message = JointTrajectory(joint_names=self._names, points=[point])
        message.header.stamp = Time(sec=when // NANOSECONDS, nanosec=when % NANOSECONDS)
        self._publisher.publish(message)


def _or(value: Any, otherwise: float) -> float:
    return otherwise if value is None else value

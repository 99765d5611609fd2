# SPDX-License-Identifier: Apache-2.0
"""All that was heard during one run, and what follows from it."""

from __future__ import annotations

from typing import Any

from flexdyn_ros.demo import plan
from flexdyn_ros.demo.topic_log import Series
from flexdyn_ros.demo.topic_log import TopicLog
import numpy as np

MOTOR = '_motor'  # suffix of the motor side of an elastic joint in joint_states


class Recording:
    """
    What was heard.

    Attributes:
        run: The run.
        states: Positions, velocities and efforts of the joints.
        arrivals: Times of their arrival, on a system clock [s].
        modes: Modal positions and rates.
        tips: Position of the tip [m].
        torques: Feed-forward torques [N m].
        marker_messages: Serialised MarkerArrays.
        errors: Errors that diagnostics reported.
    """

    def __init__(self, run: plan.Run):
        self.run = run
        self.states = Series()
        self.arrivals: list[float] = []
        self.modes = Series()
        self.tips = Series()
        self.torques = Series()
        self.marker_messages: list[bytes] = []
        self.errors: list[str] = []
        self.logs: dict[str, TopicLog] = {}

    def log(self, topic: str, kind: str) -> TopicLog:
        """Return the log of a topic, a new one."""
        self.logs[topic] = TopicLog(topic, kind)
        return self.logs[topic]

    def hears_simulator(self) -> bool:
        """Return whether something has been heard on each topic of the simulator."""
        topics = (plan.STATES, plan.MODES, plan.TIPS, 'clock')
        return all(self.logs[f'/{topic}'].count for topic in topics)

    @property
    def started(self) -> bool:
        """Whether the simulation has moved."""
        return len(self.states) > 1

    def add_state(self, stamp: int, message: Any, now: float) -> None:
        """Keep a sensor_msgs/JointState."""
        self.states.add(stamp, message.name, message.position, message.velocity, message.effort)
        self.arrivals.append(now)

    @property
    def real_time(self) -> float:
        """
        Real time between the first moved state and the last one [s].

        The arm stands at its initial state until all processes are there.
        """
        return self.arrivals[-1] - self.arrivals[1] if self.started else 0.0

    @property
    def simulated_time(self) -> float:
        """Simulated time that was recorded [s]."""
        times = self.states.times
        return float(times[-1] - times[0]) if len(times) else 0.0

    @property
    def real_time_factor(self) -> float:
        """Simulated over real time [1]."""
        moved = self.simulated_time - 1.0 / self.run.rate
        return moved / self.real_time if self.real_time > 0.0 else 0.0

    def positions(self) -> np.ndarray:
        """Return controlled positions, motor side of elastic joints, (n, joints) [rad]."""
        return self._part(0)

    def velocities(self) -> np.ndarray:
        """Return the velocities of what `positions` returns, (n, joints) [rad/s]."""
        return self._part(1)

    def efforts(self) -> np.ndarray:
        """Return the torques of drive and controller together, (n, joints) [N m]."""
        return self._part(2)

    def _part(self, number: int) -> np.ndarray:
        names = self.states.names
        wanted = [
            names.index(joint + MOTOR if joint + MOTOR in names else joint)
            for joint in self.run.demo_robot.joints
        ]
        return self.states.values[:, [number * len(names) + column for column in wanted]]

    def reference(self) -> np.ndarray:
        """Return the desired positions at the times of the states, (n, joints) [rad]."""
        motion = self.run.motion
        return np.array([motion.at(time)[0] for time in self.states.times])

    def tracking_error(self) -> np.ndarray:
        """Return position minus desired position, (n, joints) [rad]."""
        return self.positions() - self.reference()

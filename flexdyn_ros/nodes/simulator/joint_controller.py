# SPDX-License-Identifier: Apache-2.0
"""The joint controller of a simulated arm."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.times import seconds
from flexdyn_ros.simulation.torque_laws import PiecewisePolynomial, TorqueLaw
import numpy as np


class JointController:
    """
    The robot's own joint controller: proportional and derivative, on the motor side.

    Attributes:
        kp: Proportional gains, shape (n,) [N m/rad | N/m].
        kd: Derivative gains, shape (n,) [N m s/rad | N s/m].
        position: Desired positions, shape (n,) [rad | m].
        velocity: Desired velocities, shape (n,) [rad/s | m/s].
        trajectory: Desired positions by simulated time [s], or None.
    """

    def __init__(self, kp: Sequence[float], kd: Sequence[float], count: int):
        """
        Set the gains.

        Args:
            kp: One for each joint, one for all, or none.
            kd: The same.
            count: Number of joints.

        Raises:
            FlexdynError: The number of gains does not fit.
        """
        for name, gains in (('pd.kp', kp), ('pd.kd', kd)):
            if len(gains) not in (0, 1, count):
                raise FlexdynError(
                    f'{name} has {len(gains)} gains for {count} joints. Give one for each.')
        self.kp = np.resize(np.array(kp or (0.0,), dtype=float), count)
        self.kd = np.resize(np.array(kd or (0.0,), dtype=float), count)
        self.position = np.zeros(count)
        self.velocity = np.zeros(count)
        self.trajectory: Optional[PiecewisePolynomial] = None

    def follow(self, message: Any, joints: Sequence[str], now: float) -> None:
        """
        Follow a trajectory from now on, cubic between its points, from the desired positions.

        Args:
            message: Fields as trajectory_msgs/JointTrajectory; joints that it omits stay.
            joints: The controlled joints.
            now: Simulated time [s].

        Raises:
            FlexdynError: A name is unknown or comes twice, times do not rise, or a number is
                missing.
        """
        if not self.kp.any():
            raise FlexdynError('a trajectory needs a joint controller: set pd.kp and pd.kd.')
        if len(set(message.joint_names)) != len(message.joint_names):
            raise FlexdynError('a trajectory names a joint more than once. Keep one.')
        try:
            columns = [list(joints).index(name) for name in message.joint_names]
            t = [0.0, *(seconds(point.time_from_start) for point in message.points)]
            places, rates = np.zeros((2, len(t), len(joints)))
            places[:] = self.position
            places[1:, columns] = [point.positions for point in message.points]
            rates[1:, columns] = [point.velocities for point in message.points]
        except ValueError as error:
            raise FlexdynError(
                'a trajectory must have known joints, and positions and velocities of each in '
                'every '
                f'point: {error}.') from None
        first = int(len(t) > 1 and t[1] == 0.0)
        if len(t) < 2 or not (np.diff(t[first:]) > 0.0).all() or not (
                np.isfinite(places).all() and np.isfinite(rates).all()):
            raise FlexdynError('a trajectory must have rising times and finite numbers.')
        self.trajectory = PiecewisePolynomial.through(
            now + np.array(t[first:]), places[first:], rates[first:], 'cubic')

    def move(self, time: float) -> None:
        """Take the desired state from the trajectory at a simulated time [s], if there is one."""
        if self.trajectory is not None:
            self.position, self.velocity = self.trajectory(time)

    @property
    def push(self) -> np.ndarray:
        """Return the torques at zero positions and velocities, shape (n,) [N m | N]."""
        return self.kp * self.position + self.kd * self.velocity

    def law(self, size: int, of_q: np.ndarray, of_v: np.ndarray) -> Optional[TorqueLaw]:
        """
        Return the torques besides `push` as a law, or None where there are none.

        Args:
            size: Number of velocities.
            of_q: Places of the joints' positions in q, shape (n,).
            of_v: Places of their velocities in qd, shape (n,).
        """
        if not (self.kp.any() or self.kd.any()):
            return None
        law, count = TorqueLaw(size), len(of_v)
        law.of_q, law.of_v, law.kp, law.kd = of_q, of_v, self.kp, self.kd
        law.ki = np.zeros(count)
        law.reference = PiecewisePolynomial(np.array([0.0, 1.0]), np.zeros((1, 1, count)))
        return law

    def torque(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return kp (desired - q) + kd (desired rate - qd), shape (n,) [N m | N]."""
        return self.kp * (self.position - q) + self.kd * (self.velocity - qd)

# SPDX-License-Identifier: Apache-2.0
"""The desired state that a controller sends along: the last point of a trajectory message."""

from __future__ import annotations

from typing import Container, Mapping, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.arm_coordinates import Place
from flexdyn_ros.nodes.arm.joint_motion import JointSample
import numpy as np


class ReferenceRefused(FlexdynError):
    """A reference message does not fit the robot or is not finite."""

    def __init__(self, problem: str):
        super().__init__(f'Reference refused: {problem}. Correct its publisher.')


class Reference:
    """
    Desired positions, velocities and accelerations; missing values are measured, or zero.

    Positions and velocities that a message leaves out, and joints that it does not name, keep
    their measured values. Accelerations that it leaves out are zero.
    """

    def __init__(
        self, message, places: Mapping[str, Place], follows: Container[str] = ()
    ):
        """
        Read a message.

        Args:
            message: Fields as trajectory_msgs/JointTrajectory, at least one point.
            places: Places of joints' positions and velocities in joint vectors.
            follows: Joints that follow the loops.

        Raises:
            ReferenceRefused: A name is unknown, all joints are passive ones of loops, a vector
                has the wrong length or is not finite.
        """
        unknown = [name for name in message.joint_names if name not in places]
        if unknown:
            raise ReferenceRefused(f'unknown joints {", ".join(unknown)}')
        names = list(message.joint_names)
        if len(set(names)) != len(names):
            raise ReferenceRefused('it names a joint more than once')
        if names and all(name in follows for name in names):
            raise ReferenceRefused(
                f'the loops determine {", ".join(names)}; name the actuated joints')
        self._positions_at = [places[name][0] for name in message.joint_names]
        self._columns = [places[name][1] for name in message.joint_names]
        point = message.points[-1]
        self._positions = self._read(point, 'positions')
        self._velocities = self._read(point, 'velocities')
        self._accelerations = self._read(point, 'accelerations')

    def _read(self, point, field: str) -> Optional[np.ndarray]:
        values = np.array(getattr(point, field), dtype=float)
        if len(values) == 0:
            return None
        if len(values) != len(self._columns) or not np.all(np.isfinite(values)):
            raise ReferenceRefused(
                f'{field} must be empty or {len(self._columns)} finite numbers, got '
                f'{values.tolist()}')
        return values

    def over(self, measured: JointSample) -> JointSample:
        """
        Return the measured joint motion with the desired values in place.

        Args:
            measured: Measured joint motion.
        """
        q, qd, qdd = measured.q.copy(), measured.qd.copy(), measured.qdd.copy()
        qdd[self._columns] = 0.0
        for target, columns, values in (
            (q, self._positions_at, self._positions),
            (qd, self._columns, self._velocities),
            (qdd, self._columns, self._accelerations),
        ):
            if values is not None:
                target[columns] = values
        return JointSample(measured.time, q, qd, qdd)

    @property
    def velocity_columns(self) -> list[int]:
        """Index of each joint velocity that the message gives."""
        return [] if self._velocities is None else self._columns

    def positions_and_velocities(self, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """
        Return desired positions and velocities, each of shape (n_joints,).

        Args:
            held: Positions of joints that the message leaves out; velocities left out are zero.
        """
        rest = np.zeros(len(held))
        desired = self.over(JointSample(0.0, np.array(held), rest, rest))
        return desired.q, desired.qd

# SPDX-License-Identifier: Apache-2.0
"""From a trajectory message to one with corrected positions."""

from __future__ import annotations

from array import array
from typing import Any, Optional

from flexdyn_ros.nodes.arm.times import NANOSECONDS, seconds
from flexdyn_ros.nodes.common.run_time_model import Values
from flexdyn_ros.position_correction import (
    corrected_positions,
    CorrectedMotion,
    CorrectionChoices,
    CorrectionRefused,
    TrajectoryPoints,
)
from flexdyn_ros.position_correction.motor_motion import prepare
import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def choices_of(values: Values) -> CorrectionChoices:
    """Return the choices that the parameters `correction.*` make."""
    given = {
        name: values[f'correction.{name}'] for name in CorrectionChoices.__dataclass_fields__}
    given['max_acceleration'] = given['max_acceleration'] or None
    given['outputs'] = tuple(given['outputs'])
    return CorrectionChoices(**given)


def set_up_problem(measured_side: str) -> Optional[str]:
    """Return why positions cannot be corrected with what joint states carry, or None."""
    if measured_side == 'motor':
        return None
    return ('corrected positions are those of motors: they need measured_side motor, since '
            'commands of the link side are not known')


def trajectory_points(message: Any) -> TrajectoryPoints:
    """
    Return the points of a message, checked.

    Args:
        message: Fields as trajectory_msgs/JointTrajectory.

    Raises:
        CorrectionRefused: Naming the point and the fault of it.
    """
    count = len(message.joint_names)
    if not count or not message.points:
        raise CorrectionRefused('it has no joints or no points. Add them')
    rows = {}
    for field in ('positions', 'velocities', 'accelerations'):
        lengths = [len(getattr(point, field)) for point in message.points]
        if field != 'positions' and not any(lengths):
            continue
        wrong = next((k for k, length in enumerate(lengths) if length != count), None)
        if wrong is not None:
            raise CorrectionRefused(
                f'point {wrong} has {lengths[wrong]} {field}, expected {count}, one a joint')
        rows[field] = np.array([getattr(point, field) for point in message.points])
        if not np.isfinite(rows[field]).all():
            wrong = int(np.flatnonzero(~np.isfinite(rows[field]).all(axis=1))[0])
            raise CorrectionRefused(
                f'point {wrong} has {field} that are not finite. Check its source')
    t = np.array([seconds(point.time_from_start) for point in message.points])
    late = np.flatnonzero(np.diff(t) <= 0.0)
    if t[0] < 0.0 or len(late):
        wrong = int(late[0]) + 1 if len(late) else 0
        raise CorrectionRefused(
            f'point {wrong} is not later than the one before. Order them by time')
    if 'velocities' not in rows:
        rows.pop('accelerations', None)
    return TrajectoryPoints(t, **rows)


def trajectory_message(motion: CorrectedMotion, header: Any) -> JointTrajectory:
    """Return the trajectory of the motors, with a header."""
    message = JointTrajectory(header=header, joint_names=list(motion.names))
    for t, *values in zip(motion.t, motion.positions, motion.velocities, motion.accelerations):
        point = JointTrajectoryPoint()
        point.positions, point.velocities, point.accelerations = (
            array('d', each) for each in values)
        set_duration(point.time_from_start, t)
        message.points.append(point)
    return message


def set_duration(duration: Any, t: float) -> None:
    """Write a time [s] into a builtin_interfaces/Duration."""
    duration.sec, duration.nanosec = divmod(round(t * NANOSECONDS), NANOSECONDS)


class PositionCorrection:
    """
    Corrects trajectories for one arm.

    Attributes:
        dyn: Its dynamics, with the present payload and gravity.
    """

    def __init__(self, dyn: Any, values: Values):
        """
        Prepare, so that code is compiled before the first trajectory comes.

        Args:
            dyn: The dynamics.
            values: Parameter values.

        Raises:
            FlexdynError: The robot is not supported.
        """
        self.dyn = dyn
        self._arm = prepare(dyn, values['correction.frame'], values['correction.outputs'])

    def standing(self, motors: np.ndarray) -> np.ndarray:
        """Return the joints of the rigid arm that stands where the motors hold the elastic one."""
        return self._arm.rigid_positions(motors)

    def corrected(self, message: Any, command: np.ndarray, values: Values) -> CorrectedMotion:
        """
        Return the corrected motion of a trajectory.

        Args:
            message: Fields as trajectory_msgs/JointTrajectory.
            command: Present positions of the motors, (n_joints,) [rad | m].
            values: Parameter values.

        Raises:
            FlexdynError: Naming why there is none.
        """
        points = trajectory_points(message)
        return corrected_positions(
            self.dyn, message.joint_names, points, command, choices_of(values))

# SPDX-License-Identifier: Apache-2.0
"""From a trajectory message to one with corrected positions, in a thread."""

from __future__ import annotations

from array import array
from copy import deepcopy
from threading import Lock, Thread
import time
from typing import Any, Callable, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.times import NANOSECONDS, seconds
from flexdyn_ros.nodes.common.run_time_model import Values
from flexdyn_ros.position_correction import (
    corrected_positions,
    CorrectedMotion,
    CorrectionChoices,
    CorrectionRefused,
    TrajectoryPoints,
)
from flexdyn_ros.position_correction.motor_motion import ElasticArm, prepare
import numpy as np
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

POLL = 0.005  # between looks at a thread [s]
MOST_POINTS = 20_000  # of a trajectory: reading more holds Python for long


def choices_of(values: Values) -> CorrectionChoices:
    """Return the choices that the parameters `correction.*` make."""
    given = {
        name: values[f'correction.{name}'] for name in CorrectionChoices.__dataclass_fields__}
    given['max_acceleration'] = given['max_acceleration'] or None
    given['outputs'] = tuple(given['outputs'])
    return CorrectionChoices(**given)


def set_up_problem(measured_side: str) -> Optional[str]:
    """Return the reason why joint states do not permit corrected positions, or None."""
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
    if len(message.points) > MOST_POINTS:
        raise CorrectionRefused(
            f'it has {len(message.points)} points, more than {MOST_POINTS}. Send fewer')
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
    Corrects trajectories for one arm, in a thread, one at a time, and each in a limited time.

    The thread has a copy of the dynamics with the loads of the moment. One that is cancelled ends
    at the next step of its work; the next trajectory waits for that.

    Attributes:
        dyn: The dynamics, with the present payload and gravity.
    """

    def __init__(self, node: Any):
        """
        Prepare, so that code is compiled before the first trajectory comes.

        Args:
            node: A RobotNode whose robot is loaded.

        Raises:
            FlexdynError: The robot is not supported.
        """
        self._node, self.dyn, p = node, node.dyn, node.parameters
        prepare(self.dyn, p['correction.frame'], p['correction.outputs'])
        self._work: Optional[_Work] = None
        self._lock = Lock()

    def standing(self, motors: np.ndarray) -> np.ndarray:
        """Return the joints of the rigid arm that stands where the motors hold the elastic one."""
        p = self._node.parameters
        # As a trajectory from there: components of the tip are chosen at its start.
        arm = ElasticArm(self.dyn, p['correction.frame'], p['correction.outputs'], motors)
        return arm.rigid_positions(motors)

    def corrected(self, message: Any, command: Callable[[], np.ndarray]) -> Future:
        """
        Return a future of the corrected motion of a trajectory, which may raise a FlexdynError.

        Args:
            message: Fields as trajectory_msgs/JointTrajectory.
            command: Returns the present positions of the motors, (n_joints,) [rad | m]. They must
                be the same in the end.

        Raises:
            FlexdynError: The present command is not known.
        """
        self.cancel('a newer one replaces it')
        node, first = self._node, command()
        choices, limit = choices_of(node.parameters), node.parameters['correction.timeout']
        work = _Work(deepcopy(self.dyn), message, first, choices, self._lock)
        deadline = time.monotonic() + limit

        def poll() -> None:
            if work.is_alive():
                if time.monotonic() > deadline:
                    work.given_up = (f'its correction takes more than correction.timeout {limit:g}'
                                     ' s. Divide it, or send fewer points')
                if not work.given_up:
                    return
            elif not work.given_up and work.motion is not None:
                try:
                    moved = float(np.abs(command() - first).max())
                    if moved > choices.start_tolerance:
                        work.given_up = (
                            f'the command has moved by {moved:.3g} since it was received. '
                            'Send it again when the arm rests')
                except FlexdynError as error:
                    work.error = error
            node.destroy_timer(timer)
            if self._work is work:
                self._work = None
            if work.given_up:
                work.error = CorrectionRefused(work.given_up)
            if work.error is not None:
                work.answer.set_exception(work.error)
            else:
                work.answer.set_result(work.motion)

        self._work = work
        work.start()
        timer = node.create_steady_timer(POLL, poll)
        return work.answer

    def cancel(self, why: str) -> None:
        """Cancel the trajectory that is being corrected."""
        if self._work is not None:
            self._work.given_up = why


class _Work(Thread):
    """One trajectory, with its motion or an error at the end."""

    def __init__(self, dyn: Any, message: Any, command: np.ndarray, choices: CorrectionChoices,
                 lock: Lock):
        super().__init__(name='correction', daemon=True)
        self._given, self._lock = (dyn, message, command, choices), lock
        self.answer: Future = Future()
        self.motion: Optional[CorrectedMotion] = None
        self.error: Optional[Exception] = None
        self.given_up = ''

    def run(self) -> None:
        dyn, message, command, choices = self._given
        try:
            with self._lock:
                self._proceed()
                self.motion = corrected_positions(
                    dyn, message.joint_names, trajectory_points(message), command, choices,
                    self._proceed)
            if len(self.motion.t) > MOST_POINTS:
                raise CorrectionRefused(
                    f'the answer has {len(self.motion.t)} points, more than {MOST_POINTS}. '
                    'Raise correction.sample_period')
        except Exception as error:  # for the waiting thread
            self.error = error

    def _proceed(self, fraction: float = 0.0) -> None:
        if self.given_up:
            raise CorrectionRefused(self.given_up)

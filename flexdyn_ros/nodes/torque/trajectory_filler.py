# SPDX-License-Identifier: Apache-2.0
"""
Fills the efforts of a trajectory, for a controller that adds them to its feedback.

It works on any object with the fields of trajectory_msgs/JointTrajectory, a point at a time. A
node can thus spread a long trajectory over several cycles.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Callable, Iterator, Optional, Sequence

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.joint_motion import JointMotion, JointSample
from flexdyn_ros.nodes.arm.modal_integrator import VibratingArm
from flexdyn_ros.nodes.arm.times import seconds
from flexdyn_ros.nodes.torque.driven_joints import EffortLimits
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.simulation.joint_motions import quintic_coefficients
import numpy as np

FIELDS = ('positions', 'velocities', 'accelerations')


class TrajectoryRefused(FlexdynError):
    """A trajectory is incomplete or invalid for the torque."""

    def __init__(self, problem: str):
        self.problem = problem
        super().__init__(f'Trajectory refused: {problem}. Correct its publisher.')


def quintic_motion(start: JointSample, end: JointSample) -> JointMotion:
    """
    Return the motion of fifth degree that meets both samples in position, velocity, acceleration.

    Args:
        start: First sample.
        end: Last sample, at a later time.
    """
    span = end.time - start.time
    c5, c4, c3, c2, c1, c0 = quintic_coefficients(
        (start.q, start.qd, start.qdd), (end.q, end.qd, end.qdd), span)

    def motion(time: float) -> JointSample:
        s = (time - start.time) / span
        q = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
        qd = (c1 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / span
        qdd = (2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / span**2
        return JointSample(time, q, qd, qdd)

    return motion


class TrajectoryFiller:
    """
    One trajectory on its way from empty to filled efforts.

    In mode flexible_hybrid the modes start at the quasi-static deflection of the first point and
    are integrated along motions of fifth degree between the points. The other modes look at each
    point alone.

    Attributes:
        filled: The trajectory, whose points get their efforts one after the other.
        saturated: Number of points by joint whose effort was saturated.
    """

    def __init__(
        self,
        trajectory,
        feed_forward: FeedForward,
        make_limits: Callable[[Sequence[str]], EffortLimits],
        rest: Optional[np.ndarray],
    ):
        """
        Check a trajectory.

        Args:
            trajectory: Fields as trajectory_msgs/JointTrajectory.
            feed_forward: Computes the torques; its modal state is reset.
            make_limits: Returns the saturation of the torques of these joints.
            rest: Measured joint positions, shape (n_positions,), used (at rest) for joints that
                the trajectory omits; None while they are not known. Passive joints of loops need
                not be known.

        Raises:
            TrajectoryRefused: A name is unknown, or a joint's position is not known.
        """
        self.filled = trajectory
        self.saturated: Counter[str] = Counter()
        self._feed_forward = feed_forward
        coordinates = feed_forward.coordinates
        robot_joints = tuple(coordinates.places)
        names = list(trajectory.joint_names)
        unknown = [name for name in names if name not in robot_joints]
        if unknown or len(set(names)) != len(names):
            raise TrajectoryRefused(
                f'joint_names {", ".join(names)} must each name one of {", ".join(robot_joints)}'
            )
        left_out = [name for name in robot_joints if name not in names]
        left_out += [joint.name for joint in coordinates.multi_dof]
        missing = [name for name in left_out if name not in feed_forward.base.follows]
        if missing and rest is None:
            raise TrajectoryRefused(
                f'it omits {", ".join(missing)}, whose joint states are missing too'
            )
        self._columns = coordinates.columns(names)
        self._positions_at = [coordinates.places[name][0] for name in names]
        self._limits = make_limits(names)
        self._rest = feed_forward.base.rest_positions if rest is None else rest.copy()
        self._following = [
            coordinates.places[name][0] for name in left_out
            if name in coordinates.places and name in feed_forward.base.follows
        ]

    def _checked(self) -> Iterator[int]:
        """Check one point after the other, yielding after each."""
        time = -np.inf
        for number, point in enumerate(self.filled.points):
            for field in FIELDS:
                values = getattr(point, field)
                if len(values) != len(self._columns):
                    raise TrajectoryRefused(
                        f'point {number} has {len(values)} {field}, expected '
                        f'{len(self._columns)}, one a joint'
                    )
                if not np.all(np.isfinite(values)):
                    raise TrajectoryRefused(f'point {number} has {field} that are not finite')
            if seconds(point.time_from_start) <= time:
                raise TrajectoryRefused(f'point {number} is not later than the previous one')
            time = seconds(point.time_from_start)
            yield 0

    def _sample(self, point) -> JointSample:
        q = self._rest.copy()
        # After the first point, passive joints of loops start from those of the point before.
        self._rest[self._following] = np.nan
        qd = np.zeros(self._feed_forward.coordinates.n_joints)
        qdd = qd.copy()
        q[self._positions_at] = point.positions
        qd[self._columns] = point.velocities
        qdd[self._columns] = point.accelerations
        return JointSample(seconds(point.time_from_start), q, qd, qdd)

    def steps(self) -> Iterator[int]:
        """
        Fill one point after the other; with vibrating modes each step of them is one of its own.

        Yields:
            The number of points done; zero for each that is checked before.

        Raises:
            TrajectoryRefused: A point lacks positions, velocities or accelerations, or is not
                later than the one before.
        """
        yield from self._checked()
        self._feed_forward.reset()
        arm, previous = self._feed_forward.arm, None
        for number, point in enumerate(self.filled.points):
            sample = self._sample(point)
            if previous is None or not isinstance(arm, VibratingArm):
                torque = self._feed_forward.torque(sample)
            else:
                for _ in arm.stepwise(quintic_motion(previous, sample), sample.time):
                    yield number
                torque = self._feed_forward.torque_with(sample, arm.state)
            if not np.isfinite(torque).all():
                raise TrajectoryRefused(f'the effort at {sample.time:g} s is not finite')
            effort, names = self._limits.saturate(torque[self._columns])
            self.saturated.update(names)
            point.effort = array('d', effort)
            previous = sample
            yield number + 1

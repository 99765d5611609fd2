# SPDX-License-Identifier: Apache-2.0
"""The measured state of all joints, from joint_states and multi_dof_joint_states."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any
from typing import Optional
from typing import Sequence

from flexdyn_ros.nodes.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.joint_state_cache import JointStateCache
from flexdyn_ros.nodes.joint_state_cache import unfit_length
from flexdyn_ros.nodes.joint_state_cache import why_unusable
from flexdyn_ros.nodes.multi_dof_joint import MultiDofJoint
from flexdyn_ros.nodes.ros_time import nanoseconds
import numpy as np

JOINT_STATES = 'joint_states'
MULTI_DOF = 'multi_dof_joint_states'
UNIT_TOLERANCE = 1e-2  # by which the length of a quaternion may differ from 1


@dataclass
class MultiDofEntry:
    """
    What is known of one joint with a transform.

    Attributes:
        joint: The joint.
        q: Its last valid positions.
        qd: Its last valid velocities.
        received: Steady time of their arrival [s]; None before the first.
        problem: What is wrong with the newest message on this joint, or None.
    """

    joint: MultiDofJoint
    q: Optional[np.ndarray] = None
    qd: Optional[np.ndarray] = None
    received: Optional[float] = None
    problem: Optional[str] = None

    def take(self, transform: Any, twist: Any, need_twist: bool, received: float) -> None:
        """
        Take over a transform and a twist, None where a message has none.

        Args:
            transform: Fields as geometry_msgs/Transform.
            twist: Fields as geometry_msgs/Twist.
            need_twist: Whether the joint is unusable without a twist.
            received: Steady time of arrival [s].
        """
        self.problem = _transform_problem(transform)
        moving = np.zeros(6) if twist is None else _numbers(twist.linear, twist.angular)
        if self.problem is None and need_twist:
            self.problem = None if twist is not None else 'twist is missing'
        if self.problem is None and not np.all(np.isfinite(moving)):
            self.problem = f'twist is {moving.tolist()}'
        if self.problem is not None:
            return
        turn = transform.rotation
        quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
        quaternion /= np.linalg.norm(quaternion)
        place = _numbers(transform.translation)
        self.q = self.joint.positions_of(place, quaternion, self.q)
        self.qd = self.joint.velocities_of(self.q, moving[:3], moving[3:])
        self.received = received


def _numbers(*vectors: Any) -> np.ndarray:
    return np.array([value for vector in vectors for value in (vector.x, vector.y, vector.z)])


def _transform_problem(transform: Any) -> Optional[str]:
    if transform is None:
        return 'transform is missing'
    turn = transform.rotation
    numbers = [*_numbers(transform.translation, turn), turn.w]
    if not all(map(math.isfinite, numbers)):
        return f'transform is {numbers}'
    if abs(math.hypot(*numbers[3:]) - 1.0) > UNIT_TOLERANCE:
        return f'rotation {numbers[3:]} is no unit quaternion'
    return None


class MeasuredState:
    """
    Positions and velocities of all joints.

    Attributes:
        names: The names that must be heard, in either topic.
        unknown: Names met in messages that are not needed.
    """

    def __init__(
        self,
        coordinates: ArmCoordinates,
        need_velocity: bool = True,
        optional: Sequence[str] = (),
    ):
        """
        Know nothing yet.

        Args:
            coordinates: The coordinates of the robot.
            need_velocity: Whether a joint without velocity is unusable.
            optional: Joints whose state may be missing, as something else tells it.
        """
        self._coordinates = coordinates
        self._need_velocity = need_velocity
        self._single = JointStateCache(
            tuple(coordinates.places), need_velocity, coordinates.preferred_names, optional
        )
        self._optional = frozenset(optional)
        self._entries = {joint.name: MultiDofEntry(joint) for joint in coordinates.multi_dof}
        self.names = (*self._single.names, *self._entries)
        self.unknown = self._single.unknown
        self._stamps: dict[str, int] = {}
        self._newest = ''
        self._paired = False

    def take_joint_states(self, message: Any, received: float) -> Optional[str]:
        """
        Take over a message.

        Args:
            message: Fields as sensor_msgs/JointState.
            received: Steady time of arrival [s].

        Returns:
            Why the whole message was dropped, or None.
        """
        self._note(JOINT_STATES, message)
        return self._single.update(message.name, message.position, message.velocity, received)

    def take_multi_dof(self, message: Any, received: float) -> Optional[str]:
        """Take over a message with fields as sensor_msgs/MultiDOFJointState, like the other."""
        self._note(MULTI_DOF, message)
        names = message.joint_names
        for label in ('transforms', 'twist'):
            unfit = unfit_length(MULTI_DOF, label, getattr(message, label), names)
            if unfit:
                return unfit
        for index, name in enumerate(names):
            if name not in self._entries:
                self.unknown.add(name)
                continue
            transform = message.transforms[index] if message.transforms else None
            twist = message.twist[index] if message.twist else None
            self._entries[name].take(transform, twist, self._need_velocity, received)
        return None

    def _note(self, topic: str, message: Any) -> None:
        stamp = nanoseconds(message.header.stamp)
        self._newest = topic
        self._stamps[topic] = stamp
        self._paired |= self._stamps.get(JOINT_STATES) == self._stamps.get(MULTI_DOF)

    @property
    def whole(self) -> bool:
        """
        Whether the newest messages make up one state, to be worked with now.

        Where both topics come under the same stamps, as from a simulator, that is when both have
        come; elsewhere it is at each joint_states, and what the other topic said last stands.
        """
        if not self._entries:
            return True
        if self._paired:
            return self._stamps[JOINT_STATES] == self._stamps[MULTI_DOF]
        return self._newest == JOINT_STATES or not self._single.names

    def problems(self, now: float, timeout: float) -> dict[str, str]:
        """
        Return, for each joint that is needed and cannot be used now, the reason.

        Args:
            now: Steady time [s].
            timeout: Age from which a state is stale [s].
        """
        found = self._single.problems(now, timeout)
        for name, entry in self._entries.items():
            why = why_unusable(entry.problem, entry.received, now, timeout)
            if why and name not in self._optional:
                found[name] = why
        return found

    def without_left_out(self, now: float, timeout: float) -> tuple[np.ndarray, np.ndarray]:
        """Return `positions` and `velocities`, optional joints that cannot be used now as NaN."""
        q, qd = self.positions, self.velocities
        for name in self._single.left_out(now, timeout):
            at, column = self._coordinates.places[name]
            q[at] = qd[column] = np.nan
        for name, entry in self._entries.items():
            if name in self._optional and why_unusable(
                entry.problem, entry.received, now, timeout
            ):
                q[entry.joint.positions] = np.nan
                qd[entry.joint.velocities] = np.nan
        return q, qd

    @property
    def _needed(self) -> list[MultiDofEntry]:
        entries = self._entries.items()
        return [entry for name, entry in entries if name not in self._optional]

    @property
    def complete(self) -> bool:
        """Whether a valid state of every needed joint has been received at some time."""
        heard = all(entry.received is not None for entry in self._needed)
        return heard and self._single.complete

    def age(self, now: float) -> Optional[float]:
        """Return the age of the oldest needed state [s], or None while one is missing."""
        if not self.complete:
            return None
        received = [entry.received for entry in self._needed]
        ages = [now - time for time in received if time is not None]
        return max([*ages, self._single.age(now) or 0.0])

    @property
    def positions(self) -> np.ndarray:
        """Last valid joint positions, shape (n_positions,); what is not known is NaN."""
        q = np.full(self._coordinates.n_positions, np.nan)
        q[[place for place, _ in self._coordinates.places.values()]] = self._single.positions
        for entry in self._entries.values():
            if entry.q is not None:
                q[entry.joint.positions] = entry.q
        return q

    @property
    def velocities(self) -> np.ndarray:
        """Last valid joint velocities, shape (n_joints,); what is not known is NaN."""
        qd = np.full(self._coordinates.n_joints, np.nan)
        qd[[place for _, place in self._coordinates.places.values()]] = self._single.velocities
        for entry in self._entries.values():
            if entry.qd is not None:
                qd[entry.joint.velocities] = entry.qd
        return qd

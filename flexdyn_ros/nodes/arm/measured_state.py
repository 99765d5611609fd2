# SPDX-License-Identifier: Apache-2.0
"""The measured state of all joints, from joint_states and multi_dof_joint_states."""

from __future__ import annotations

from collections import Counter
from typing import Any, Mapping, Optional, Sequence

from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.joint_state_cache import (
    DUPLICATE_NAMES,
    IMPLAUSIBLE,
    JointStateCache,
    KnownStates,
    unfit_length,
    WRONG_LENGTH,
)
from flexdyn_ros.nodes.arm.multi_dof_joint import ANY, MultiDofEntry
from flexdyn_ros.nodes.arm.plausibility import Bound, Plausible
from flexdyn_ros.nodes.arm.times import MessageStamps, nanoseconds, NodeClock
import numpy as np

JOINT_STATES = 'joint_states'
MULTI_DOF = 'multi_dof_joint_states'


class MeasuredState(KnownStates):
    """
    Positions and velocities of all joints.

    Attributes:
        unknown: Names met in messages that are not needed.
        faults: Number of faults by kind.
        touched: Number of needed joints that the last message named.
    """

    def __init__(
        self,
        coordinates: ArmCoordinates,
        need_velocity: bool = True,
        optional: Sequence[str] = (),
        bounds: Optional[Mapping[str, Bound]] = None,
        plausible: Plausible = ANY,
    ):
        """
        Know nothing yet.

        Args:
            coordinates: The coordinates of the robot.
            need_velocity: Whether a joint without velocity is unusable.
            optional: Joints whose state may be missing, since it follows from others.
            bounds: What is plausible, by joint; None bounds nothing.
            plausible: The same, of joints with a transform, and how often that may not hold.
        """
        self._coordinates = coordinates
        self._need_velocity = need_velocity
        self._single = JointStateCache(
            tuple(coordinates.places), need_velocity, coordinates.preferred_names, optional,
            bounds, plausible.patience,
        )
        self._plausible = plausible
        self.faults: Counter[str] = self._single.faults
        self.touched = 0
        self._order = MessageStamps(plausible.patience)
        self._entries = {joint.name: MultiDofEntry(joint) for joint in coordinates.multi_dof}
        super().__init__({**self._single.entries, **self._entries}, optional)
        self.unknown = self._single.unknown
        self._stamps: dict[str, int] = {}
        self._newest = ''
        self._paired = False

    def take_joint_states(
        self, message: Any, received: float, clock: Optional[NodeClock] = None
    ) -> Optional[str]:
        """
        Take over a message.

        Args:
            message: Fields as sensor_msgs/JointState.
            received: Steady time of arrival [s].
            clock: The node's clock, which stamps are compared with; None compares none.

        Returns:
            Why the whole message was dropped, or None.
        """
        self.touched = 0
        content = message.position, message.velocity
        wrong = self._stamp_problem(JOINT_STATES, message, message.name, content, clock)
        if wrong:
            return wrong
        if self._frozen(clock):
            self.touched = sum(name in self._single.names for name in message.name)
            return None
        self._note(JOINT_STATES, message)
        dropped = self._single.update(message.name, message.position, message.velocity, received)
        self.touched = self._single.touched
        return dropped

    def take_multi_dof(
        self, message: Any, received: float, clock: Optional[NodeClock] = None
    ) -> Optional[str]:
        """Take over a message with fields as sensor_msgs/MultiDOFJointState, like the other."""
        self.touched = 0
        names = message.joint_names
        content = message.transforms, message.twist
        wrong = self._stamp_problem(MULTI_DOF, message, names, content, clock)
        if wrong:
            return wrong
        for label in ('transforms', 'twist'):
            unfit = unfit_length(MULTI_DOF, label, getattr(message, label), names)
            if unfit:
                self.faults[WRONG_LENGTH] += 1
                return unfit
        if len(set(names)) != len(names):
            self.faults[DUPLICATE_NAMES] += 1
            return f'{MULTI_DOF} dropped: it names a joint more than once'
        if self._frozen(clock):
            self.touched = sum(name in self._entries for name in names)
            return None
        self._note(MULTI_DOF, message)
        for index, name in enumerate(names):
            if name not in self._entries:
                self.unknown.add(name)
                continue
            self.touched += 1
            transform = message.transforms[index] if message.transforms else None
            twist = message.twist[index] if message.twist else None
            fine = self._entries[name].take(
                transform, twist, self._need_velocity, received, self._plausible)
            self.faults[IMPLAUSIBLE] += not fine
        return None

    def _stamp_problem(
        self, topic: str, message: Any, names: Sequence[str], content: Any,
        clock: Optional[NodeClock],
    ) -> Optional[str]:
        if clock is None:
            return None
        stamp = nanoseconds(message.header.stamp)
        found = self._order.problem((topic, *names), stamp, content, clock)
        if found is None:
            return None
        kind, sentence = found
        self.faults[kind] += 1
        return f'{topic} dropped: {sentence}'

    def _frozen(self, clock: Optional[NodeClock]) -> bool:
        """Return whether a message repeats an old one while time goes on: it makes none young."""
        return clock is not None and self._order.repeated and not clock.simulated

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

    def without_left_out(self, now: float, timeout: float) -> tuple[np.ndarray, np.ndarray]:
        """Return `positions` and `velocities`, optional joints that cannot be used now as NaN."""
        q, qd = self.positions, self.velocities
        for name in self.left_out(now, timeout):
            joint = self._entries[name].joint if name in self._entries else None
            at, column = self._coordinates.places.get(name) or (joint.positions, joint.velocities)
            q[at] = qd[column] = np.nan
        return q, qd

    @property
    def positions(self) -> np.ndarray:
        """Last valid joint positions, shape (n_positions,); what is not known is NaN."""
        if not self._entries:
            return self._single.positions
        q = np.full(self._coordinates.n_positions, np.nan)
        q[[place for place, _ in self._coordinates.places.values()]] = self._single.positions
        for entry in self._entries.values():
            if entry.q is not None:
                q[entry.joint.positions] = entry.q
        return q

    @property
    def velocities(self) -> np.ndarray:
        """Last valid joint velocities, shape (n_joints,); what is not known is NaN."""
        if not self._entries:
            return self._single.velocities
        qd = np.full(self._coordinates.n_joints, np.nan)
        qd[[place for _, place in self._coordinates.places.values()]] = self._single.velocities
        for entry in self._entries.values():
            if entry.qd is not None:
                qd[entry.joint.velocities] = entry.qd
        return qd

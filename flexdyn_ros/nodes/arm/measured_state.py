# SPDX-License-Identifier: Apache-2.0
"""The measured state of all joints, from joint_states and multi_dof_joint_states."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from flexdyn_ros.nodes.arm.arm_coordinates import ArmCoordinates
from flexdyn_ros.nodes.arm.joint_state_cache import IMPLAUSIBLE, JointStateCache
from flexdyn_ros.nodes.arm.multi_dof_joint import ANY, MultiDofEntry
from flexdyn_ros.nodes.arm.plausibility import Bound, Plausible
from flexdyn_ros.nodes.arm.times import MessageStamps, nanoseconds, NodeClock
import numpy as np

JOINT_STATES = 'joint_states'
MULTI_DOF = 'multi_dof_joint_states'


class MeasuredState(JointStateCache):
    """Positions and velocities of all joints, those with a transform among them."""

    def __init__(
        self,
        coordinates: ArmCoordinates,
        need_velocity: bool = True,
        optional: Sequence[str] = (),
        bounds: Optional[Mapping[str, Bound]] = None,
        plausible: Plausible = ANY,
    ):
        """
        Start without a state.

        Args:
            coordinates: The coordinates of the robot.
            need_velocity: Whether a joint without velocity is unusable.
            optional: Joints whose state may be missing, since it follows from others.
            bounds: Bounds of plausible motion, by joint; None bounds nothing.
            plausible: The same, of joints with a transform, and the number of exceptions in a row.
        """
        self._coordinates = coordinates
        self._plausible = plausible
        self._order_of_stamps = MessageStamps(plausible.patience)
        self._multi_dof = {joint.name: MultiDofEntry(joint) for joint in coordinates.multi_dof}
        self._stamps: dict[str, int] = {}
        self._newest = ''
        self._paired = False
        super().__init__(
            tuple(coordinates.places), need_velocity, coordinates.preferred_names, optional,
            bounds, plausible.patience, self._multi_dof)

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
            The fault for which the whole message was dropped, or None.
        """
        names, arrays = message.name, {'position': message.position, 'velocity': message.velocity}
        new, dropped = self._checked(JOINT_STATES, message, names, arrays, clock)
        return self.update(names, message.position, message.velocity, received) if new else dropped

    def take_multi_dof(
        self, message: Any, received: float, clock: Optional[NodeClock] = None
    ) -> Optional[str]:
        """Take over a message with fields as sensor_msgs/MultiDOFJointState, like the other."""
        names = message.joint_names
        arrays = {'transforms': message.transforms, 'twist': message.twist}
        new, dropped = self._checked(MULTI_DOF, message, names, arrays, clock)
        for index, name in enumerate(names if new else ()):
            if name not in self._multi_dof:
                self.ignore(name)
                continue
            self.touched += 1
            transform, twist = (each[index] if each else None for each in arrays.values())
            fine = self._multi_dof[name].take(
                transform, twist, self._need_velocity, received, self._plausible)
            self.faults[IMPLAUSIBLE] += not fine
        return dropped

    def _checked(
        self, topic: str, message: Any, names: Sequence[str], arrays: Mapping[str, Sequence[Any]],
        clock: Optional[NodeClock],
    ) -> tuple[bool, Optional[str]]:
        """Return whether a message is new, and the reason why it was dropped or None."""
        self.touched = 0
        stamp, stamps = nanoseconds(message.header.stamp), self._order_of_stamps
        found = clock and stamps.problem((topic, *names), stamp, [*arrays.values()], clock)
        if found:
            kind, sentence = found
            self.faults[kind] += 1
            return False, f'{topic} dropped: {sentence}'
        dropped = self.misshapen(topic, names, **arrays)
        if dropped:
            return False, dropped
        if clock and stamps.repeated and not clock.simulated:
            # A repeated message, while time passes, does not renew the state.
            known = self.entries if topic == JOINT_STATES else self._multi_dof
            self.touched = sum(name in known for name in names)
            return False, None
        self._newest = topic
        self._stamps[topic] = stamp
        self._paired |= self._stamps.get(JOINT_STATES) == self._stamps.get(MULTI_DOF)
        return True, None

    @property
    def whole(self) -> bool:
        """
        Whether the newest messages make up one state, to be worked with now.

        Where both topics come under the same stamps, as from a simulator, that is when both have
        come. Elsewhere it is at each joint_states, with the last state of the other topic.
        """
        if not self._multi_dof:
            return True
        if self._paired:
            return self._stamps[JOINT_STATES] == self._stamps[MULTI_DOF]
        return self._newest == JOINT_STATES or not self.entries

    def without_left_out(self, now: float, timeout: float) -> tuple[np.ndarray, np.ndarray]:
        """Return `positions` and `velocities`, optional joints that cannot be used now as NaN."""
        q, qd = self.positions, self.velocities
        for name in self.left_out(now, timeout):
            joint = self._multi_dof[name].joint if name in self._multi_dof else None
            at, column = self._coordinates.places.get(name) or (joint.positions, joint.velocities)
            q[at] = qd[column] = np.nan
        return q, qd

    @property
    def positions(self) -> np.ndarray:
        """Last valid joint positions, shape (n_positions,); NaN where unknown."""
        if not self._multi_dof:
            return super().positions
        q = np.full(self._coordinates.n_positions, np.nan)
        q[[place for place, _ in self._coordinates.places.values()]] = super().positions
        for entry in self._multi_dof.values():
            if entry.q is not None:
                q[entry.joint.positions] = entry.q
        return q

    @property
    def velocities(self) -> np.ndarray:
        """Last valid joint velocities, shape (n_joints,); NaN where unknown."""
        if not self._multi_dof:
            return super().velocities
        qd = np.full(self._coordinates.n_joints, np.nan)
        qd[[place for _, place in self._coordinates.places.values()]] = super().velocities
        for entry in self._multi_dof.values():
            if entry.qd is not None:
                qd[entry.joint.velocities] = entry.qd
        return qd

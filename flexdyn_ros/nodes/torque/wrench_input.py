# SPDX-License-Identifier: Apache-2.0
"""Wrenches of the environment, as a force-torque sensor measures them."""

from __future__ import annotations

from dataclasses import dataclass
import time
from typing import Any, Optional

from flexdyn_ros.errors import require_known
from flexdyn_ros.nodes.arm.joint_motion import JointSample, ModalState
from flexdyn_ros.nodes.arm.multi_dof_joint import vector_components
from flexdyn_ros.nodes.common.topics import TransformTopics
from flexdyn_ros.nodes.common.transforms import holding_link, pose_in
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from geometry_msgs.msg import WrenchStamped
import numpy as np

TOPIC = '~/wrench'


@dataclass
class MeasuredWrench:
    """
    The newest wrench on one link.

    Attributes:
        force: In axes of the link [N].
        moment: The same, about the origin of the link frame [N m].
        received: Steady time of arrival [s].
    """

    force: np.ndarray
    moment: np.ndarray
    received: float


class WrenchInput:
    """
    Keeps the newest wrench of each link, and puts them where the torque is computed.

    A message holds the wrench of the environment on the robot, at the origin and in axes of its
    frame_id. That is a link that wrenches act on, one that fixed joints hold to it, or a frame of
    TF below it.

    Attributes:
        refused: Number of messages that were refused.
        problem: The warning of diagnostics, or None.
    """

    def __init__(self, node: Any):
        """
        Subscribe.

        Args:
            node: An InverseDynamicsNode.
        """
        self.refused = 0
        self.problem: Optional[str] = None
        self._node = node
        self._feed_forward: Any = None
        self._wrenches: dict[str, MeasuredWrench] = {}
        self._fixed: dict[str, tuple[str, np.ndarray, np.ndarray]] = {}
        self._counted: set[str] = set()
        self._topics: Any = None
        self._subscription = node.create_subscription(WrenchStamped, TOPIC, self._on_wrench, 10)

    def set_arm(self, feed_forward: FeedForward) -> None:
        """
        Set the computation that wrenches enter.

        Args:
            feed_forward: Its `wrenches` name the links.

        Raises:
            UnknownName: A link is none of the robot's.
        """
        robot = self._node.robot
        require_known('link', feed_forward.wrenches, robot.frame_names)
        self._feed_forward = feed_forward
        self._wrenches, self._fixed, self._counted = {}, {}, set()
        if feed_forward.wrenches and self._topics is None:
            self._topics = TransformTopics(self._node)

    def clear(self) -> None:
        """Discard all wrenches."""
        self._wrenches.clear()

    def _on_wrench(self, message: WrenchStamped) -> None:
        if self._feed_forward is None:
            return
        now = time.monotonic()
        force, moment = map(vector_components, (message.wrench.force, message.wrench.torque))
        prefix = self._node.parameters['frame_prefix']
        name = message.header.frame_id
        placed = self._place(name, name.removeprefix(prefix), now)
        largest = self._node.parameters['plausible.wrench']
        if placed is None or not (np.abs([*force, *moment]) <= largest).all():
            self.refused += 1
            allowed = ', '.join(self._feed_forward.wrenches) or 'none, set wrench_links'
            self._node.get_logger().warning(
                f'{TOPIC} ignored: frame_id "{name}" must be fixed to one of the wrench_links '
                f'({allowed}), and the wrench within {largest:g}', throttle_duration_sec=1.0)
            return
        link, rotation, position = placed
        force = rotation @ force
        self._wrenches[link] = MeasuredWrench(
            force, rotation @ moment + np.cross(position, force), now)

    def _place(
        self, name: str, frame: str, now: float
    ) -> Optional[tuple[str, np.ndarray, np.ndarray]]:
        """Return the link that a frame is fixed to, and rotation and position in it."""
        robot, links = self._node.robot, self._feed_forward.wrenches
        if frame in self._fixed:
            return self._fixed[frame]
        if frame in robot.frame_names:
            link = holding_link(robot, frame, links)
            if link is None:
                return None
            self._fixed[frame] = (link, *pose_in(robot, link, frame))
            return self._fixed[frame]
        if self._topics is None:
            return None
        prefix = self._node.parameters['frame_prefix']
        for above in self._topics.tree.links_above(name, now):
            link = above.removeprefix(prefix)
            if link in links:
                timeout = self._node.parameters['wrench_timeout']
                return (link, *self._topics.tree.transform(above, name, now, timeout))
        return None

    def put(self, positions: np.ndarray, now: float) -> bool:
        """
        Put the wrenches where the torque is computed.

        Args:
            positions: Joint positions, shape (n_positions,) [rad | m].
            now: Steady time [s].

        Returns:
            Whether one begins or ceases to count, so that the torque steps.
        """
        feed_forward = self._feed_forward
        if not feed_forward.wrenches:
            return False
        timeout = self._node.parameters['wrench_timeout']
        young = {link: w for link, w in self._wrenches.items() if now - w.received <= timeout}
        silent = sorted(set(self._wrenches) - set(young))
        self.problem = f'{TOPIC} stale, ignored: {", ".join(silent)}' if silent else None
        coordinates = feed_forward.coordinates
        undeformed = ModalState.zero(coordinates.n_modes)
        if self._node.robot.loops:
            rest = np.zeros(coordinates.n_joints)
            sample = JointSample(0.0, positions, rest, rest)
            positions = feed_forward.base.completed(sample, undeformed).q
        q = coordinates.configuration(positions, undeformed.delta)
        for link, into in feed_forward.wrenches.items():
            into[:] = 0.0
            if link in young:
                rotation = self._node.dyn.frame_pose(q, link)[:3, :3]
                into[:3], into[3:] = rotation @ young[link].force, rotation @ young[link].moment
        stepped = set(young) != self._counted
        self._counted = set(young)
        return stepped

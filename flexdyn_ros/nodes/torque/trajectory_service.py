# SPDX-License-Identifier: Apache-2.0
"""Trajectory in, the same trajectory with efforts out."""

from __future__ import annotations

from collections import Counter
import time
from typing import Any, Iterator

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.trajectory_filler import TrajectoryFiller
from trajectory_msgs.msg import JointTrajectory

PAUSE = 0.001  # between two stretches of work, for other callbacks [s]
STRETCH = 0.001  # longest time after which no other point is begun in a stretch [s]


class TrajectoryService:
    """
    Republishes ~/trajectory_in as ~/trajectory_out with efforts filled.

    A long trajectory is worked off in stretches of a millisecond, or of compute_budget where that
    is less, so that torques keep coming meanwhile. A newer trajectory replaces one that is not
    finished.

    Attributes:
        saturated: Number of points by joint whose effort was saturated.
    """

    def __init__(self, node):
        """
        Create publisher and subscription.

        Args:
            node: An InverseDynamicsNode.
        """
        self._node = node
        self.saturated: Counter[str] = Counter()
        self._filler: Any = None  # a TrajectoryFiller while one is worked off
        self._steps: Iterator[int] = iter(())
        self._publisher = node.create_lifecycle_publisher(JointTrajectory, '~/trajectory_out', 1)
        self._subscription = node.create_subscription(
            JointTrajectory, '~/trajectory_in', self._on_trajectory, 1
        )
        self._timer = node.create_steady_timer(PAUSE, self._work)
        self._timer.cancel()

    def _on_trajectory(self, message: JointTrajectory) -> None:
        node = self._node
        if not node.active:
            node.get_logger().warning('~/trajectory_in ignored: the node is not active')
            return
        rest = None
        if node.measured.complete:
            timeout = node.parameters['timeout']
            rest, _ = node.measured.without_left_out(time.monotonic(), timeout)
        try:
            with node.lock:
                node.catch_up()
            feed_forward = FeedForward.of(node.dyn, node.parameters, node.joints)
            feed_forward.terms = node.feed_forward.terms
            self._filler = TrajectoryFiller(message, feed_forward, node.make_limits, rest)
        except FlexdynError as error:
            node.get_logger().error(str(error))
            return
        self._steps = self._filler.steps()
        self._timer.reset()

    def _work(self) -> None:
        node = self._node
        # Started again while there is more to do, so that nothing that fails is done again.
        self._timer.cancel()
        end = time.monotonic() + min(node.parameters['compute_budget'], STRETCH)
        try:
            while node.active and time.monotonic() < end:
                next(self._steps)
        except StopIteration:
            self._finish()
            return
        except FlexdynError as error:
            node.get_logger().error(str(error))
            return
        if node.active:
            self._timer.reset()

    def _finish(self) -> None:
        self._publisher.publish(self._filler.filled)
        saturated = self._filler.saturated
        self.saturated.update(saturated)
        if saturated:
            named = ', '.join(f'{name} at {count} points' for name, count in saturated.items())
            self._node.get_logger().warning(
                f'~/trajectory_out: efforts are saturated: {named}')

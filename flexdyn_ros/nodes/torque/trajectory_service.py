# SPDX-License-Identifier: Apache-2.0
"""Trajectory in; the same with efforts, or one with corrected positions, out."""

from __future__ import annotations

from collections import Counter
import time
from typing import Any, Iterator, Mapping, Optional

from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.nodes.arm.joint_motion import JointSample
from flexdyn_ros.nodes.common.diagnostics import listed
from flexdyn_ros.nodes.positions.position_correction import (
    PositionCorrection,
    set_up_problem,
    trajectory_message,
)
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.trajectory_bytes import TrajectoryBytes
from flexdyn_ros.nodes.torque.trajectory_filler import TrajectoryFiller
import numpy as np
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

PAUSE = 0.001  # between two stretches of work, for other callbacks [s]
MOST_BYTES = 4_000_000  # of a trajectory to be corrected: reading more holds Python for long
STRETCH = 0.001  # longest time after which no other point is begun in a stretch [s]


class TrajectoryService:
    """
    Republishes ~/trajectory_in as ~/trajectory_out with efforts filled, or positions corrected.

    A long trajectory is read, worked off and written in stretches of a millisecond, or of
    compute_budget where that is less. Torques thus keep coming meanwhile. A newer trajectory
    replaces one that is not finished. Positions are corrected in a thread.

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
        self._steps: Iterator[Any] = iter(())
        self._feed_forward: Any = None
        self._correction: Optional[PositionCorrection] = None
        self._newest = b''
        self._publisher = node.create_lifecycle_publisher(JointTrajectory, '~/trajectory_out', 1)
        self._subscription = node.create_subscription(
            JointTrajectory, '~/trajectory_in', self._on_trajectory, 1, raw=True)
        # It awaits a correction, while the executor must serve all else.
        self._service = node.create_service(
            Trigger, '~/correct_trajectory', self._on_correct,
            callback_group=MutuallyExclusiveCallbackGroup())
        self._timer = node.create_steady_timer(PAUSE, self._work)
        self._timer.cancel()

    def set_arm(self, feed_forward: FeedForward) -> None:
        """
        Discard the trajectory, and set the feed-forward for the torques of the next ones.

        Args:
            feed_forward: Its state is that of a trajectory. Its code is that of the cycles, with
                their links of wrenches, on which no wrench acts here.
        """
        self._steps = iter(())
        self._feed_forward = feed_forward
        self.stop()
        self._correction, self._newest, parameters = None, b'', self._node.parameters
        if parameters['trajectory_output'] == 'corrected_positions':
            problem = set_up_problem(parameters['measured_side'])
            if problem:
                raise FlexdynError(problem)
            self._correction = PositionCorrection(self._node)

    def stop(self) -> None:
        """Cancel the trajectory that is being corrected."""
        if self._correction is not None:
            self._correction.cancel('the node is not active any more')

    def _on_trajectory(self, data: bytes) -> None:
        node = self._node
        if not node.active:
            node.get_logger().warning(
                '~/trajectory_in ignored: the node is not active. Activate it')
            return
        self._newest = data
        if self._correction is None:
            self._steps = self._filled(data)
            self._timer.reset()
            return

        def on_answer(answer: Future) -> None:
            if answer.exception() is not None:
                self._refuse(answer.exception())

        try:
            self._corrected(self._read()).add_done_callback(on_answer)
        except FlexdynError as error:
            self._refuse(error)

    def _refuse(self, problem_and_advice: Any) -> None:
        self._node.get_logger().error(f'~/trajectory_in: {problem_and_advice}')

    async def _on_correct(self, request: Any, response: Any) -> Any:
        """Correct the newest trajectory, and respond with a report or the reason of a refusal."""
        named = ''
        try:
            message = self._read()
            named = f'{_named(message.header)}: '
            motion = await self._corrected(message)
            response.success, response.message = True, f'~/trajectory_out, {named}{motion.report}'
        except FlexdynError as error:
            response.success, response.message = False, f'{named}{error}'
        return response

    def _read(self) -> Any:
        """Return the newest trajectory."""
        node = self._node
        if self._correction is None or not node.active:
            raise FlexdynError(
                'the node is not active with trajectory_output corrected_positions. Set it and '
                'activate the node')
        if not self._newest:
            raise FlexdynError(
                'no trajectory has come on ~/trajectory_in. Publish it there first; this service '
                'corrects the newest one again, with the present command and parameters')
        if len(self._newest) > MOST_BYTES:
            raise FlexdynError(
                f'it has {len(self._newest)} bytes, more than {MOST_BYTES}. Send a shorter one')
        return deserialize_message(self._newest, JointTrajectory)

    def _corrected(self, message: Any) -> Future:
        """Return a future of a trajectory's motion; it is published before."""
        node = self._node
        assert self._correction is not None
        with node.lock:
            node.catch_up()
            answer = self._correction.corrected(message, self._command)

        def publish(done: Future) -> None:
            if done.exception() is None:
                motion = done.result()
                self._publisher.publish(trajectory_message(motion, message.header))
                node.get_logger().info(
                    f'~/trajectory_out, {_named(message.header)}: {motion.report}')

        answer.add_done_callback(publish)
        return answer

    def _command(self) -> np.ndarray:
        """Return the present command: the reference while it lasts, else measured positions."""
        node, now = self._node, time.monotonic()
        problems = node.measured.problems(now, node.parameters['timeout'])
        if problems:
            raise FlexdynError(
                f'the present command is unknown: {listed(problems)}. Check joint_states')
        positions, reference = node.measured.positions, node.inputs.reference
        rest = np.zeros(node.robot.n_joints)
        if reference.watchdog.stale(now):
            return positions
        return reference.over(JointSample(0.0, positions, rest, rest)).q

    def _filled(self, data: bytes) -> Iterator[Any]:
        """Read, fill and publish one trajectory, yielding after each point."""
        node = self._node
        trajectory = TrajectoryBytes(data)
        yield from trajectory.read()
        with node.lock:
            node.catch_up()
        self._feed_forward.terms = node.feed_forward.terms
        filler = TrajectoryFiller(
            trajectory, self._feed_forward, node.make_limits, self._rest())
        yield from filler.steps()
        written: Any = None
        for written in trajectory.write():
            yield written
        self._publisher.publish(written)
        self._report(filler.saturated)

    def _rest(self) -> Optional[np.ndarray]:
        """Return the measured joint positions; None while they are not known."""
        node = self._node
        if not node.measured.complete:
            return None
        timeout = node.parameters['timeout']
        return node.measured.without_left_out(time.monotonic(), timeout)[0]

    def _work(self) -> None:
        node = self._node
        # Started again while there is more to do, so that nothing that fails is done again.
        self._timer.cancel()
        if not node.active:
            return
        end = time.monotonic() + min(node.parameters['compute_budget'], STRETCH)
        try:
            next(self._steps)
            while time.monotonic() < end:
                next(self._steps)
        except StopIteration:
            return
        except FlexdynError as error:
            self._refuse(error)
            return
        self._timer.reset()

    def _report(self, saturated: Mapping[str, int]) -> None:
        self.saturated.update(saturated)
        if saturated:
            named = ', '.join(f'{name} at {count} points' for name, count in saturated.items())
            self._node.get_logger().warning(
                f'~/trajectory_out: efforts are saturated: {named}. Plan a slower motion')


def _named(header: Any) -> str:
    """Return the parts of a header by which trajectories differ."""
    return f'frame_id "{header.frame_id}", stamp {header.stamp.sec}.{header.stamp.nanosec:09d}'

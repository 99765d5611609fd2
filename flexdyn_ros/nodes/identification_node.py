# SPDX-License-Identifier: Apache-2.0
"""The node that plays an exciting trajectory, records the arm, and identifies its parameters."""

from __future__ import annotations

from collections import Counter
import sys
import threading
import traceback
from typing import Any, Callable, Optional

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.identification import identify
from flexdyn_ros.identification.excitation import excite
from flexdyn_ros.nodes.arm.measured_state import JOINT_STATES
from flexdyn_ros.nodes.arm.times import MessageStamps, nanoseconds, NodeClock, seconds
from flexdyn_ros.nodes.common.diagnostics import ERROR, OK, WARN
from flexdyn_ros.nodes.common.robot_node import RobotNode, run_node
from flexdyn_ros.nodes.common.topics import LATCHED
from flexdyn_ros.nodes.identification.played_trajectory import PlayedTrajectory
from flexdyn_ros.nodes.identification.recorder import excitation, StateRecorder
import numpy as np
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

PERIOD = 0.2  # between two looks at the state of the work [s]
NEWS = 2.0  # recorded time between two computations of the condition number [s]
RATE = 100.0  # of the points of a trajectory [Hz]
SETTLING = 0.5  # after the end of a trajectory that is recorded as well [s]


class IdentificationNode(RobotNode):
    """
    Records joint states; searches, judges and identifies in a thread.

    Attributes:
        stage: searching, waiting, recording, identifying, done or failed.
    """

    def __init__(self, **node_arguments: Any):
        """Create publishers, the subscription and the service."""
        self.stage, self._why = 'waiting', ''
        self._recorder: Optional[StateRecorder] = None
        self._stamps, self._dropped = MessageStamps(), Counter[str]()
        self._played: Optional[PlayedTrajectory] = None
        self._thread: Optional[threading.Thread] = None
        self._duration, self._judged = np.inf, 0.0
        self._condition, self._still, self._enough = np.inf, [''], False
        super().__init__('identification_node', **node_arguments)
        self._trajectory = self.create_publisher(JointTrajectory, '~/joint_trajectory', 1)
        self._excited = self.create_publisher(Bool, '~/excited', LATCHED)
        self._states = self.create_subscription(
            JointState, JOINT_STATES, self._on_state,
            QoSProfile(depth=1000, reliability=QoSReliabilityPolicy.BEST_EFFORT))
        self._service = self.create_service(Trigger, '~/identify', self._on_identify)
        self._timer = self.create_steady_timer(PERIOD, self._watch)

    def set_up(self) -> None:
        """Check the parameters that depend on the robot."""
        count, given = self.robot.n_joints, self.parameters['gains']
        if given and len(given) != count:
            raise FlexdynError(
                f'gains has {len(given)} elements for {count} joints. Give one for each.')

    def start(self) -> None:
        """Begin anew, by the search of a trajectory where there is no file."""
        p = self.parameters
        self._recorder = StateRecorder(self.robot, p['gains'])
        self._stamps, self._dropped = MessageStamps(), Counter()
        self._duration, self._judged, self._thread = np.inf, 0.0, None
        self._condition, self._enough, self._played = np.inf, False, None
        self._excited.publish(Bool(data=False))
        self.stage = 'waiting'
        if p['play'] and p['trajectory_file']:
            self._played = PlayedTrajectory.read(p['trajectory_file'], self.robot.joint_names)
        elif p['play']:
            self._work('searching', self._search)
        else:
            self._record('recording every motion until ~/identify is called')

    def stop(self) -> None:
        """Stop recording; the arm is left to its controller."""
        if self._recorder:
            self._recorder.recording = False

    def _on_state(self, message: JointState) -> None:
        if self._recorder is None or not self.active:
            return
        stamp = nanoseconds(message.header.stamp)
        wrong = self._stamps.problem(
            tuple(message.name), stamp, None, NodeClock.of(self.get_clock(), 0.0))
        if wrong:
            # One stamp that is far ahead would end the recording.
            self._dropped[wrong[0]] += 1
            self.get_logger().warning(
                f'{JOINT_STATES} dropped: {wrong[1]}. Check its publisher.',
                throttle_duration_sec=1.0)
        else:
            self._recorder.take(message)

    # Work of the timer.

    def _watch(self) -> None:
        if not self.active or self._recorder is None:
            return
        busy = self._thread is not None and self._thread.is_alive()
        if self.stage == 'failed':
            self.diagnostics.report(ERROR, self._why)
        elif self.stage == 'done':
            self.diagnostics.report(OK, 'identified')
        elif self._recorder.full:
            self.diagnostics.report(WARN, f'{self.stage}: no more states are kept')
        else:
            self.diagnostics.report(OK, self.stage)
        if busy:
            return
        if self.stage == 'waiting' and self._played is not None:
            self._play(self._recorder, self._played)
        elif self.stage == 'recording':
            recorded = self._recorder.duration
            if recorded > self._duration:
                self._work('identifying', self._identify)
            elif recorded > self._judged + NEWS:
                self._judged = recorded
                self._work('recording', self._judge)

    def _play(self, recorder: StateRecorder, played: PlayedTrajectory) -> None:
        """Send the trajectory once joint states and a controller are there."""
        if recorder.positions is None or not self._trajectory.get_subscription_count():
            self.diagnostics.report(WARN, 'waiting for joint_states and for a controller')
            return
        p = self.parameters
        message = played.message(
            recorder.positions, p['approach_velocity'], p['repetitions'])
        self._duration = seconds(message.points[-1].time_from_start) + SETTLING
        self._trajectory.publish(message)
        self._record(f'playing and recording {self._duration:.1f} s')

    def _record(self, sentence: str) -> None:
        self.get_logger().info(sentence)
        self.stage = 'recording'
        if self._recorder:
            self._recorder.recording = True

    def _on_identify(self, request, response):
        busy = self.stage != 'recording' or self._recorder is None
        response.success = not busy
        response.message = f'not while {self.stage}' if busy else 'identifying'
        if not busy:
            self._duration = -1.0
        return response

    # Work of the thread.

    def _work(self, stage: str, work: Callable[[], None]) -> None:
        """Do work in a thread; a failure is logged and ends the work."""
        self.stage = stage

        def guarded() -> None:
            try:
                work()
            except Exception as error:
                expected = isinstance(error, (FlexdynError, OSError))
                self._why = str(error) if expected else traceback.format_exc()
                self.stage = 'failed'
                if self.context.ok():
                    self.get_logger().error(self._why)

        self._thread = threading.Thread(target=guarded, name=stage, daemon=True)
        self._thread.start()

    def _search(self) -> None:
        found = excite(self.robot, self.parameters['period'])
        t = np.arange(0.0, found.period + 0.5 / RATE, 1.0 / RATE)
        self._played = PlayedTrajectory(found.names, t, np.array(found.at(t)))
        self.get_logger().info(
            f'found a trajectory of {found.period:.3g} s, condition {found.condition:.3g}')
        self.stage = 'waiting'

    def _judge(self) -> None:
        """Compute the condition number so far, and announce once that it is enough."""
        recorder = self._recorder
        assert recorder is not None
        try:
            self._condition, self._still = excitation(recorder.robot, recorder.motion())
        except ArgumentError:
            return  # too few states so far
        limit = self.parameters['enough_condition']
        if not self._enough and not self._still and self._condition < limit:
            self._enough = True
            self._excited.publish(Bool(data=True))
            self.get_logger().info(
                f'enough has been excited: condition number {self._condition:.3g}')

    def _identify(self) -> None:
        recorder, friction = self._recorder, self.parameters['friction']
        assert recorder is not None
        recorder.recording = False
        self._judge()
        found = identify(
            recorder.robot, recorder.motion(),
            friction=friction[0] if len(friction) == 1 else friction)
        files = found.write(self.parameters['output_folder'])
        for warning in found.warnings:
            self.get_logger().warning(warning)
        self.get_logger().info(f'wrote {", ".join(map(str, files))}')
        self.stage = 'done'

    def diagnostic_values(self) -> dict[str, Any]:
        """Return the progress of the work."""
        recorded = self._recorder.duration if self._recorder else 0.0
        return {
            'stage': self.stage, 'recorded': recorded, 'condition': self._condition,
            'enough_excited': self._enough, 'still_joints': ' '.join(self._still),
            **{f'dropped/{kind}': count for kind, count in self._dropped.items()},
        }


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    return run_node(IdentificationNode, args)


if __name__ == '__main__':
    sys.exit(main())

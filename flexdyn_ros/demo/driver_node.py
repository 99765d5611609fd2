# SPDX-License-Identifier: Apache-2.0
"""
The process that drives a run: it publishes the reference motion and records the messages.

It answers each state of the simulator with the desired motion of the period that follows, under
the stamp of that state. The whole loop then advances in step: state, reference, torque, next
state. A state that the simulator repeats is answered again; answers that are late or double are
dropped. So no torque is applied to another period than its own, however slow a process is. The
desired values are those of the middle of the period, during which the simulator holds them. That
makes the held torque right to second order.
"""

from __future__ import annotations

from pathlib import Path
import signal
import sys
import time
from typing import Any, Optional

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from flexdyn_ros.demo import plan
from flexdyn_ros.demo.recording import Recording, write_report
from flexdyn_ros.nodes.arm.times import NANOSECONDS, nanoseconds
from flexdyn_ros.nodes.common.process import time_limit
from flexdyn_ros.nodes.common.robot_node import STOP_LIMIT
from flexdyn_ros.nodes.common.topics import LATCHED
from geometry_msgs.msg import PoseArray
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import MarkerArray

QUEUE = QoSProfile(depth=1000)
PATIENCE = 2.0  # with a response of the inverse dynamics, before the next request [s]
SHOW_EVERY = 0.5  # real time between two lines of progress [s]
QUIET = 0.5  # real time without messages after the last state, before the record is closed [s]
KINDS = {
    plan.STATES: JointState, plan.MODES: JointState, plan.TIPS: PoseArray,
    plan.TORQUES: JointState, 'clock': Clock, plan.MARKERS: MarkerArray,
    'diagnostics': DiagnosticArray,
}


class Driver(Node):
    """Answers joint states with the desired motion, and keeps the received messages."""

    def __init__(self, run: plan.DemoRun):
        """
        Create publishers and subscriptions.

        Args:
            run: The task.
        """
        super().__init__('driver')
        self.run = run
        self.recording = Recording(run)
        self._motion = plan.rest_to_rest(run.demo_robot.waypoints)
        self._end = round(run.duration * NANOSECONDS)
        self._heard_last: Optional[float] = None
        self._shown = 0.0
        self._connected = self._controlling = False
        self._reference = self.create_publisher(JointTrajectory, plan.REFERENCE, 10)
        self._pd_reference = self.create_publisher(JointTrajectory, plan.PD_REFERENCE, 10)
        self._description = self.create_publisher(String, 'robot_description', LATCHED)
        if run.as_topic:
            self._description.publish(String(data=Path(run.description_file).read_text('utf-8')))
        self._client: Any = self.create_client(GetState, 'inverse_dynamics_node/get_state')
        self._pending: Any = None
        self._asked_at = 0.0
        self._timer = self.create_timer(0.1, self._ask)
        # Markers are large and only counted: they are not deserialised.
        self._inputs = [
            self.create_subscription(
                kind, f'/{topic}', lambda message, topic=topic: self._keep(topic, message), QUEUE,
                raw=kind is MarkerArray)
            for topic, kind in KINDS.items()
        ]

    def _ask(self) -> None:
        """
        Call the service of the inverse dynamics until that is active.

        A service that has matched this client's request and not yet its reader drops the response:
        no response may ever come.
        """
        late = self._pending is not None and time.monotonic() - self._asked_at > PATIENCE
        if late and not self._pending.done():
            self._client.remove_pending_request(self._pending)
            self._pending = None
        if self._pending is None and self._client.service_is_ready():
            self._asked_at = time.monotonic()
            self._pending = self._client.call_async(GetState.Request())
        elif self._pending is not None and self._pending.done():
            result = self._pending.result()
            self._pending = None
            if result.current_state.id == State.PRIMARY_STATE_ACTIVE:
                self._controlling = True
                self._timer.cancel()

    def _keep(self, topic: str, message: Any) -> None:
        """Answer a state; count each message, and keep its numbers where its stamp is new."""
        stamp = None
        if topic == 'clock':
            stamp = nanoseconds(message.clock)
        elif topic not in (plan.MARKERS, 'diagnostics'):
            stamp = nanoseconds(message.header.stamp)
        # The last state stays unanswered, which halts the simulator there.
        if topic == plan.STATES and stamp < self._end and self._may_begin():
            self._answer(message.header, stamp / NANOSECONDS)
        new = self.recording.hear(topic, time.monotonic(), stamp)
        if topic == 'diagnostics':
            self.recording.errors += [
                f'{status.name}: {status.message}' for status in message.status
                if status.level == DiagnosticStatus.ERROR and self.recording.started
            ]
        elif topic == plan.TIPS and new:
            place = message.poses[0].position
            self.recording.add(topic, stamp, ('x', 'y', 'z'), (place.x, place.y, place.z))
        elif KINDS[topic] is JointState and new:
            columns = (message.position, message.velocity, message.effort)
            self.recording.add(topic, stamp, message.name, *columns)
        if topic == plan.STATES:
            self._show(stamp)

    def _may_begin(self) -> bool:
        """Return whether simulator and inverse dynamics are connected in both directions."""
        if not self._connected and self._controlling and self.recording.hears_simulator():
            self._connected = all(
                publisher.get_subscription_count() >= 1
                for publisher in (self._reference, self._pd_reference)
            )
        return self._connected

    def _answer(self, header: Header, now: float) -> None:
        """Publish the desired motion, stamped as the state that it answers."""
        q, qd, qdd = self._motion(now + 0.5 / self.run.rate)
        point = JointTrajectoryPoint(positions=q.tolist(), velocities=qd.tolist())
        joints = list(self.run.demo_robot.joints)
        message = JointTrajectory(header=header, joint_names=joints, points=[point])
        self._pd_reference.publish(message)
        point.accelerations = qdd.tolist()
        self._reference.publish(message)

    def _show(self, stamp: int) -> None:
        """Print the simulated time now and then, and note the last state."""
        if time.monotonic() - self._shown > SHOW_EVERY:
            self._shown = time.monotonic()
            print(f'progress {stamp * 1e-9:.3f}', flush=True)
        if stamp >= self._end and self._heard_last is None:
            self._heard_last = time.monotonic()

    @property
    def done(self) -> bool:
        """Whether the run is over and nothing more is to be expected."""
        return self._heard_last is not None and time.monotonic() - self._heard_last > QUIET


def main() -> int:
    """Drive the run whose file the command line names; return the exit code."""
    run = plan.DemoRun.load(sys.argv[1])
    # rclpy shuts its context down on SIGINT; a KeyboardInterrupt on top of that could strike while
    # the node is taken down, and leave it hanging.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    rclpy.init(args=[])
    driver = Driver(run)
    code = 1
    try:
        while not driver.done:
            rclpy.spin_once(driver, timeout_sec=0.1)
        write_report(driver.recording)
        code = 0
    except ExternalShutdownException:
        code = 0
    finally:
        with time_limit(STOP_LIMIT, code):
            driver.destroy_node()
            rclpy.try_shutdown()
    return code


if __name__ == '__main__':
    sys.exit(main())

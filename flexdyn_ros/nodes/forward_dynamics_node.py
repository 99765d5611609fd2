# SPDX-License-Identifier: Apache-2.0
"""The node that simulates an arm: effort commands in, joint and modal states out."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any
from typing import Optional

from builtin_interfaces.msg import Time
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.errors import UnknownName
from flexdyn_ros.nodes.arm_coordinates import actuated_joints
from flexdyn_ros.nodes.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.arm_simulator import JointController
from flexdyn_ros.nodes.diagnostics import ERROR
from flexdyn_ros.nodes.diagnostics import OK
from flexdyn_ros.nodes.diagnostics import WARN
from flexdyn_ros.nodes.reference import Reference
from flexdyn_ros.nodes.robot_node import RobotNode
from flexdyn_ros.nodes.robot_node import run_node
from flexdyn_ros.nodes.simulation_output import SimulationOutput
from flexdyn_ros.nodes.simulation_thread import SimulationThread
from geometry_msgs.msg import WrenchStamped
import numpy as np
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

# Real time after which an unanswered state is published again [s]: often while nobody listens
# yet, then only when it must have been lost, since a second answer would pass for the next
# state's.
FIRST_RETRY = 0.05
LOST_AFTER = 1.0
IDLE = 0.02  # real time between two messages while paused [s]


class ForwardDynamicsNode(RobotNode):
    """
    Steps the simulation in a thread of its own; the executor takes commands and services.

    The lock guards the simulator, which both threads use.
    """

    def __init__(self, **node_arguments: Any):
        """Create publishers, subscriptions and services."""
        self.simulator: Any = None  # an ArmSimulator once configured
        self.thread: Any = None  # a SimulationThread while active
        self.rejected = 0
        super().__init__('forward_dynamics_node', **node_arguments)
        self.lock = threading.Lock()
        self.answered = threading.Event()
        self.heard = False  # whether any command has come since activation
        self.paused = False
        self.failed = False
        self.real_time_factor = 0.0
        self.measured_from = (0.0, 0.0)
        self.output = SimulationOutput(
            self, self.parameters['frame_prefix'], self.parameters['publish_clock']
        )
        self.inputs = (
            # An executor takes what is ready in this order, and in lockstep an effort command
            # starts the next cycle: the reference that was sent before it must count in it.
            self.create_subscription(
                JointTrajectory, '~/pd_reference', self._on_reference, 1),
            self.create_subscription(
                Float64MultiArray, '~/effort_commands', self._on_effort, 1),
            self.create_subscription(WrenchStamped, '~/wrench', self._on_wrench, 10),
            self.create_service(SetBool, '~/pause', self._on_pause),
            self.create_service(Trigger, '~/reset', self._on_reset),
        )

    # Life cycle.

    def set_up(self) -> None:
        """Put the arm at its initial state."""
        p = self.parameters
        if p['gravity']:
            self.dyn.set_gravity(np.array(p['gravity']))
        joints = tuple(p['joints']) or actuated_joints(self.robot)
        controller = JointController(p['pd.kp'], p['pd.kd'], len(joints))
        self.simulator = ArmSimulator(
            self.dyn,
            joints,
            p['step'],
            controller,
            p['initial_positions'],
            p['initial_deflection'] == 'static',
        )
        if self.simulator.step < p['step']:
            self.get_logger().info(
                f'step shortened from {p["step"]:g} s to {self.simulator.step:.3g} s: the fastest '
                f'motion has an eigenvalue of {self.simulator.fastest_rate:.4g} 1/s'
            )
        tips = tuple(p['tips']) or tip_links(self.robot)
        for tip in tips:
            if tip not in self.robot.frame_names:
                raise UnknownName('link', tip, self.robot.frame_names)
        self.output.set_robot(self.dyn, self.simulator, tips)
        controlled = 'with' if p['pd.kp'] or p['pd.kd'] else 'without'
        self.get_logger().info(
            f'Simulating {self.robot}; commands drive {", ".join(joints)}, '
            f'{controlled} a joint controller.'
        )

    def start(self) -> None:
        """Start the thread."""
        p = self.parameters
        self.paused, self.failed, self.heard = p['start_paused'], False, False
        self.measured_from = (time.monotonic(), self.simulator.time)
        self.cycle = 1.0 / p['publish_rate']
        factor = p['real_time_factor']
        pause = 0.0 if p['lockstep'] or not factor else self.cycle / factor
        self.thread = SimulationThread(self._cycle, pause)
        self._publish()
        self.diagnostics.report(OK, 'running')
        self.thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self.answered.set()
        self.thread.stop()

    # The simulation thread.

    def _cycle(self) -> None:
        if self.paused or self.failed:
            time.sleep(IDLE)
        elif self.parameters['lockstep'] and not self._wait_for_command():
            return
        else:
            self._advance()
        self._publish()

    def _publish(self, repeated: bool = False) -> None:
        try:
            with self.lock:
                # An answer may come while a state is about to be repeated: it still counts.
                if not repeated:
                    self.answered.clear()
                self.output.publish(self._stamp())
        except Exception:
            # SIGINT and SIGTERM end the context before this thread hears of them.
            if self.context.ok():
                raise

    def _advance(self) -> None:
        try:
            with self.lock:
                self.simulator.advance(self.cycle)
        except FlexdynError as error:
            self.failed = True
            self.get_logger().error(f'{error} Call ~/reset to start again.')
            self.diagnostics.report(ERROR, str(error))
        now, (then, start) = time.monotonic(), self.measured_from
        if now - then >= 1.0:
            self.real_time_factor = (self.simulator.time - start) / (now - then)
            self.measured_from = (now, self.simulator.time)

    def _wait_for_command(self) -> bool:
        """Return whether the last state has been answered; publish it again if not."""
        retry = LOST_AFTER if self.heard else FIRST_RETRY
        if not self.answered.wait(retry) and not self.thread.stopping:
            self._publish(repeated=True)
        return self.answered.is_set() and not self.thread.stopping

    def _stamp(self) -> Time:
        if not self.parameters['publish_clock']:
            return self.get_clock().now().to_msg()
        nanoseconds = round(self.simulator.time * 1e9)
        return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)

    # Inputs, in the executor's thread.

    def _reject(self, what: str) -> None:
        self.rejected += 1
        self.get_logger().warning(what, throttle_duration_sec=1.0)

    def _on_effort(self, message: Float64MultiArray) -> None:
        if self.simulator is None:
            return
        effort = np.array(message.data)
        if len(effort) != len(self.simulator.joints) or not np.all(np.isfinite(effort)):
            self._reject(
                f'~/effort_commands ignored: expected {len(self.simulator.joints)} finite '
                f'numbers, got {effort.tolist()}'
            )
            return
        with self.lock:
            self.simulator.effort = effort
            self.heard = True
            self.answered.set()

    def _on_reference(self, message: JointTrajectory) -> None:
        if self.simulator is None or not message.points:
            return
        simulator = self.simulator
        try:
            reference = Reference(message, simulator.joints)
        except FlexdynError as error:
            self._reject(f'~/pd_reference: {error}')
            return
        with self.lock:
            position, velocity = reference.positions_and_velocities(simulator.controller.position)
            simulator.controller.position = position
            simulator.controller.velocity = velocity

    def _on_wrench(self, message: WrenchStamped) -> None:
        if self.simulator is None:
            return
        frame = message.header.frame_id
        prefix = self.parameters['frame_prefix']
        frame = frame[len(prefix) :] if frame.startswith(prefix) else frame
        force, torque = message.wrench.force, message.wrench.torque
        six = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        if frame not in self.robot.frame_names or not np.all(np.isfinite(six)):
            self._reject(f'~/wrench ignored: frame_id "{frame}" must be a link, {six} finite')
            return
        with self.lock:
            self.simulator.wrenches[frame] = six

    def _on_pause(self, request, response):
        self.paused = request.data
        self.measured_from = (time.monotonic(), self.simulator.time if self.simulator else 0.0)
        response.success = self.simulator is not None
        response.message = 'paused' if self.paused else 'running'
        self.diagnostics.report(WARN if self.paused else OK, response.message)
        return response

    def _on_reset(self, request, response):
        response.success = self.simulator is not None
        response.message = 'at the initial state' if response.success else 'not configured'
        if response.success:
            with self.lock:
                self.simulator.reset()
            self.failed = False
            self.diagnostics.report(WARN if self.paused else OK, 'reset')
        return response

    def diagnostic_values(self) -> dict[str, Any]:
        """Return the pace of the simulation."""
        if self.simulator is None:
            return {}
        return {
            'simulated_time': self.simulator.time,
            'real_time_factor': self.real_time_factor,
            'integration_step': self.simulator.step,
            'late_cycles': self.thread.late if self.thread else 0,
            'rejected_inputs': self.rejected,
            'paused': self.paused,
        }


def tip_links(robot) -> tuple[str, ...]:
    """Return the links without child joints, depth first."""
    parents = {joint.parent for joint in robot.joints}
    return tuple(name for name in robot.frame_names if name not in parents)


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    return run_node(ForwardDynamicsNode, args)


if __name__ == '__main__':
    sys.exit(main())

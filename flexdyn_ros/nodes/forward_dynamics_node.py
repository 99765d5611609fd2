# SPDX-License-Identifier: Apache-2.0
"""The node that simulates an arm: effort commands in, joint and modal states out."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from typing import Any, Optional

from flexdyn_ros.errors import FlexdynError, require_known
from flexdyn_ros.nodes.arm.arm_coordinates import actuated_joints
from flexdyn_ros.nodes.arm.times import NANOSECONDS
from flexdyn_ros.nodes.common.diagnostics import ERROR, OK, WARN
from flexdyn_ros.nodes.common.robot_node import RobotNode, run_node
from flexdyn_ros.nodes.simulator.arm_simulator import ArmSimulator
from flexdyn_ros.nodes.simulator.joint_controller import JointController
from flexdyn_ros.nodes.simulator.pace import Lockstep, Pace, SimulationThread
from flexdyn_ros.nodes.simulator.simulation_topics import (
    EFFORTS,
    PD_REFERENCE,
    SimulationInput,
    SimulationOutput,
)
from flexdyn_ros.nodes.simulator.swing_motion import swing_gains, SwingReference
from flexdyn_ros.nodes.torque.plot_topics import FUNCTIONS, PlotTopics
from flexdyn_ros.nodes.torque.torque_terms import Motion
import numpy as np
from std_srvs.srv import SetBool, Trigger

IDLE = 0.02  # real time between two messages while paused [s]
SLOW = 0.9  # part of the required real-time factor below which diagnostics warn [1]
SILENCE = 5.0  # real time without an answer in lockstep after which the log reports it [s]


class ForwardDynamicsNode(RobotNode):
    """
    Steps the simulation in a thread of its own; the executor takes commands and services.

    The lock guards the simulator and its stamp, which both threads use.
    """

    def __init__(self, **node_arguments: Any):
        """Create publishers, subscriptions and services."""
        self.simulator: Any = None  # an ArmSimulator once configured
        self.thread: Any = None  # a SimulationThread while active
        self.lockstep: Optional[Lockstep] = None  # while active in lockstep
        super().__init__('forward_dynamics_node', **node_arguments)
        self.lock = threading.Lock()
        self.paused = False
        self.failed = False
        self.on_clock = False  # whether the pace is that of a clock that others publish
        self.stamp = 0
        self.behind = 0  # ROS time less simulated time where the simulation keeps pace [ns]
        self.pace = Pace()
        self.output = SimulationOutput(
            self, self.parameters['frame_prefix'], self.parameters['publish_clock']
        )
        self.plots = PlotTopics(self) if self.parameters['plot_topics'] else None
        self.swing = SwingReference(self)
        self.input = SimulationInput(self)
        self.calls = (
            self.create_service(SetBool, '~/pause', self._on_pause),
            self.create_service(Trigger, '~/reset', self._on_reset),
        )

    # Life cycle.

    def set_up(self) -> None:
        """Put the arm at its initial state."""
        p = self.parameters
        if p['gravity']:
            self.dyn.set_gravity(np.array(p['gravity']))
        self.cycle = 1.0 / p['publish_rate']
        joints = tuple(p['joints']) or actuated_joints(self.robot)
        gains = p['pd.kp'], p['pd.kd']
        if p['swing.amplitude'] and not any(gains):
            gains = swing_gains(self.dyn, joints, p['swing.period'])
        controller = JointController(*gains, len(joints))
        self.simulator = ArmSimulator(
            self.dyn,
            joints,
            p['step'],
            controller,
            p['initial_positions'],
            p['initial_deflection'] == 'static',
            p['method'],
            p['joint_stops'],
        )
        if self.simulator.step < p['step']:
            self.get_logger().info(
                f'step shortened from {p["step"]:g} s to {self.simulator.step:.3g} s: the fastest '
                f'motion has an eigenvalue of {self.simulator.fastest_rate:.4g} 1/s'
            )
        tips = tuple(p['tips']) or self.robot.tip_names
        require_known('link', tips, self.robot.frame_names)
        self.output.set_robot(self.dyn, self.simulator, tips)
        if self.plots:
            self.dyn.compile(*FUNCTIONS)
            self.plots.set_robot(self.dyn, self._plotted, tips)
        swinging = self.swing.set_arm(
            self.robot, self.simulator, p['swing.amplitude'], p['swing.period'])
        if swinging:
            self.get_logger().info(f'~/swing_reference swings {", ".join(swinging)}.')
        controlled = 'with' if any(gains) else 'without'
        self.get_logger().info(
            f'Simulating {self.robot} by {self.simulator.method}; commands drive '
            f'{", ".join(joints)}, {controlled} a joint controller.'
        )

    def start(self) -> None:
        """Start the thread."""
        p = self.parameters
        self.paused, self.failed = p['start_paused'], False
        self.pace.begin(self.simulator.time)
        self.lockstep = None
        if p['lockstep']:
            self.lockstep = Lockstep([EFFORTS, *([PD_REFERENCE] if p['pd.lockstep'] else [])])
        factor = p['real_time_factor']
        period = self.cycle / factor if factor else 0.0
        foreign = self.get_parameter('use_sim_time').value and not p['publish_clock']
        self.on_clock = bool(foreign and period)
        self.thread = SimulationThread(
            self._heard_cycle, period, self._ros_time if self.on_clock else None)
        self.behind = self._behind_now()
        self._renew_stamp()
        self._publish()
        self.diagnostics.report(OK, 'running')
        self.thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        if self.lockstep:
            self.lockstep.end()
        self.thread.stop()

    # The simulation thread.

    def _heard_cycle(self) -> None:
        """Do one cycle; any exception in this thread is logged and stops the simulation."""
        try:
            self._cycle()
        except Exception:
            # SIGINT and SIGTERM end the context before this thread returns from its wait.
            if self.context.ok():
                self._fail(traceback.format_exc())

    def _fail(self, why: str) -> None:
        self.failed = True
        why = f'{why} No state is published. Call ~/reset to put the arm at its initial state.'
        self.get_logger().error(why)
        self.diagnostics.report(ERROR, why)

    def _cycle(self) -> None:
        with self.pace.taking('waiting for answers'):
            if self.lockstep and not self._answered(self.lockstep):
                return
        if self.paused or self.failed:
            time.sleep(IDLE)
            self.thread.begin_anew()
            with self.lock:
                self.behind = self._behind_now()
                self._renew_stamp()
        else:
            self._advance()
        # The state before a failure would stand still with the velocity of its motion.
        if not self.failed:
            with self.pace.taking('publishing'):
                self._publish()

    def _answered(self, lockstep: Lockstep) -> bool:
        """Return whether the state was answered; publish it again until it is, or until a stop."""
        while not (self.paused or self.failed or lockstep.wait()):
            self._publish()
            if lockstep.waited > SILENCE:
                self._tell_silence(lockstep)
        return not self.thread.stopping

    def _tell_silence(self, lockstep: Lockstep) -> None:
        other = lockstep.other_stamp
        met = '' if other is None else f'; the last one received is stamped {_seconds(other)}'
        self.get_logger().info(
            f'lockstep: waiting for {" and ".join(lockstep.unanswered)} with the stamp of the '
            f'state, {_seconds(self.stamp)}{met}',
            throttle_duration_sec=SILENCE,
        )

    def _publish(self) -> None:
        with self.lock:
            if self.lockstep:
                self.lockstep.ask(self.stamp)
            self.swing.publish(self.stamp)
            self.output.publish(self.stamp)
            if self.plots:
                self.plots.publish(self.stamp)

    def _plotted(self) -> Motion:
        """Return the motion of the simulator for the topics for plots."""
        simulator = self.simulator
        q, qd = simulator.q, simulator.qd
        return q, qd, simulator.torque(q, qd), simulator.wrenches

    def _behind_now(self) -> int:
        """Return the value of `behind` at which the next state is that of the present time."""
        simulated = round((self.simulator.time + self.cycle) * NANOSECONDS)
        return self.get_clock().now().nanoseconds - simulated

    def _renew_stamp(self) -> None:
        """
        Stamp the state as a new one.

        A simulation that falls behind real time stamps by its own time: positions then change
        from stamp to stamp by the velocity.
        """
        if self.parameters['publish_clock']:
            self.stamp = round(self.simulator.time * NANOSECONDS)
        else:
            # A clock that others publish may stand still from one state to the next.
            stamp = self.get_clock().now().nanoseconds
            if self.on_clock:
                stamp = round(self.thread.due * NANOSECONDS)
            else:
                own = round(self.simulator.time * NANOSECONDS) + self.behind
                stamp = min(stamp, own)
            self.stamp = stamp + (stamp == self.stamp)

    def _ros_time(self) -> float:
        """Return the time of the ROS clock [s]."""
        return self.get_clock().now().nanoseconds / NANOSECONDS

    def _advance(self) -> None:
        try:
            with self.lock:
                if self.lockstep and self.lockstep.unanswered:
                    return  # A reset has come between the answer and this step.
                with self.pace.taking(self._steps):
                    self.simulator.advance(self.cycle)
                self._renew_stamp()
        except FlexdynError as error:
            self._fail(str(error))
            return
        if self.pace.measured(self.simulator.time):
            self._report_pace()

    @property
    def _steps(self) -> str:
        """Steps of a cycle, for the diagnostics."""
        simulator = self.simulator
        count = simulator.steps_of(self.cycle)
        step, where = 1e3 * self.cycle / count, '' if simulator.compiled else ' in Python'
        return f'{count} {simulator.method} steps of {step:.3g} ms a cycle{where}'

    def _report_pace(self) -> None:
        """Warn of a simulation that is slower than required, with the time of each activity."""
        asked, pace = min(self.parameters['real_time_factor'], 1.0), self.pace
        if self.on_clock or pace.factor >= SLOW * asked:
            self.diagnostics.report(OK, 'running')
            return
        costs = sorted(pace.costs.items(), key=lambda each: -each[1])
        listed = ', '.join(f'{what} {each:.2g} s' for what, each in costs if each > 0.01)
        self.diagnostics.report(
            WARN, f'runs at {pace.factor:.2g} of real time; a simulated second takes: {listed}. '
            'Stamps are simulated time. A longer step or a lower publish_rate takes less.')

    # Services, in the executor's thread.

    def _on_pause(self, request, response):
        self.paused = request.data
        self.pace.begin(self.simulator.time if self.simulator else 0.0)
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
                # A stamp of its own, so that no answer to the state before can count for it.
                self.simulator.time += self.cycle
                self.behind = max(
                    self.behind - round(self.cycle * NANOSECONDS), self._behind_now())
                self._renew_stamp()
                if self.lockstep:
                    self.lockstep.ask(self.stamp)
            self.failed = False
            self.diagnostics.report(WARN if self.paused else OK, 'reset')
        return response

    def diagnostic_values(self) -> dict[str, Any]:
        """Return the pace of the simulation."""
        if self.simulator is None:
            return {}
        return {
            'simulated_time': self.simulator.time,
            'real_time_factor': self.pace.factor,
            'integration_method': self.simulator.method,
            'integration_step': self.simulator.step,
            'late_cycles': self.thread.late if self.thread else 0,
            'rejected_inputs': self.input.rejected,
            'paused': self.paused,
        }


def _seconds(stamp: int) -> str:
    """Return a stamp [ns] as text."""
    return f'{stamp // NANOSECONDS}.{stamp % NANOSECONDS:09d} s'


def main(args: Optional[list[str]] = None) -> int:
    """Run the node."""
    return run_node(ForwardDynamicsNode, args)


if __name__ == '__main__':
    sys.exit(main())

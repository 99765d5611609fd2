# SPDX-License-Identifier: Apache-2.0
"""Common parts of all nodes: parameters, description, life cycle with autostart, clean stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
import signal
import sys
import time
import traceback
from typing import Any, Callable, Optional

from builtin_interfaces.msg import Time
import flexdyn_ros
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.model.check_plausible import NO_MASS
from flexdyn_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK
from flexdyn_ros.nodes.common.guarded_callbacks import GuardedCallbacks, spin
from flexdyn_ros.nodes.common.node_parameters import NodeParameters
from flexdyn_ros.nodes.common.parameters import node_specifications
from flexdyn_ros.nodes.common.process import log_through, time_limit
from flexdyn_ros.nodes.common.run_time_model import Values
from flexdyn_ros.nodes.common.topics import DescriptionTopic
import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import TransitionCallbackReturn

# Longest time in which the middleware releases a node [s].
STOP_LIMIT = 3.0


class RobotNode(GuardedCallbacks, ABC):
    """
    A lifecycle node around one robot.

    A subclass gives `set_up`, and may give `start`, `stop` and `diagnostic_values`.

    Attributes:
        parameters: The declared parameters.
        diagnostics: The status of the node.
        robot: The loaded robot; None while unconfigured.
        dyn: Its dynamics; None while unconfigured.
        active: Whether the node is in the active state.
        owns_process: Whether the process runs for this node alone.
    """

    def __init__(self, name: str, **node_arguments: Any):
        """
        Declare parameters and wait for the configuration of the node.

        Args:
            name: Name of the node and of its parameter file.
            node_arguments: Passed on to LifecycleNode.
        """
        super().__init__(name, **node_arguments)
        self.robot: Any = None
        self.dyn: Any = None
        self.active = self.owns_process = False
        self._loaded_text = ''
        self.parameters = NodeParameters(
            self, node_specifications(name), self._check_parameters, lambda: self.active)
        self.diagnostics = Diagnostics(self, self._diagnostic_values)
        self._topic: Optional[DescriptionTopic] = None
        if not self.parameters['robot_description']:
            self._topic = DescriptionTopic(self, self._on_description)
        self._autostart_timer = self.create_steady_timer(0.0, self._autostart)

    # Methods of a subclass.

    @abstractmethod
    def set_up(self) -> None:
        """Prepare for self.robot and self.dyn; raise FlexdynError where that cannot be."""

    def start(self) -> None:
        """Start working."""

    def stop(self) -> None:
        """Stop working; called on deactivation and before the node ends."""

    def check_parameters(self, values: Values, changed: set[str]) -> Optional[str]:
        """
        Return the fault of parameter values, or None.

        Args:
            values: All values as they would become.
            changed: Names of those that are set.
        """

    def diagnostic_values(self) -> dict[str, Any]:
        """Return key-value pairs for diagnostics."""
        return {}

    def on_failure(self, what: str, why: str) -> None:
        """Report a failed callback in diagnostics."""
        self.diagnostics.report(ERROR, f'{what} failed: {why}')

    def _check_parameters(self, values: Values, changed: set[str]) -> Optional[str]:
        text = values['robot_description']
        if 'robot_description' in changed and text not in ('', self._loaded_text):
            try:
                flexdyn_ros.load_robot(text, extension=values['extension_file'] or None)
            except (FlexdynError, OSError) as error:
                return f'robot_description: {error}'
        return self.check_parameters(values, changed)

    def _diagnostic_values(self) -> dict[str, Any]:
        failed = {f'failures/{what}': count for what, count in self.failures.items()}
        return {**self.diagnostic_values(), **failed}

    # Life cycle.

    def create_steady_timer(self, period: float, callback: Callable[[], None]):
        """Return a timer with a period [s] on a steady clock."""
        return self.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def stamp_of(self, message: Any) -> Time:
        """Return the stamp of a message, the present time where it has none."""
        stamp = message.header.stamp
        if not (stamp.sec or stamp.nanosec):
            return self.get_clock().now().to_msg()
        return stamp if isinstance(stamp, Time) else Time(sec=stamp.sec, nanosec=stamp.nanosec)

    @property
    def description(self) -> str:
        """The description in force; empty while none is known."""
        return self.parameters['robot_description'] or (self._topic.text if self._topic else '')

    def _autostart(self) -> None:
        self._autostart_timer.cancel()
        if not self.parameters['autostart']:
            return
        if self.description:
            self._configure_and_activate()
        else:
            self.get_logger().info('waiting for the topic robot_description')

    def _configure_and_activate(self) -> None:
        if self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    def _on_description(self) -> None:
        if self.active:
            self.get_logger().warning(
                'a new robot_description takes effect when this node is deactivated; deactivate it'
            )
        elif self._state_machine.current_state[1] == 'inactive':
            self._load()
        elif self.parameters['autostart'] and self._autostart_timer.is_canceled():
            self._configure_and_activate()

    def _load(self) -> bool:
        """Load the description and set up; return whether that worked."""
        text = self.description
        if not text:
            return self._refuse(
                'no robot_description yet. Set the parameter, or publish the topic')
        extension = self.parameters['extension_file'] or None
        self.parameters.needs_configure = False
        try:
            self.robot = flexdyn_ros.load_robot(text, extension=extension)
            problem = self.check_parameters(self.parameters, set())
            if problem:
                raise FlexdynError(problem)
            # Code is generated now, not after some calls in the middle of the work.
            self.dyn = flexdyn_ros.Dynamics(
                self.robot, backend=self.parameters['backend'])
            started = time.monotonic()
            self.set_up()
            took = time.monotonic() - started
        except Exception as error:
            self.robot = self.dyn = None
            self._loaded_text = ''
            return self._refuse_for(error)
        self._loaded_text = text
        if self.robot.coordinate_names and not self.robot.total_mass:
            self.get_logger().warning('. '.join(NO_MASS))
        for note in self.robot.notes:
            self.get_logger().info(note)
        self.get_logger().info(f'The dynamics run on the backend "{self.dyn.backend}"; '
                               f'preparing took {took:.1f} s.')
        self.diagnostics.hardware_id = self.robot.name
        self.diagnostics.report(OK, 'configured')
        return True

    def _refuse_for(self, error: Exception) -> bool:
        """Log the failure of a transition; rclpy would drop the exception."""
        expected = isinstance(error, (FlexdynError, OSError))
        return self._refuse(str(error) if expected else traceback.format_exc())

    def _refuse(self, message: str) -> bool:
        self.get_logger().error(message)
        self.diagnostics.report(ERROR, message)
        return False

    def on_configure(self, state) -> TransitionCallbackReturn:
        """Load the robot."""
        return super().on_configure(state) if self._load() else TransitionCallbackReturn.FAILURE

    def on_activate(self, state) -> TransitionCallbackReturn:
        """Start, with the newest description and parameters."""
        current = self.description == self._loaded_text
        ready = (current and not self.parameters.needs_configure) or self._load()
        result = super().on_activate(state) if ready else TransitionCallbackReturn.FAILURE
        if result == TransitionCallbackReturn.SUCCESS:
            try:
                self.start()
                self.active = True
            except Exception as error:
                super().on_deactivate(state)
                self._refuse_for(error)
                return TransitionCallbackReturn.FAILURE
        return result

    def on_deactivate(self, state) -> TransitionCallbackReturn:
        """Stop; a description that came meanwhile is loaded now."""
        self.end()
        result = super().on_deactivate(state)
        if self.description != self._loaded_text:
            self._load()
        return result

    def on_cleanup(self, state) -> TransitionCallbackReturn:
        """Discard the robot."""
        self.robot = self.dyn = None
        self._loaded_text = ''
        return super().on_cleanup(state)

    def on_shutdown(self, state) -> TransitionCallbackReturn:
        """Stop before the node ends."""
        self.end()
        return super().on_shutdown(state)

    def end(self) -> None:
        """Stop if active."""
        if self.active:
            self.active = False
            self._guarded('stop', self.stop)()


def run_node(make: Callable[[], RobotNode], args: Optional[list[str]] = None) -> int:
    """
    Spin a node until SIGINT or SIGTERM.

    Args:
        make: Makes the node.
        args: Command line, or None for sys.argv.

    Returns:
        Exit code: 0 after a clean stop, 1 where a parameter was wrong.
    """
    # rclpy shuts its context down on SIGINT; Python's KeyboardInterrupt on top of that would
    # strike anywhere, in the middle of a message's conversion too.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    rclpy.init(args=args)
    node, code = None, 0
    try:
        node = make()
        node.owns_process = True
        log_through(node.get_logger())
        spin(node)
    except ExternalShutdownException:
        pass
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        print(f'Wrong parameter: {error}', file=sys.stderr)
        code = 1
    except Exception:
        # A callback may be cut off by the shutdown of the context.
        if rclpy.ok():
            code = 1
            raise
    finally:
        if node is not None:
            node.end()
        with time_limit(STOP_LIMIT, code):
            if node is not None:
                node.destroy_node()
            rclpy.try_shutdown()
    return code

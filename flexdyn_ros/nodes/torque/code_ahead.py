# SPDX-License-Identifier: Apache-2.0
"""
Code for a changed model, made in another process while the node works with the model before.

Tracing and compiling hold Python's interpreter for seconds, in a thread as well. So a process
makes the code and leaves it in the cache on disk. A thread then loads it in milliseconds, and the
node takes it between two cycles. `prepare` is all that both share: its calls decide on
the functions that are made.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
import json
import os
from pathlib import Path
import subprocess
import sys
import threading
from typing import Any, Mapping, Optional

import flexdyn_ros
from flexdyn_ros.nodes.common.run_time_model import keep_loads_as_arguments, PAYLOAD, set_payload
from flexdyn_ros.nodes.torque.feed_forward import FeedForward
from flexdyn_ros.nodes.torque.torque_terms import COMPENSATED, TorqueTerms

PARAMETERS = (
    'extension_file', 'backend', 'torque_model', 'measured_side', 'base_acceleration',
    'wrench_links', 'plot_topics', 'modes.step', 'modes.maximum_gap', 'modes.spectral_radius',
    *COMPENSATED, *PAYLOAD,
)
"""Parameters that code depends on, or that `FeedForward.of` reads."""


@dataclass(frozen=True)
class ModelRequest:
    """
    Dependencies of the code.

    Attributes:
        description: URDF text.
        joints: The driven joints.
        carriers: Links whose payload is an argument of the code in any case.
        section: Centre of mass of a payload on a flexible link, which chooses its cross-section.
        values: Parameter values by name, those of PARAMETERS.
    """

    description: str
    joints: tuple[str, ...]
    carriers: tuple[str, ...]
    section: tuple[float, ...]
    values: Mapping[str, Any]

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that the torque contains."""
        return TorqueTerms.of(self.values).names

    @property
    def variant(self) -> tuple[Any, ...]:
        """The parts of the request that need code of their own; numbers are its arguments."""
        link = self.values['payload.link']
        return '' if link in self.carriers else link, self.section, self.terms

    def sentence(self) -> str:
        """Return the purpose of the code."""
        link = self.values['payload.link']
        parts = [f'a payload on {link}'] if link else []
        return f'code for {" and ".join([*parts, "the terms " + ", ".join(self.terms)])}'


def prepare(robot: Any, request: ModelRequest) -> None:
    """
    Make, or load, all code that the torque of a request calls.

    Args:
        robot: The robot.
        request: The request.
    """
    values = request.values
    dyn = flexdyn_ros.Dynamics(robot, backend=values['backend'])
    feed_forward = FeedForward.of(dyn, values, request.joints, values['wrench_links'])
    keep_loads_as_arguments(dyn, request.carriers)
    set_payload(dyn, values)
    feed_forward.prepare()


class CodeAhead:
    """
    Makes the code for one request after the other.

    Attributes:
        problem: The failure of the last request, or None.
    """

    def __init__(self, robot: Any, ready: ModelRequest):
        """
        Start with the code that is there.

        Args:
            robot: The robot.
            ready: A request whose code this process has.
        """
        self.problem: Optional[str] = None
        self._robot = robot
        self._ready = {ready.variant}
        self._anything = ready.values['backend'] == 'reference'
        self._request: Optional[ModelRequest] = None
        self._process: Any = None
        self._thread: Optional[threading.Thread] = None

    def has(self, request: ModelRequest) -> bool:
        """Return whether the code is there, and request it where it is not."""
        if self._anything or request.variant in self._ready:
            return True
        busy = self._thread is not None and self._thread.is_alive()
        if not busy and self._request is not None and self.problem:
            if self._request.variant == request.variant:
                return False
        if not busy:
            self.problem, self._request = None, request
            self._thread = threading.Thread(
                target=self._make, args=(request,), name='code_ahead', daemon=True)
            self._thread.start()
        return False

    def forget_problem(self) -> None:
        """Try a request that failed again, when it comes again."""
        self.problem = None

    def cancel(self) -> None:
        """End the process that makes code."""
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()

    def _make(self, request: ModelRequest) -> None:
        folders = [str(Path(flexdyn_ros.__file__).resolve().parents[1])]
        folders += filter(None, [os.environ.get('PYTHONPATH')])
        environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(folders)}
        try:
            self._process = subprocess.Popen(
                [sys.executable, '-m', 'flexdyn_ros.nodes.torque.code_ahead'], env=environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )
            if hasattr(os, 'sched_setscheduler'):
                # The child does not inherit the real-time priority of a node.
                os.sched_setscheduler(self._process.pid, os.SCHED_OTHER, os.sched_param(0))
            output, _ = self._process.communicate(json.dumps(asdict(request)).encode())
            if self._process.returncode != 0:
                lines = output.decode(errors='replace').strip().splitlines()
                self.problem = lines[-1] if lines else f'exit code {self._process.returncode}'
                return
            prepare(self._robot, request)
            self._ready.add(request.variant)
        except Exception as error:
            self.problem = f'{type(error).__name__}: {error}'


def main() -> int:
    """Make the code for the request on standard input, as JSON."""
    os.nice(5)
    request = ModelRequest(**json.load(sys.stdin))
    extension = request.values['extension_file'] or None
    robot = flexdyn_ros.load_robot(request.description, extension=extension)
    prepare(robot, request)
    return 0


if __name__ == '__main__':
    sys.exit(main())

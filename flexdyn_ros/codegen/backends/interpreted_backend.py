# SPDX-License-Identifier: Apache-2.0
"""
The "python" backend where the extension is there: the same programs, interpreted by it.

An operation then takes about one nanosecond instead of CPython's fifteen, and the results are
the same bit for bit. No compiler is needed.
"""

from __future__ import annotations

import logging
from typing import Any
from typing import Mapping
from typing import Optional

from flexdyn_ros.codegen.backends.kernel_backend import KernelBackend
from flexdyn_ros.codegen.backends.kernel_backend import Listener
from flexdyn_ros.codegen.backends.python_backend import PythonBackend
from flexdyn_ros.codegen.backends.variants import Floats
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.native.interpreted_program import InterpretedProgram
from flexdyn_ros.model.robot.link import Inertia
from flexdyn_ros.model.robot.robot import Robot

_logger = logging.getLogger('flexdyn_ros.codegen')


class InterpretedBackend(KernelBackend):
    """Evaluates one robot under one gravity and one set of payloads by instructions."""

    runs_on = "the extension's interpreter"
    times_c = 3
    leaves_traces = True

    def _as_program(self, *parts: Any) -> InterpretedProgram:
        return InterpretedProgram(*parts)


def python_backend(
    robot: Robot,
    gravity: Floats,
    payloads: Mapping[str, Inertia],
    listener: Optional[Listener] = None,
) -> PythonBackend:
    """
    Return the fastest backend "python" that this installation allows without a compiler.

    Args:
        robot: The robot.
        gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
        payloads: Inertia in link axes by link name.
        listener: See KernelBackend.
    """
    if extension(build=False) is None:
        backend = PythonBackend(robot, gravity, payloads)
    else:
        backend = InterpretedBackend(robot, gravity, payloads, listener=listener)
    _logger.info('Robot "%s" uses the backend "python", run by %s.', robot.name, backend.runs_on)
    return backend

# SPDX-License-Identifier: Apache-2.0
"""
The backend "python" in the fastest way that a machine allows.

Machine code of our own comes first, then the extension's interpreter, then CPython. All give the
same bits. $FLEXDYN_PYTHON names one of them.
"""

from __future__ import annotations

from functools import lru_cache
import logging
import os
from typing import Mapping
from typing import Optional

from flexdyn_ros.codegen.backends.interpreted_backend import InterpretedBackend
from flexdyn_ros.codegen.backends.kernel_backend import Listener
from flexdyn_ros.codegen.backends.machine_backend import MachineBackend
from flexdyn_ros.codegen.backends.python_backend import PythonBackend
from flexdyn_ros.codegen.backends.variants import Floats
from flexdyn_ros.codegen.native import machine_program
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.model.records.inertia import Inertia
from flexdyn_ros.model.records.robot import Robot

VARIABLE = 'FLEXDYN_PYTHON'
WAYS = MACHINE_CODE, INTERPRETER, CPYTHON = ('machine_code', 'interpreter', 'cpython')

_logger = logging.getLogger('flexdyn_ros.codegen')


def python_backend(
    robot: Robot,
    gravity: Floats,
    payloads: Mapping[str, Inertia],
    listener: Optional[Listener] = None,
) -> PythonBackend:
    """
    Return the fastest backend "python" that this machine allows without a compiler.

    Args:
        robot: The robot.
        gravity: Acceleration of gravity in the root frame, (3,) [m/s^2].
        payloads: Inertia in link axes by link name.
        listener: See KernelBackend.

    Raises:
        ArgumentError: If $FLEXDYN_PYTHON names none of WAYS.
    """
    has_extension = extension(build=False) is not None
    wanted = WAYS[WAYS.index(_wanted()):]
    backend: PythonBackend
    if MACHINE_CODE in wanted and _machine_code_runs():
        backend = MachineBackend(robot, gravity, payloads, listener=listener)
    elif INTERPRETER in wanted and has_extension:
        backend = InterpretedBackend(robot, gravity, payloads, listener=listener)
    else:
        backend = PythonBackend(robot, gravity, payloads)
    _logger.info('Robot "%s" uses the backend "python", run by %s.', robot.name, backend.runs_on)
    return backend


def _wanted() -> str:
    """Return the fastest of WAYS that may be taken."""
    wanted = os.environ.get(VARIABLE) or MACHINE_CODE
    if wanted not in WAYS:
        raise ArgumentError(f'${VARIABLE}', f'is "{wanted}", expected one of {WAYS}')
    return wanted


@lru_cache(maxsize=1)
def _machine_code_runs() -> bool:
    """Return whether machine code can run in this process; say why if not, once."""
    problem = machine_program.problem()
    if problem is not None:
        _logger.info('The backend "python" does without machine code: %s.', problem)
    return problem is None

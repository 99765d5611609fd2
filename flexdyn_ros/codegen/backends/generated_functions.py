# SPDX-License-Identifier: Apache-2.0
"""Generated Python functions for a backend: made before, kept on disk, or made now."""

from __future__ import annotations

from threading import RLock
from typing import Callable

from flexdyn_ros.codegen.backends.variants import key_of
from flexdyn_ros.codegen.backends.variants import traced
from flexdyn_ros.codegen.emitting.emit_python import emit_python
from flexdyn_ros.codegen.emitting.registers import with_registers
from flexdyn_ros.codegen.emitting.schedule import schedule
from flexdyn_ros.codegen.generate import compile_python
from flexdyn_ros.codegen.native import source_cache
from flexdyn_ros.codegen.tracing.function_vectors import function_identifier
from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.loads import Loads
from flexdyn_ros.model.records.robot import Robot

# Functions whose matrices are lists of all numbers by rows, for `arguments.deliver_matrix`.
FLAT = ('mass_matrix', 'jacobian')

# Functions made in this process, by entry.
_made: dict[str, Callable] = {}
_lock = RLock()


def generated_function(
    robot: Robot, digest: str, request: Request, loads: Loads, solver: str
) -> Callable:
    """
    Return a generated function, whose vectors are lists of floats, matrices lists of rows.

    Those of FLAT functions are one list, by rows.

    Args:
        robot: The robot.
        digest: Digest of the robot.
        request: Which function.
        loads: What stays an argument.
        solver: One of `variants.SOLVERS`.
    """
    entry = _entry(digest, request, loads, solver)
    with _lock:
        found = _made.get(entry)
        if found is None:
            source = source_cache.read(entry)
            if source is None:
                source = _generate(robot, request, loads, solver)
                source_cache.write(entry, source)
            found = _made[entry] = compile_python(source, function_identifier([request]))
    return found


def is_generated(digest: str, request: Request, loads: Loads, solver: str) -> bool:
    """Return whether a function is made, or kept on disk."""
    entry = _entry(digest, request, loads, solver)
    return entry in _made or source_cache.read(entry) is not None


def _entry(digest: str, request: Request, loads: Loads, solver: str) -> str:
    return source_cache.entry_name('python', *key_of(digest, request, loads, solver))


def _generate(robot: Robot, request: Request, loads: Loads, solver: str) -> str:
    plan = schedule(traced(robot, request, loads, solver))
    return emit_python(with_registers(plan), flat=request.name in FLAT)

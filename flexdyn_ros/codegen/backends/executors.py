# SPDX-License-Identifier: Apache-2.0
"""
Executors of generated code: CPython the exported Python, or the processor the exported C.

An executor makes functions of vectors. Their results are nested lists or arrays, a tuple if there
are several; an ArithmeticError or ValueError means that the results are not sound.
"""

from __future__ import annotations

from functools import partial
from threading import RLock
from time import perf_counter
from typing import Any, Callable, Optional

from flexdyn_ros.codegen.backends.variants import Variant
from flexdyn_ros.codegen.compile import cache
from flexdyn_ros.codegen.compile.closed_loops import closing_source
from flexdyn_ros.codegen.compile.compiled_c import CALL_SYMBOL, DOUBTFUL_PIVOT
from flexdyn_ros.codegen.compile.compiler import find_compiler
from flexdyn_ros.codegen.compile.program import (
    CompiledProgram,
    log_if_long,
    NativeFunction,
)
from flexdyn_ros.codegen.export.python import emit_python
from flexdyn_ros.codegen.export.schedule import schedule
from flexdyn_ros.codegen.generate import compile_python
from flexdyn_ros.codegen.tracing.function_vectors import function_identifier

_lock = RLock()
# Functions of Python made in this process, by entry.
_made: dict[str, Callable] = {}


class Executor:
    """Makes functions out of programs."""

    name: str

    def function(self, variant: Variant) -> Optional[Callable[..., Any]]:
        """
        Return the function of vectors, wrenches and parameters; constants are part of it.

        It is None where the function depends on loops and compiled code does not solve them.
        """
        raise NotImplementedError

    def batch(self, variant: Variant) -> Optional[Callable[..., None]]:
        """Return a function over many samples, see `ctypes_calls.Batch`, or None."""

    def native(self, variant: Variant) -> Optional[NativeFunction]:
        """Return the function as compiled code calls it, or None."""


class PythonExecutor(Executor):
    """Runs the exported Python by CPython; sources are kept on disk."""

    name = 'python'

    def function(self, variant: Variant) -> Optional[Callable[..., Any]]:
        """Return the function of a variant, None where it depends on loops."""
        if variant.request.settings:
            return None
        plain = self._plain(variant)
        values = variant.constants
        given = len(variant.request.function.inputs)
        count = len(variant.outputs)

        def evaluate(*arguments: Any) -> Any:
            found = plain(*arguments[:given], *values.values(), *arguments[given:])
            if isinstance(found, tuple) and len(found) > count:
                *found, pivots = found
                if not min(pivots) > DOUBTFUL_PIVOT * max(pivots):
                    raise ArithmeticError('a pivot is doubtful')
                return tuple(found) if count > 1 else found[0]
            return found

        return evaluate

    def _plain(self, variant: Variant) -> Callable[..., Any]:
        """Return the exported function: made before, kept on disk, or made now."""
        entry = cache.entry_name(self.name, *variant.key)
        with _lock:
            if entry not in _made:
                kept, start = cache.read(entry), perf_counter()
                source = kept.decode() if kept is not None else emit_python(
                    schedule(variant.trace())
                )
                if kept is None:
                    cache.write(entry, source.encode())
                    log_if_long(_title(variant), start)
                _made[entry] = compile_python(source, function_identifier([variant.request]))
            return _made[entry]


class CExecutor(Executor):
    """Runs the exported C, compiled function by function when first used."""

    name = 'c'

    def __init__(self) -> None:
        """
        Find the compiler.

        Raises:
            NoCompiler: If there is no C compiler.
        """
        self.compiler = find_compiler()

    def function(self, variant: Variant) -> Callable[..., Any]:
        """Return the kernel of a variant."""
        kernel = _program(variant).kernel()
        if not variant.request.parameters:
            return kernel

        def evaluate(*arguments: Any) -> Any:
            """Pass numbers on as vectors of one."""
            return kernel(*((x,) if isinstance(x, float) else x for x in arguments))

        return evaluate

    def batch(self, variant: Variant) -> Optional[Callable[..., None]]:
        """Return the function of a variant over many samples."""
        return _program(variant).batch()

    def native(self, variant: Variant) -> Optional[NativeFunction]:
        """Return the function of a variant as compiled code calls it."""
        return _program(variant).native()


def _title(variant: Variant) -> str:
    return f'{variant.request.name} of robot "{variant.robot.name}"'


def _program(variant: Variant) -> CompiledProgram:
    request, robot = variant.request, variant.robot
    of_loops = request.traced.name == 'loop_equations'
    return CompiledProgram(
        _title(variant), ('dynamics', *variant.key), variant.trace,
        variant.inputs, variant.outputs, variant.constants, variant.quaternions,
        f'flexdyn_{request.name}' if request.settings else CALL_SYMBOL, request.settings,
        partial(closing_source, robot) if of_loops else None,
    )

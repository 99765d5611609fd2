# SPDX-License-Identifier: Apache-2.0
"""
Any traced program as compiled code: built once, kept on disk, ready to be called.

`key` names a program: all that its trace depends on besides the version of this package. Where
the cache has it, nothing is traced, generated or compiled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from typing import Callable
from typing import Sequence

from flexdyn_ros.codegen.emitting.batch_loop import BATCH_SYMBOL
from flexdyn_ros.codegen.emitting.batch_loop import PIVOTS
from flexdyn_ros.codegen.emitting.emit_kernel import CALL_SYMBOL
from flexdyn_ros.codegen.emitting.emit_kernel import emit_batch
from flexdyn_ros.codegen.emitting.emit_kernel import emit_call
from flexdyn_ros.codegen.native import ctypes_calls
from flexdyn_ros.codegen.native import libraries
from flexdyn_ros.codegen.native import source_cache
from flexdyn_ros.codegen.native.compiler import find_compiler
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.native.kernel_program import KernelProgram
from flexdyn_ros.codegen.native.kernel_program import made_kernel

CALL, BATCH = 'call', 'batch'
FLAGS = {CALL: ('-O2',), BATCH: ('-O3',)}
SYMBOLS = {CALL: CALL_SYMBOL, BATCH: BATCH_SYMBOL}
# Addresses of functions loaded in this process, with the number of their pivots.
_loaded: dict[str, tuple[int, int]] = {}


class NativeProgram(KernelProgram):
    """A program that can be compiled."""

    def kernel(self, constants: Sequence[float] = ()) -> Any:
        """
        Return the compiled function of one sample.

        It takes lists of floats and gives nested lists, one for each result, in a tuple where
        there are several; an ArithmeticError says that they are not finite, or that a pivot
        is.

        Args:
            constants: Numbers of the last inputs, which are then no arguments.

        Raises:
            NoCompiler, CompilationFailed: If it cannot be compiled.
        """
        address, pivots = self._load(CALL)
        return made_kernel(_calls(), address, self, constants, pivots)

    def batch(self) -> Callable[..., None]:
        """Return a function of (count, inputs, strides, outputs, flags, threads)."""
        address, _ = self._load(BATCH)
        run = _calls().run_batch
        return lambda *arguments: run(address, *arguments)

    def is_batch_ready(self) -> bool:
        """Return whether the function over samples was compiled before."""
        return self.is_ready(BATCH)

    def is_ready(self, kind: str = CALL) -> bool:
        """Return whether it was compiled before, in this process or another."""
        entry = self._entry(kind)
        return entry in _loaded or libraries.is_kept(entry)

    def _entry(self, kind: str) -> str:
        compiler = find_compiler()
        return source_cache.entry_name(
            kind, *self.key, compiler.identity, *FLAGS[kind], suffix=source_cache.LIBRARY
        )

    def _load(self, kind: str) -> tuple[int, int]:
        entry = self._entry(kind)
        found = _loaded.get(entry)
        if found is None:
            found = _loaded[entry] = libraries.load_library(
                entry, lambda: self._build(kind), lambda path, note: _open(path, note, kind)
            )
        return found

    def _build(self, kind: str) -> libraries.Built:
        trace = self.produce()
        pivots = sum(each.size for each in trace.outputs if each.name == PIVOTS)
        source = emit_call(trace) if kind == CALL else emit_batch(trace, self.quaternions)
        return libraries.Built(find_compiler().build(source, FLAGS[kind]), str(pivots))


def _open(path: Path, note: str, kind: str) -> tuple[int, int]:
    return _calls().find_function(str(path), SYMBOLS[kind]), int(note)


def _calls() -> Any:
    return extension() or ctypes_calls

# SPDX-License-Identifier: Apache-2.0
"""
Any traced program as machine code of our own: no compiler, no extension, the bits of Python.

Code is kept on disk as compiled libraries are, and checked when it is read. It is called by the
extension where that is there, and by `ctypes_calls.py` otherwise.
"""

from __future__ import annotations

from functools import lru_cache
from threading import RLock
from typing import Any
from typing import Callable
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.emitting.numbers_table import with_addresses
from flexdyn_ros.codegen.emitting.sse2_code import batch_code_of
from flexdyn_ros.codegen.emitting.sse2_code import machine_code_of
from flexdyn_ros.codegen.emitting.sse2_code import MachineCode
from flexdyn_ros.codegen.native import ctypes_calls
from flexdyn_ros.codegen.native import executable_memory
from flexdyn_ros.codegen.native import math_functions
from flexdyn_ros.codegen.native import source_cache
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.native.kernel_program import KernelProgram
from flexdyn_ros.codegen.native.kernel_program import made_kernel

CALL, BATCH = 'machine code', 'machine code of batches'
# Code loaded in this process, by entry, with its address.
_loaded: dict[str, tuple[MachineCode, int]] = {}
_lock = RLock()


class MachineProgram(KernelProgram):
    """A program that can become machine code."""

    def kernel(self, constants: Sequence[float] = ()) -> Any:
        """Return the function of one sample; see KernelProgram."""
        code, address = self._load(CALL)
        calls = extension(build=False) or ctypes_calls
        return made_kernel(calls, address, self, constants, code.pivots)

    def batch(self) -> Callable[..., None]:
        """Return a function of (count, inputs, strides, outputs, flags, threads)."""
        _, address = self._load(BATCH)
        run = (extension(build=False) or ctypes_calls).run_batch
        return lambda *arguments: run(address, *arguments)

    def is_batch_ready(self) -> bool:
        """Return whether the code over samples was made before."""
        return self.is_ready(BATCH)

    def is_ready(self, kind: str = CALL) -> bool:
        """Return whether its code was made before, in this process or another."""
        entry = self._entry(kind)
        return entry in _loaded or source_cache.read_bytes(entry) is not None

    def _entry(self, kind: str) -> str:
        return source_cache.entry_name(kind, *self.key, suffix=source_cache.MACHINE_CODE)

    def _load(self, kind: str) -> tuple[MachineCode, int]:
        entry = self._entry(kind)
        with _lock:
            found = _loaded.get(entry)
            if found is None:
                code = _kept(entry)
                if code is None:
                    trace = self.produce()
                    code = (machine_code_of(trace) if kind == CALL
                            else batch_code_of(trace, self.quaternions))
                    source_cache.write_bytes(entry, code.to_bytes())
                found = _loaded[entry] = code, loaded(code)
            return found


def loaded(code: MachineCode) -> int:
    """
    Return the address of code in memory.

    Raises:
        OSError: If the system does not allow it.
    """
    content = with_addresses(code.content, math_functions.math_functions())
    return executable_memory.memory.place(content) + code.entry


def _kept(entry: str) -> Optional[MachineCode]:
    """Return the code that the cache has, or None."""
    content = source_cache.read_bytes(entry)
    if content is None:
        return None
    try:
        return MachineCode.from_bytes(content)
    except (ValueError, TypeError):
        return None  # made anew


@lru_cache(maxsize=1)
def problem() -> Optional[str]:
    """Return why machine code cannot run in this process, or None."""
    return executable_memory.problem() or math_functions.problem()

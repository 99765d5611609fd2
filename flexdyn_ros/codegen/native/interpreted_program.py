# SPDX-License-Identifier: Apache-2.0
"""
Any traced program run by the interpreter of the extension: no compiler, the bits of Python.

Instructions are kept on disk as compiled libraries are, and checked when they are read.
"""

from __future__ import annotations

import sys
from threading import RLock
from typing import Any
from typing import Callable
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.emitting.instructions import Instructions
from flexdyn_ros.codegen.emitting.instructions import instructions_of
from flexdyn_ros.codegen.native import source_cache
from flexdyn_ros.codegen.native.extension import extension
from flexdyn_ros.codegen.native.kernel_program import KernelProgram
from flexdyn_ros.codegen.native.kernel_program import made_kernel

# Programs of the extension made in this process, by entry, with the number of their pivots.
_made: dict[str, tuple[Any, int]] = {}
_lock = RLock()


class InterpretedProgram(KernelProgram):
    """A program that can be interpreted."""

    def kernel(self, constants: Sequence[float] = ()) -> Any:
        """Return the interpreted function of one sample; see KernelProgram."""
        program, pivots = self._load()
        return made_kernel(extension(), program, self, constants, pivots)

    def batch(self) -> Callable[..., None]:
        """Return a function of (count, inputs, strides, outputs, flags, threads)."""
        module, kernel = extension(), self.kernel()
        assert module is not None
        run = module.run_batch
        return lambda *arguments: run(kernel, *arguments)

    def is_batch_ready(self) -> bool:
        """Return whether its instructions were made before."""
        return self.is_ready()

    def is_ready(self) -> bool:
        """Return whether its instructions were made before, in this process or another."""
        entry = self._entry()
        return entry in _made or source_cache.read_bytes(entry) is not None

    def _entry(self) -> str:
        return source_cache.entry_name(
            'instructions', *self.key, sys.byteorder, suffix=source_cache.INSTRUCTIONS
        )

    def _load(self) -> tuple[Any, int]:
        entry = self._entry()
        with _lock:
            found = _made.get(entry)
            if found is None:
                found = _kept(entry)
            if found is None:
                instructions = instructions_of(self.produce())
                source_cache.write_bytes(entry, instructions.to_bytes())
                found = loaded(instructions), instructions.pivots
            _made[entry] = found
            return found


def _kept(entry: str) -> Optional[tuple[Any, int]]:
    """Return the program that the cache has, and the number of its pivots, or None."""
    content = source_cache.read_bytes(entry)
    if content is None:
        return None
    try:
        instructions = Instructions.from_bytes(content)
        return loaded(instructions), instructions.pivots
    except (ValueError, TypeError):
        return None  # made anew


def loaded(instructions: Instructions) -> Any:
    """
    Return instructions as a program of the extension.

    Raises:
        ValueError: If they would read or write what they must not.
    """
    module = extension()
    assert module is not None
    return module.Program(
        instructions.code, instructions.registers, instructions.inputs, instructions.results,
        instructions.constants, instructions.functions,
    )

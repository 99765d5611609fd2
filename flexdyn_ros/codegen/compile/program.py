# SPDX-License-Identifier: Apache-2.0
"""
Any traced program as compiled code: built once, kept on disk, ready to be called.

A key names a program: all that its trace depends on besides the version of this package. Where the
cache has it, it is neither traced, generated nor compiled.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
import logging
from pathlib import Path
from threading import RLock
from time import perf_counter
from typing import Any, Callable, Optional

from flexdyn_ros.codegen.compile import cache, ctypes_calls
from flexdyn_ros.codegen.compile.compiled_c import (
    batch_source,
    BATCH_SYMBOL,
    call_source,
    CALL_SYMBOL,
    DOUBTFUL_PIVOT,
    NUMBERS_SYMBOL,
)
from flexdyn_ros.codegen.compile.compiler import find_compiler, load_library
from flexdyn_ros.codegen.compile.extension import extension
from flexdyn_ros.codegen.tracing.interface import Input, Output, Trace
import numpy as np

CALL, BATCH = 'call', 'batch'
# Vectors of a few numbers cost straight-line code more than they save; loops have longer ones.
FLAGS = {CALL: ('-O2', '-fno-tree-slp-vectorize'), BATCH: ('-O3',)}
# Building that takes longer than this is logged [s].
LONG = 1.0
# The part of that time that is past once the program is traced.
TRACED = 0.5

_logger = logging.getLogger('flexdyn_ros.codegen')
_lock = RLock()
# Libraries of this process by entry and function; they stay loaded.
_loaded: dict[tuple[str, str], 'Library'] = {}


@dataclass(frozen=True)
class Library:
    """
    A loaded library.

    Attributes:
        handle: The handle that keeps it loaded.
        address: Of its function.
        pivots: Numbers after the results of a call that show whether these are sound.
        memory: Numbers of type double that the function needs for its work.
    """

    handle: ctypes.CDLL
    address: int
    pivots: int
    memory: int


@dataclass(frozen=True)
class NativeFunction:
    """
    A compiled function of one sample, as other compiled code calls it.

        void f(const double *x, double *y, double *work)

    Attributes:
        address: Of the function.
        constants: Numbers that follow the packed vectors in x.
        results: Numbers in y before the pivots.
        pivots: Numbers in y after the results; a doubtful one leaves them to the reference.
        memory: Numbers of type double of its work array.
        handle: The handle that keeps it loaded.
    """

    address: int
    constants: tuple[float, ...]
    results: int
    pivots: int
    memory: int
    handle: ctypes.CDLL


@dataclass(frozen=True)
class CompiledProgram:
    """
    A program that is compiled when first needed.

    Attributes:
        name: Its content, for the log.
        key: Dependencies of the trace, such as a model's digest and a function's name.
        produce: Makes the trace; called only where the cache does not have the program.
        inputs: The trace's inputs.
        outputs: Its results, pivots left out.
        constants: Values of the inputs that are no arguments of a call, by name.
        quaternions: Places of quaternions in the first input.
        symbol: Its function in the library, where other functions stand beside it.
        settings: Numbers that follow the constants.
        closing: See `compiled_c.call_source`.
    """

    name: str
    key: tuple[str, ...]
    produce: Callable[[], Trace]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    constants: dict[str, tuple[float, ...]]
    quaternions: tuple[int, ...] = ()
    symbol: str = CALL_SYMBOL
    settings: tuple[float, ...] = ()
    closing: Optional[Callable[[int, int], str]] = None

    def kernel(self) -> Any:
        """
        Return the compiled function of one sample.

        It takes vectors and returns arrays (a float for an energy), in a tuple where there are
        several. An ArithmeticError means results that are not finite, or a doubtful pivot.

        Raises:
            NoCompiler, CompilationFailed: If it cannot be compiled.
        """
        library = self._load(CALL)
        sizes = [len(each.symbols) for each in self.inputs if each.name not in self.constants]
        numbers, module = self._numbers(), extension()
        if module is None:
            return ctypes_calls.Kernel(
                library.address, sizes, numbers, [output.shape for output in self.outputs],
                library.pivots, DOUBTFUL_PIVOT, library.memory,
            )
        counts = (
            len(sizes), len(self.quaternions), len(self.outputs), library.pivots, library.memory
        )
        shapes = [
            n for each in self.outputs
            for n in (len(each.shape), *(*each.shape, 1, 1)[:2], each.size)
        ]
        layout = np.array([*counts, *sizes, *self.quaternions, *shapes], dtype=np.intp)
        return module.Kernel(library.address, layout, np.array(numbers, float), DOUBTFUL_PIVOT)

    def native(self) -> NativeFunction:
        """
        Return the compiled function of one sample for callers that are compiled themselves.

        Raises:
            NoCompiler, CompilationFailed: If it cannot be compiled.
        """
        library = self._load(CALL)
        return NativeFunction(
            library.address, self._numbers(), sum(output.size for output in self.outputs),
            library.pivots, library.memory, library.handle,
        )

    def _numbers(self) -> tuple[float, ...]:
        """Return the constants in the order in which a call packs them."""
        numbers = [x for each in self.inputs for x in self.constants.get(each.name, ())]
        return (*numbers, *self.settings)

    def batch(self) -> Callable[..., None]:
        """Return a function of (count, inputs, strides, outputs, flags, threads)."""
        library = self._load(BATCH)
        return ctypes_calls.Batch(library.address, library.memory)

    def _load(self, kind: str) -> Library:
        compiler = find_compiler()
        entry = cache.entry_name(
            kind, *self.key, *self.constants, compiler.identity, *FLAGS[kind],
            suffix=cache.LIBRARY,
        )
        symbol = self.symbol if kind == CALL else BATCH_SYMBOL
        with _lock:
            found = _loaded.get((entry, symbol))
            if found is None:
                found = _loaded[entry, symbol] = load_library(
                    entry, lambda: self._build(kind), lambda path: _open(path, symbol)
                )
        return found

    def _build(self, kind: str) -> bytes:
        start = perf_counter()
        self._report(0.0)
        try:
            trace = self.produce()
            self._report(TRACED)
            if kind == CALL:
                source = call_source(trace, tuple(self.constants), self.closing)
            else:
                source = batch_source(trace, self.quaternions)
            content = find_compiler().build(source, FLAGS[kind])
        finally:
            self._report(1.0)
        log_if_long(self.name, start)
        return content

    def _report(self, fraction: float) -> None:
        """Log the fraction done; an attribute of the record for programs that draw it."""
        _logger.debug('Compiling %s: %d %%.', self.name, 100 * fraction,
                      extra={'compiled': self.name, 'fraction': fraction})


def log_if_long(name: str, start: float) -> None:
    """Log a compilation by name and the time since `start`, where that is long."""
    taken = perf_counter() - start
    if taken > LONG:
        _logger.info('Compiling %s took %.1f s; the cache keeps it.', name, taken)


def _open(path: Path, symbol: str) -> Library:
    handle = ctypes.CDLL(str(path))
    try:
        own = NUMBERS_SYMBOL if symbol in (CALL_SYMBOL, BATCH_SYMBOL) else f'{symbol}_numbers'
        pivots, memory = (ctypes.c_long * 2).in_dll(handle, own)
        address = ctypes.cast(getattr(handle, symbol), ctypes.c_void_p).value
    except (AttributeError, ValueError) as error:
        raise OSError(str(error)) from error
    return Library(handle, address or 0, pivots, memory)

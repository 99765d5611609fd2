# SPDX-License-Identifier: Apache-2.0
"""
Calls of compiled functions through ctypes, where the extension is missing.

It has what `runtime/kernel.c` has for a backend: addresses of functions, kernels, batches. Where
`array_functions.py` can, kernels are also functions of arrays, which ctypes has no part in.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from itertools import chain
from math import isfinite
from struct import Struct
from threading import Thread
from typing import Any
from typing import Callable
from typing import Optional
from typing import Sequence

from flexdyn_ros.codegen.emitting.array_function import ArrayFunction
from flexdyn_ros.codegen.native import array_functions
from flexdyn_ros.codegen.native.array_methods import OnArrays
from flexdyn_ros.codegen.native.array_methods import with_new_results
import numpy as np

_loaded: dict[str, ctypes.CDLL] = {}


def find_function(path: str, symbol: str) -> int:
    """Return the address of a function of a shared library, which stays loaded."""
    if path not in _loaded:
        _loaded[path] = ctypes.CDLL(path)
    try:
        return ctypes.cast(getattr(_loaded[path], symbol), ctypes.c_void_p).value or 0
    except AttributeError as error:
        raise OSError(str(error)) from error


class Kernel:
    """A compiled function of vectors, which gives nested lists."""

    def __init__(
        self,
        address: int,
        sizes: Sequence[int],
        constants: Sequence[float],
        shapes: Sequence[tuple[int, ...]],
        pivots: int,
        quaternions: Sequence[int],
        doubtful: float,
    ):
        """
        Take a function `void f(const double *x, double *y)`.

        Args:
            address: Of the function.
            sizes: Of its inputs, packed into x.
            constants: Numbers that follow them in x.
            shapes: Of its results, packed into y.
            pivots: Number of pivots that follow them in y.
            quaternions: Where quaternions start in the first input; functions of arrays bring
                them to unit length, and callers with lists have done so.
            doubtful: Least ratio of pivots that makes a result sound.
        """
        self._address, self._constants = address, np.array(constants, dtype=float)
        self._arrays = ArrayFunction(
            tuple(sizes), len(constants), tuple(map(tuple, shapes)), pivots, tuple(quaternions)
        )
        self._packed = _packer(tuple(sizes), tuple(constants))
        self._shapes, self._pivots, self._doubtful = tuple(shapes), pivots, doubtful
        self._counts = [int(np.prod(shape, dtype=int)) for shape in shapes]
        self._is_vector = len(self._shapes) == 1 and len(self._shapes[0]) == 1 and not pivots
        count = sum(self._counts) + pivots
        self._y, self._unpack = ctypes.c_double * count, Struct(f'{count}d').unpack
        # It is over before another thread could run.
        prototype = ctypes.PYFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
        self._function = prototype(address)

    @cached_property
    def on_arrays(self) -> Optional[OnArrays]:
        """The same function of arrays, or None where there is no such thing."""
        if array_functions.problem() is not None:
            return None
        return with_new_results(array_functions.array_function_at(
            self._address, self._arrays, self._constants, self._doubtful
        ), self._arrays.shapes)

    def __call__(self, *vectors: Sequence[float]) -> Any:
        """
        Evaluate, as generated Python does.

        Raises:
            ArithmeticError: If the results cannot be relied on.
        """
        y = self._y()
        self._function(self._packed(*vectors), y)
        values = self._unpack(y)
        if not isfinite(sum(values)) and not all(map(isfinite, values)):
            raise ArithmeticError('the results cannot be relied on')
        if self._is_vector:
            return list(values)
        if self._pivots:
            pivots = values[-self._pivots:]
            if not min(pivots) > self._doubtful * max(pivots):
                raise ArithmeticError('the results cannot be relied on')
        results, start = [], 0
        for shape, count in zip(self._shapes, self._counts):
            results.append(_nested(values[start : start + count], shape))
            start += count
        return results[0] if len(results) == 1 else tuple(results)


def _packer(sizes: tuple[int, ...], constants: tuple[float, ...]) -> Callable[..., bytes]:
    """Return a function of vectors of these sizes: their numbers, and then the constants."""
    pack = Struct(f'{sum(sizes) + len(constants)}d').pack
    (first, second, third), others = (*sizes, 0, 0, 0)[:3], sizes[3:]

    def packed(
        a: Sequence[float] = (), b: Sequence[float] = (), c: Sequence[float] = (),
        *more: Sequence[float],
    ) -> bytes:
        if len(a) == first and len(b) == second and len(c) == third:
            if not more and not others:
                return pack(*a, *b, *c, *constants)
            if tuple(map(len, more)) == others:
                return pack(*a, *b, *c, *chain.from_iterable(more), *constants)
        raise ValueError(f'expected vectors of lengths {sizes}')

    return packed


def run_batch(
    address: int,
    count: int,
    inputs: tuple[np.ndarray, ...],
    strides: tuple[int, ...],
    outputs: tuple[np.ndarray, ...],
    flags: np.ndarray,
    threads: int,
) -> None:
    """Run a function over samples; ctypes leaves the interpreter to other threads."""
    pointer, long = ctypes.c_void_p, ctypes.c_long
    function = ctypes.CFUNCTYPE(None, long, long, pointer, pointer, pointer, pointer)(address)
    given = (pointer * max(len(inputs), 1))(*(each.ctypes.data for each in inputs))
    steps = (long * max(len(strides), 1))(*strides)
    results = (pointer * max(len(outputs), 1))(*(each.ctypes.data for each in outputs))
    share = (count // threads + 8) // 8 * 8

    def run(start: int) -> None:
        function(start, min(start + share, count), ctypes.addressof(given),
                 ctypes.addressof(steps), ctypes.addressof(results), flags.ctypes.data)

    helpers = [Thread(target=run, args=(start,)) for start in range(share, count, share)]
    for helper in helpers:
        helper.start()
    run(0)
    for helper in helpers:
        helper.join()


def _nested(values: tuple[float, ...], shape: tuple[int, ...]) -> Any:
    if not shape:
        return values[0]
    if len(shape) == 1:
        return list(values)
    width = shape[1]
    return [list(values[k * width : (k + 1) * width]) for k in range(shape[0])]

# SPDX-License-Identifier: Apache-2.0
"""
Calls of compiled functions through ctypes, where the extension is missing.

It has what `runtime/kernel.c` has for a backend: addresses of functions, kernels, batches. A
call takes one or two microseconds more.
"""

from __future__ import annotations

import ctypes
from math import isfinite
from threading import Thread
from typing import Any
from typing import Sequence

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
            quaternions: Not used: callers bring quaternions to unit length.
            doubtful: Least ratio of pivots that makes a result sound.
        """
        self._sizes, self._constants = tuple(sizes), tuple(constants)
        self._shapes, self._pivots, self._doubtful = tuple(shapes), pivots, doubtful
        self._counts = [int(np.prod(shape, dtype=int)) for shape in shapes]
        self._x = ctypes.c_double * max(sum(sizes) + len(self._constants), 1)
        self._n_y = sum(self._counts)
        self._y = ctypes.c_double * max(self._n_y + pivots, 1)
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        self._function = prototype(address)

    def __call__(self, *vectors: Sequence[float]) -> Any:
        """
        Evaluate, as generated Python does.

        Raises:
            ArithmeticError: If the results cannot be relied on.
        """
        if tuple(map(len, vectors)) != self._sizes:
            raise ValueError(f'expected vectors of lengths {self._sizes}')
        numbers = [number for vector in vectors for number in vector]
        x, y = self._x(*numbers, *self._constants), self._y()
        self._function(ctypes.addressof(x), ctypes.addressof(y))
        values, pivots = y[: self._n_y], y[self._n_y : self._n_y + self._pivots]
        sound = isfinite(sum(values)) or all(map(isfinite, values))
        if not sound or (pivots and not min(pivots) > self._doubtful * max(pivots)):
            raise ArithmeticError('the results cannot be relied on')
        results, start = [], 0
        for shape, count in zip(self._shapes, self._counts):
            results.append(_nested(values[start : start + count], shape))
            start += count
        return results[0] if len(results) == 1 else tuple(results)


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


def _nested(values: list, shape: tuple[int, ...]) -> Any:
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    width = shape[1]
    return [values[k * width : (k + 1) * width] for k in range(shape[0])]

# SPDX-License-Identifier: Apache-2.0
"""
Calls of compiled functions through ctypes: batches, and single calls without the extension.

A single call takes about three microseconds besides its operations then, against a tenth of one
through the extension.
"""

from __future__ import annotations

import ctypes
from math import isfinite
from typing import Any, Sequence

import numpy as np

# Bytes that vectors are aligned to.
ALIGNMENT = 64


class Kernel:
    """A compiled function of vectors, called as the extension's kernels are."""

    def __init__(
        self,
        address: int,
        sizes: Sequence[int],
        constants: Sequence[float],
        shapes: Sequence[tuple[int, ...]],
        pivots: int,
        doubtful: float,
        memory: int,
    ):
        """
        Take a function `void f(const double *x, double *y, double *work)`.

        Args:
            address: Of the function.
            sizes: Of its inputs, packed into x.
            constants: Numbers that follow them in x.
            shapes: Of its results, packed into y.
            pivots: Number of pivots that follow them in y.
            doubtful: Least ratio of pivots that makes a result sound.
            memory: Numbers of its work array.
        """
        self._sizes, self._constants = tuple(sizes), tuple(constants)
        self._shapes, self._pivots, self._doubtful = tuple(shapes), pivots, doubtful
        self._counts = [int(np.prod(shape, dtype=int)) for shape in shapes]
        self._x = ctypes.c_double * (sum(sizes) + len(constants))
        self._n_y, self._n_work = sum(self._counts) + pivots, memory
        pointer = ctypes.c_void_p
        self._function = ctypes.CFUNCTYPE(None, pointer, pointer, pointer)(address)

    def __call__(self, *vectors: Sequence[float]) -> Any:
        """
        Return the results as arrays, floats where they are numbers, in a tuple if several.

        Raises:
            ArithmeticError: The results are not finite, or a pivot is doubtful.
        """
        if tuple(map(len, vectors)) != self._sizes:
            raise TypeError(f'expected vectors of lengths {self._sizes}')
        x = self._x(*(number for vector in vectors for number in vector), *self._constants)
        y = np.empty(self._n_y)
        work = np.empty(self._n_work)
        self._function(x, y.ctypes.data, work.ctypes.data)
        count = self._n_y - self._pivots
        pivots = y[count:].tolist()
        sound = isfinite(y.sum()) or bool(np.isfinite(y).all())
        if not sound or (pivots and not min(pivots) > self._doubtful * max(pivots)):
            raise ArithmeticError('a result is not finite')
        results: list[Any] = []
        for shape, part in zip(self._shapes, np.split(y[:count], np.cumsum(self._counts)[:-1])):
            results.append(part.reshape(shape) if shape else float(part[0]))
        return results[0] if len(results) == 1 else tuple(results)


class Batch:
    """A compiled function over many samples, shared among threads."""

    def __init__(self, address: int, memory: int):
        """
        Take a function; see `compiled_c.batch_source`.

        Args:
            address: Of the function.
            memory: Numbers that each thread needs for its work.
        """
        pointer, long = ctypes.c_void_p, ctypes.c_long
        prototype = ctypes.CFUNCTYPE(None, long, *(pointer,) * 5, long)
        self._function, self._memory = prototype(address), memory

    def __call__(
        self,
        count: int,
        inputs: Sequence[np.ndarray],
        strides: Sequence[int],
        outputs: Sequence[np.ndarray],
        flags: np.ndarray,
        threads: int,
    ) -> None:
        """
        Evaluate all samples.

        Args:
            count: Number of samples.
            inputs: Contiguous arrays of float64 with a row a sample.
            strides: Numbers from one sample's row to the next one's, for each input.
            outputs: Contiguous arrays of float64 for the results.
            flags: Array of uint8, (count,): 0 where the results are sound.
            threads: Number of threads that share the samples.
        """
        given = (ctypes.c_void_p * max(len(inputs), 1))(*(each.ctypes.data for each in inputs))
        steps = (ctypes.c_long * max(len(strides), 1))(*strides)
        results = (ctypes.c_void_p * max(len(outputs), 1))(
            *(each.ctypes.data for each in outputs)
        )
        memory = np.empty(threads * self._memory + ALIGNMENT // 8)
        work = -(-memory.ctypes.data // ALIGNMENT) * ALIGNMENT
        self._function(count, given, steps, results, flags.ctypes.data, work, threads)

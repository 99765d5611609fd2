# SPDX-License-Identifier: Apache-2.0
"""
Batches of machine code for pairs of samples: numpy packs the pairs and looks at the results.

The code loops over a block of pairs; blocks are small enough for the processor's cache, and are
shared among threads, which ctypes and numpy let run side by side.
"""

from __future__ import annotations

import ctypes
from threading import Thread
from typing import Sequence

from flexdyn_ros.codegen.emitting.batch_loop import DOUBTFUL_PIVOT
import numpy as np

# Pairs of samples in a block.
BLOCK = 256
BAD, DOUBTFUL = 1, 2


class PairBatch:
    """A function of (count, inputs, strides, outputs, flags, threads), as compiled batches are."""

    def __init__(
        self, address: int, sizes: tuple[int, ...], results: int, pivots: int,
        quaternions: Sequence[int],
    ):
        """
        Take code for pairs of samples.

        Args:
            address: Of the code, see `sse2_code.MachineCode`.
            sizes: Of its inputs.
            results: How many results it gives, pivots included.
            pivots: How many of these, at the end, are pivots.
            quaternions: Where quaternions start in the first input.
        """
        self._sizes, self._results, self._pivots = sizes, results, pivots
        self._quaternions = tuple(quaternions)
        pointer = ctypes.c_void_p
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_long, pointer, pointer)(address)

    def __call__(
        self,
        count: int,
        inputs: tuple[np.ndarray, ...],
        strides: tuple[int, ...],
        outputs: tuple[np.ndarray, ...],
        flags: np.ndarray,
        threads: int,
    ) -> None:
        """
        Run it over samples.

        Args:
            count: How many.
            inputs: Arrays of numbers, contiguous.
            strides: How many numbers further the next sample's are, 0 for one for all.
            outputs: Arrays that take the results, contiguous.
            flags: Takes 1 where an input, 2 where a result cannot be relied on, (count,).
            threads: How many threads share the samples.
        """
        given = [each.reshape(-1, size) if stride else each.reshape(1, size)
                 for each, stride, size in zip(inputs, strides, self._sizes)]
        results = [each.reshape(count, -1) for each in outputs]
        share = -(-count // threads)

        def run(start: int) -> None:
            space = _Space(self._sizes, self._results)
            stop = min(start + share, count)
            for first in range(start, stop, 2 * BLOCK):
                self._run_block(first, min(first + 2 * BLOCK, stop), given, results, flags, space)

        helpers = [Thread(target=run, args=(start,)) for start in range(share, count, share)]
        for helper in helpers:
            helper.start()
        run(0)
        for helper in helpers:
            helper.join()

    def _run_block(
        self, first: int, stop: int, given: list[np.ndarray], results: list[np.ndarray],
        flags: np.ndarray, space: _Space,
    ) -> None:
        """Run it over the samples from first to stop."""
        n, pairs = stop - first, (stop - first + 1) // 2
        x, y = space.x[:pairs], space.y[:pairs]
        start = 0
        for each in given:
            size = each.shape[1]
            rows = each[first:stop] if len(each) > 1 else each
            # Even samples, then odd ones; a last one without a partner is its own.
            x[:, start : start + size, 0] = rows[::2] if len(rows) > 1 else rows
            x[: n // 2, start : start + size, 1] = rows[1::2] if len(rows) > 1 else rows
            start += size
        if n % 2:
            x[-1, :, 1] = x[-1, :, 0]
        flag = space.flag[:pairs]
        flag[...] = 0
        with np.errstate(all='ignore'):
            _mark(flag, BAD, x)
            for place in self._quaternions:
                flag[_normalise(x[:, place : place + 4])] |= BAD
            self._function(pairs, x.ctypes.data, y.ctypes.data)
            _mark(flag, DOUBTFUL, y)
            if self._pivots:
                flag[self._in_doubt(y)] |= DOUBTFUL
        flags[first:stop] = flag.reshape(-1)[:n]
        start = 0
        for result in results:
            size = result.shape[1]
            result[first:stop:2] = y[:, start : start + size, 0]
            result[first + 1 : stop : 2] = y[: n // 2, start : start + size, 1]
            start += size

    def _in_doubt(self, y: np.ndarray) -> np.ndarray:
        """Return where a pivot is too far below the largest one."""
        least, most = y[:, -1].copy(), y[:, -1].copy()
        for k in range(self._results - self._pivots, self._results - 1):
            np.minimum(least, y[:, k], out=least)
            np.maximum(most, y[:, k], out=most)
        return ~(least > DOUBTFUL_PIVOT * most)


class _Space:
    """Inputs, results and flags of a block; numbers are on multiples of 16 bytes."""

    def __init__(self, sizes: tuple[int, ...], results: int):
        self.x = _aligned(sum(sizes))
        self.y = _aligned(results)
        self.flag = np.zeros((BLOCK, 2), dtype=np.uint8)


def _mark(flag: np.ndarray, what: int, numbers: np.ndarray) -> None:
    """Mark samples with numbers that are not finite."""
    if not np.isfinite(numbers.sum()):
        flag[~np.isfinite(numbers).all(axis=1)] |= what


def _aligned(numbers: int) -> np.ndarray:
    """Return an array of pairs, (BLOCK, numbers, 2)."""
    space = np.zeros(2 * BLOCK * numbers + 2)
    start = -space.ctypes.data % 16 // 8
    return space[start : start + 2 * BLOCK * numbers].reshape(BLOCK, numbers, 2)


def _normalise(q: np.ndarray) -> np.ndarray:
    """Bring quaternions (n, 4, 2) to unit length in place; return where one is far from it."""
    squares = q * q
    length = np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2] + squares[:, 3])
    q /= length[:, None]
    return ~((length > 0.5) & (length < 2.0))

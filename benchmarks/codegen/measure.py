# SPDX-License-Identifier: Apache-2.0
"""Times and ratios: both sides in turns, so that any other load of the machine meets both."""

from __future__ import annotations

from dataclasses import dataclass
import gc
from time import perf_counter
from timeit import Timer
from typing import Callable

import numpy as np


@dataclass(frozen=True)
class Comparison:
    """
    Times of two things measured in turns.

    Attributes:
        ours: Median time of ours [s].
        ours_least: The shortest of ours.
        theirs: Median time of theirs [s].
        theirs_least: The shortest of theirs.
        ratio: Median of the ratios, theirs to ours.
        low: A quarter of the ratios are below it.
        high: A quarter of the ratios are above it.
    """

    ours: float
    ours_least: float
    theirs: float
    theirs_least: float
    ratio: float
    low: float
    high: float


def compare(
    ours: Callable[[], object], theirs: Callable[[], object], counts: tuple[int, int],
    rounds: int, each: tuple[int, int] = (1, 1),
) -> Comparison:
    """
    Return the times of two calls.

    Args:
        ours: One call of ours.
        theirs: One call of theirs.
        counts: Calls a round of each.
        rounds: Number of rounds.
        each: Number of samples in a call of each.
    """
    for call in (ours, theirs):
        call()
    return _compared(
        lambda: once(ours, counts[0]) / each[0], lambda: once(theirs, counts[1]) / each[1], rounds
    )


def compare_statements(
    ours: str, theirs: str, names: dict, counts: tuple[int, int], rounds: int
) -> Comparison:
    """Return the times of two statements over these names, without a call around them."""
    timers = [Timer(text, globals=names) for text in (ours, theirs)]
    return _compared(
        lambda: timers[0].timeit(counts[0]) / counts[0],
        lambda: timers[1].timeit(counts[1]) / counts[1], rounds,
    )


def _compared(
    ours: Callable[[], float], theirs: Callable[[], float], rounds: int
) -> Comparison:
    """Return the statistics of rounds of two measurements."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        times = np.array([[ours(), theirs()] for _ in range(rounds)])
    finally:
        if enabled:
            gc.enable()
    ratios = times[:, 1] / times[:, 0]
    low, high = np.percentile(ratios, (25, 75))
    return Comparison(
        float(np.median(times[:, 0])), float(times[:, 0].min()), float(np.median(times[:, 1])),
        float(times[:, 1].min()), float(np.median(ratios)), float(low), float(high),
    )


def once(call: Callable[[], object], count: int) -> float:
    """Return the mean time of a call [s]."""
    steps = range(count)
    start = perf_counter()
    for _ in steps:
        call()
    return (perf_counter() - start) / count


def least(call: Callable[[], object], count: int, rounds: int) -> float:
    """Return the shortest mean time of a call over some rounds [s]."""
    return min(once(call, count) for _ in range(rounds))

# SPDX-License-Identifier: Apache-2.0
"""Checks of the numbers that a simulation is called with."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from flexdyn_ros.errors import ArgumentError
import numpy as np


def finite_vector(value: Any, size: int, argument: str) -> np.ndarray:
    """
    Return a copy of a vector, (size,).

    Raises:
        ArgumentError: It has another shape, or an entry that is not a finite number.
    """
    try:
        vector = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(argument, f'must be {size} numbers, not {value!r:.60}') from None
    if vector.shape != (size,):
        raise ArgumentError(argument, f'has shape {vector.shape}, and {(size,)} is needed')
    if not np.isfinite(vector).all():
        entry = int(np.argmin(np.isfinite(vector)))
        raise ArgumentError(argument, f'is not finite in entry {entry}: {vector[entry]}')
    return vector


def positive_number(value: Any, argument: str, unit: str) -> float:
    """
    Return a number in this unit.

    Raises:
        ArgumentError: It is not positive and finite, or no number.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentError(argument, f'must be a number [{unit}], not {value!r:.60}')
    number = float(value)
    if not (math.isfinite(number) and number > 0.0):
        raise ArgumentError(argument, f'must be positive and finite [{unit}], not {number:g}')
    return number

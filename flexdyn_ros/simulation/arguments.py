# SPDX-License-Identifier: Apache-2.0
"""Checks of the numbers that a simulation is called with."""

from __future__ import annotations

import math
from numbers import Real

from flexdyn_ros.arguments import real_vector
from flexdyn_ros.errors import ArgumentError
import numpy as np
from numpy.typing import ArrayLike


def finite_vector(value: ArrayLike, size: int, argument: str, modes: int = 0) -> np.ndarray:
    """
    Return a copy of a vector, (size,), of which the last ones are of modes.

    Raises:
        ArgumentError: It has another shape, or an entry that is not a finite number.
    """
    return np.array(real_vector(argument, value, size, modes))


def positive_number(value: object, argument: str, unit: str) -> float:
    """
    Return a number in this unit.

    Raises:
        ArgumentError: It is not positive and finite, or no number.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentError(argument, f'must be a number [{unit}], not {value!r:.60}')
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and number > 0.0):
        raise ArgumentError(argument, f'must be positive and finite [{unit}], not {number:g}')
    return number

# SPDX-License-Identifier: Apache-2.0
"""Checks of the numbers that users pass in: shape, finiteness, and what to say otherwise."""

from __future__ import annotations

from typing import Any
from typing import Optional

from flexdyn_ros.errors import ArgumentError
import numpy as np


def real_vector(argument: str, value: Any, length: int) -> list[float]:
    """
    Return a vector of `length` finite numbers as a list of floats.

    Args:
        argument: Name to put into an error.
        value: numpy array, sequence or buffer.
        length: Number of entries that it must have.

    Raises:
        ArgumentError: If it has another shape, or an entry that is not a finite number.
    """
    return _array(argument, value, (length,)).tolist()


def real_matrix(argument: str, value: Any, shape: tuple[int, int]) -> np.ndarray:
    """Return a matrix of finite numbers as an array of this shape; see `real_vector`."""
    return _array(argument, value, shape)


def real_number(argument: str, value: Any) -> float:
    """Return one finite number; see `real_vector`."""
    return float(_array(argument, value, ()))


def deliver(values: Any, out: Optional[np.ndarray]) -> np.ndarray:
    """
    Return the values as an array, written into `out` where that is given.

    Raises:
        ArgumentError: If `out` is not a writable float array of the right shape.
    """
    result = np.array(values, dtype=float)
    if out is None:
        return result
    if not isinstance(out, np.ndarray) or out.dtype != np.float64:
        raise ArgumentError('out', f'must be a float64 numpy array, not {type(out).__name__}')
    if out.shape != result.shape:
        raise ArgumentError('out', f'has shape {out.shape}, expected {result.shape}')
    if not out.flags.writeable:
        raise ArgumentError('out', 'is read-only')
    out[...] = result
    return out


def _array(argument: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        array = np.asarray(value)
        if array.dtype.kind not in 'fiu' and array.size:
            raise TypeError
        array = array.astype(float)
    except (TypeError, ValueError):
        expected = f'{shape}' if shape else 'one number'
        raise ArgumentError(argument, f'must hold real numbers, expected {expected}') from None
    if array.shape != shape:
        raise ArgumentError(argument, f'has shape {array.shape}, expected {shape}')
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0].tolist() if shape else ''
        raise ArgumentError(argument, f'has a value that is not finite {where}'.rstrip())
    return array

# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of users: shape, finiteness, and errors."""

from __future__ import annotations

from array import array
from math import isfinite
from typing import Any, Optional, Sequence

from flexdyn_ros.errors import ArgumentError
import numpy as np

_DOUBLE = np.dtype(np.float64)
_ARRAY = np.ndarray
_FLOAT = frozenset((float,))


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
    kind = type(value)
    if kind is _ARRAY:
        if value.dtype is _DOUBLE and value.ndim == 1:
            values = value.tolist()
            # The sum of finite numbers is finite, or else the slow way finds what is wrong.
            if len(values) == length and isfinite(sum(values)):
                return values
    elif kind is list and len(value) == length and _FLOAT.issuperset(map(type, value)):
        if isfinite(sum(value)):
            return value.copy()
    elif kind is array and value.typecode == 'd' and len(value) == length:
        values = value.tolist()
        if isfinite(sum(values)):
            return values
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
    if out is None:
        return np.array(values, _DOUBLE)
    if type(values) is list and type(out) is np.ndarray and out.shape == (len(values),):
        if out.dtype == _DOUBLE and out.flags.writeable and _FLOAT.issuperset(map(type, values)):
            out[:] = values
            return out
    result = np.array(values, dtype=float)
    if not isinstance(out, np.ndarray) or out.dtype != np.float64:
        raise ArgumentError('out', f'must be a float64 numpy array, not {type(out).__name__}')
    if out.shape != result.shape:
        raise ArgumentError('out', f'has shape {out.shape}, expected {result.shape}')
    if not out.flags.writeable:
        raise ArgumentError('out', 'is read-only')
    out[...] = result
    return out


def targets(out: Any, words: str, count: int) -> Sequence[Optional[np.ndarray]]:
    """
    Return where each of `count` results is to be written, None where that is not given.

    Args:
        out: As many arrays, or None.
        words: What they are, for the error: "two arrays".
        count: Number of results.

    Raises:
        ArgumentError: If `out` is anything else.
    """
    if out is None:
        return (None,) * count
    if not isinstance(out, (tuple, list)) or len(out) != count:
        raise ArgumentError('out', f'must be {words}, one for each result')
    return out


def _array(argument: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        found = np.asarray(value)
        if found.dtype.kind not in 'fiu' and found.size:
            raise TypeError
        found = found.astype(float)
    except (TypeError, ValueError):
        expected = f'{shape}' if shape else 'one number'
        raise ArgumentError(argument, f'must hold real numbers, expected {expected}') from None
    if found.shape != shape:
        raise ArgumentError(argument, f'has shape {found.shape}, expected {shape}')
    if not np.isfinite(found).all():
        where = np.argwhere(~np.isfinite(found))[0].tolist() if shape else ''
        raise ArgumentError(argument, f'has a value that is not finite {where}'.rstrip())
    return found

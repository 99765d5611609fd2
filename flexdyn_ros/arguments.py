# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of users: shape, finiteness, and errors."""

from __future__ import annotations

from array import array
from contextlib import suppress
from inspect import signature
from math import isfinite
from numbers import Integral
from typing import Any, Callable, Hashable, Mapping, Optional, Sequence

from flexdyn_ros.errors import ArgumentError
import numpy as np

_DOUBLE = np.dtype(np.float64)
_ARRAY = np.ndarray
_FLOAT = frozenset((float,))


def real_vector(argument: str, value: Any, length: int, modes: int = 0) -> list[float]:
    """
    Return a vector of `length` finite numbers as a list of floats.

    Args:
        argument: Name to put into an error.
        value: numpy array, sequence or buffer.
        length: Number of entries that it must have.
        modes: Number of modal entries, at its end, which an error explains.

    Raises:
        ArgumentError: If it has another shape, or an entry that is not a finite number.
    """
    kind = type(value)
    if kind is _ARRAY:
        if value.dtype is _DOUBLE and value.ndim == 1:
            values = value.tolist()
            # The sum of finite numbers is finite; a slower loop finds the fault of others.
            if len(values) == length and isfinite(sum(values)):
                return values
    elif kind is list and len(value) == length and _FLOAT.issuperset(map(type, value)):
        if isfinite(sum(value)):
            return value.copy()
    elif kind is array and value.typecode == 'd' and len(value) == length:
        values = value.tolist()
        if isfinite(sum(values)):
            return values
    try:
        return _array(argument, value, (length,)).tolist()
    except ArgumentError:
        joints = length - modes
        if not modes or real_numbers(argument, value, f'({length},)').shape != (joints,):
            raise
        raise ArgumentError(
            argument, f'has shape ({joints},), those of the joints, expected ({length},). The '
            f'{modes} modes follow, see coordinate_names; their entries are usually zero',
        ) from None


def real_matrix(argument: str, value: Any, shape: tuple[int, int]) -> np.ndarray:
    """Return a matrix of finite numbers as an array of this shape; see `real_vector`."""
    return _array(argument, value, shape)


def real_number(argument: str, value: Any) -> float:
    """Return one finite number; see `real_vector`."""
    return float(_array(argument, value, ()))


def limited_number(argument: str, value: Any, or_zero: bool = False) -> float:
    """Return a number that is positive, or zero where that is possible; see `real_number`."""
    number = real_number(argument, value)
    if number < 0.0 or (number == 0.0 and not or_zero):
        wanted = 'zero or more' if or_zero else 'a positive number'
        raise ArgumentError(argument, f'is {value!r}, expected {wanted}')
    return number


def whole_number(argument: str, value: Any) -> int:
    """
    Return a number of one or more.

    Raises:
        ArgumentError: It is no whole number, or below one.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ArgumentError(argument, f'must be a whole number of one or more, not {value!r:.60}')
    return int(value)


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
    target(out, result.shape)[...] = result
    return out


def target(out: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return `out` where a result of this shape can be written into it; see `deliver`."""
    if not isinstance(out, np.ndarray) or out.dtype != np.float64:
        raise ArgumentError('out', f'must be a float64 numpy array, not {type(out).__name__}')
    if out.shape != shape:
        raise ArgumentError('out', f'has shape {out.shape}, expected {shape}')
    if not out.flags.writeable:
        raise ArgumentError('out', 'is read-only, expected a writeable array')
    return out


def targets(out: Any, count: int) -> Sequence[Optional[np.ndarray]]:
    """
    Return the array of each of two or three results, None for those without one.

    Args:
        out: As many arrays, or None.
        count: Number of results.

    Raises:
        ArgumentError: If `out` is anything else.
    """
    if out is None:
        return (None,) * count
    if not isinstance(out, (tuple, list)) or len(out) != count:
        words = 'two arrays' if count == 2 else 'three arrays'
        raise ArgumentError('out', f'must be {words}, one for each result')
    return out


def real_numbers(argument: str, value: Any, expected: str) -> np.ndarray:
    """Return numbers as a float array of any shape; `expected` names the right one in errors."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value
    masked = np.ma.is_masked(value) or (
        isinstance(value, (list, tuple)) and any(each is np.ma.masked for each in value))
    if masked:
        raise ArgumentError(argument, f'has masked entries, expected {expected}: fill them')
    try:
        found = np.asarray(value)
        if found.dtype.kind not in 'fiu':
            if found.size:
                raise TypeError
            return np.zeros(found.shape)
        with np.errstate(over='ignore'):  # longer floats, which are then refused as infinite
            return found.astype(float, copy=False)
    except Exception:  # of any kind, from the value's own methods
        if isinstance(value, Mapping):
            raise ArgumentError(
                argument, f'is a mapping, expected {expected}: numbers in the order of '
                'robot.coordinate_names') from None
        raise ArgumentError(argument, f'must hold real numbers, expected {expected}') from None


def refuse_infinite(argument: str, numbers: np.ndarray) -> None:
    """Raise an ArgumentError with the place of the first number that is not finite, if any."""
    finite = np.isfinite(numbers)
    if not finite.all():
        where = np.argwhere(~finite)[0].tolist() if numbers.ndim else ''
        raise ArgumentError(
            argument, f'has a value that is not finite {where}'.rstrip() + '. Check its source')


def _array(argument: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    found = real_numbers(argument, value, f'{shape}' if shape else 'one number')
    if found.shape != shape:
        raise ArgumentError(argument, f'has shape {found.shape}, expected {shape}')
    refuse_infinite(argument, found)
    return found


# Arguments of functions of a simulation's state.
STATE = ('t', 'q', 'qd')


def refuse_signature(argument: str, function: Callable[..., Any], given: Sequence[str]) -> None:
    """Raise an ArgumentError where a function does not take these arguments by place."""
    try:
        signature(function).bind(*given)
    except TypeError:
        raise ArgumentError(
            argument, f'is a function of other arguments, expected ({", ".join(given)})') from None
    except ValueError:
        pass  # a function of C, whose arguments Python does not have


def names(argument: str, given: Any) -> tuple[str, ...]:
    """Return one name or several as a tuple; anything else is an ArgumentError."""
    if isinstance(given, str):
        return (given,)
    with suppress(TypeError):
        found = tuple(given)
        if all(isinstance(each, str) for each in found):
            return found
    raise ArgumentError(argument, f'is {given!r:.60}, expected names: give a sequence of names')


def one_of(argument: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise an ArgumentError unless a value is one of these."""
    if not isinstance(value, Hashable) or value not in allowed:
        raise ArgumentError(argument, f'is "{value!s:.60}", expected one of {tuple(allowed)}')


def refuse_unmapped(argument: str, values: Any) -> None:
    """Raise an ArgumentError unless values of loops are a mapping by name, or None."""
    if values is not None and not isinstance(values, Mapping):
        raise ArgumentError(argument, 'must map names of loops to numbers')

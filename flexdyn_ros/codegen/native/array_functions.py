# SPDX-License-Identifier: Apache-2.0
"""
Functions of arrays that Python calls as its own, made without a compiler.

The code is `emitting/array_function.py`'s. How objects and arrays lie in memory is looked at
before it is relied on; where that is otherwise there are no such functions.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
import platform
from typing import Callable
from typing import Optional

from flexdyn_ros.codegen.emitting import array_function
from flexdyn_ros.codegen.emitting.array_function import array_function_code
from flexdyn_ros.codegen.emitting.array_function import ArrayFunction
from flexdyn_ros.codegen.emitting.array_function import with_table
from flexdyn_ros.codegen.native import executable_memory
import numpy as np

# Of the Python/C API: arguments as an array of objects.
METH_FASTCALL = 0x80


class _Definition(ctypes.Structure):
    """PyMethodDef of the Python/C API."""

    _fields_ = (('name', ctypes.c_char_p), ('function', ctypes.c_void_p),
                ('flags', ctypes.c_int), ('documentation', ctypes.c_char_p))


def array_function_at(
    address: int, function: ArrayFunction, constants: np.ndarray, doubtful: float
) -> Callable[..., bool]:
    """
    Return a function of arrays: vectors, then arrays that take the results.

    It returns whether it has written them; see `array_function_code`.

    Args:
        address: Of a function `void f(const double *x, double *y)`.
        function: What that takes and gives.
        constants: Its constants, (function.constants,), float64.
        doubtful: Least ratio of pivots that makes a result sound.

    Raises:
        OSError: If the system does not allow it.
        ValueError: If the constants are not so many.
    """
    if constants.shape != (function.constants,) or constants.dtype != np.float64:
        raise ValueError(f'expected {function.constants} constants')
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype = ctypes.py_object
    create.argtypes = (ctypes.POINTER(_Definition), ctypes.py_object, ctypes.c_void_p)
    own = np.ascontiguousarray(constants)
    return create(ctypes.byref(_definition(address, function, doubtful)), own, None)


@lru_cache(maxsize=None)
def _definition(address: int, function: ArrayFunction, doubtful: float) -> _Definition:
    """Return what Python needs to know of a function, which lasts as long as its code."""
    code = with_table(array_function_code(function), _addresses(address), doubtful)
    entry = executable_memory.memory.place(code) + array_function.TABLE
    return _Definition(b'array_function', entry, METH_FASTCALL, None)


def _addresses(function: int) -> dict[str, int]:
    increment = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value or 0
    return dict(zip(array_function.ADDRESSES, (
        function, increment, id(np.ndarray), id(np.dtype(np.float64)), id(True), id(False),
    )))


@lru_cache(maxsize=1)
def problem() -> Optional[str]:
    """Return why there are no such functions in this process, or None."""
    found = executable_memory.problem()
    if found is None and platform.python_implementation() != 'CPython':
        found = f'Python is {platform.python_implementation()}, not CPython'
    if found is None and not all(map(_is_as_expected, _samples())):
        found = 'arrays lie in memory in another way than expected'
    return found


def _samples() -> list[np.ndarray]:
    """Return arrays of every kind that code has to tell apart."""
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    shifted = np.zeros(17, np.uint8)[1:].view(np.float64)
    matrix = np.arange(6.0).reshape(2, 3)
    return [np.arange(3.0), fixed, shifted, matrix, matrix.T, matrix[:, 1], np.zeros(())]


def _is_as_expected(array: np.ndarray) -> bool:
    """Return whether the fields of an array are where code looks for them."""
    if type(array).__basicsize__ < array_function.FLAGS + 4:
        return False
    start = id(array)

    def word(offset: int) -> Optional[int]:
        return ctypes.c_void_p.from_address(start + offset).value

    def half(offset: int) -> int:
        return ctypes.c_int.from_address(start + offset).value

    if (word(array_function.TYPE), word(array_function.DATA), half(array_function.RANK),
            word(array_function.DESCRIPTOR)) != (
            id(type(array)), array.ctypes.data, array.ndim, id(array.dtype)):
        return False
    for offset, expected in ((array_function.DIMENSIONS, array.shape),
                             (array_function.STRIDES, array.strides)):
        if array.ndim:
            found = (ctypes.c_ssize_t * array.ndim).from_address(word(offset) or 0)
            if tuple(found) != expected:
                return False
    flags = half(array_function.FLAGS)
    return all(bool(flags & bit) == is_set for bit, is_set in (
        (array_function.CONTIGUOUS, array.flags.c_contiguous),
        (array_function.ALIGNED, array.flags.aligned),
        (array_function.WRITEABLE, array.flags.writeable),
    ))

# SPDX-License-Identifier: Apache-2.0
"""
Addresses of the functions that Python's math module calls, so that machine code has its bits.

The dynamic linker looks for them in the program and what it was started with, and then among the
libraries of the math module; so does this, and it compares results. A Python that brings functions
of its own, which cannot be found so, is noticed.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
import math
from typing import Any
from typing import Optional

NAMES = ('sin', 'cos', 'exp', 'tanh')
# From tiny to large, for any of them; most results have no short form.
ARGUMENTS = (
    *(sign * 1.7**k for k in range(-40, 12) for sign in (1.0, -1.0)), 0.0, -0.0, 22.0, 1e-310,
)
ANGLES = (1e5, -1e10, 1e22, 3.14159265358979, -1.5707963267948966)


@lru_cache(maxsize=1)
def math_functions() -> dict[str, int]:
    """
    Return the address of each function.

    Raises:
        OSError: If one is not found, or gives other bits.
    """
    return {name: _address(name) for name in NAMES}


def _address(name: str) -> int:
    """Return an address; wherever the linker could have found it, it has to be the same."""
    found: dict[int, Any] = {}
    for library in {None, getattr(math, '__file__', None)}:
        try:
            function = getattr(ctypes.CDLL(library), name)
        except (OSError, AttributeError):
            continue
        found[ctypes.cast(function, ctypes.c_void_p).value or 0] = function
    if len(found) == 1:
        (address, function), = found.items()
        if _is_same(name, function):
            return address
    raise OSError(f'the function {name} of the math library of Python was not found')


def _is_same(name: str, found: Any) -> bool:
    """Return whether a function gives the bits of Python's."""
    found.restype, found.argtypes = ctypes.c_double, (ctypes.c_double,)
    own = getattr(math, name)
    arguments = ARGUMENTS + (ANGLES if name in ('sin', 'cos') else ())
    return all(own(x).hex() == found(x).hex() for x in arguments)


def problem() -> Optional[str]:
    """Return why they cannot be called, or None."""
    try:
        math_functions()
    except OSError as error:
        return str(error)
    return None

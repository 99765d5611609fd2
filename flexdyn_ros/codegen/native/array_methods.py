# SPDX-License-Identifier: Apache-2.0
"""Methods that look for a function of arrays first, as `runtime/direct_call.h` has them."""

from __future__ import annotations

from functools import wraps
from types import FunctionType
from typing import Any
from typing import Callable
from typing import NamedTuple
from typing import Optional

import numpy as np

# From vectors, and what takes the results or None, to the results, or None: the call is not plain.
OnArrays = Callable[[tuple, Any], Any]
_ABSENT = object()


def with_new_results(
    function: Callable[..., bool], shapes: tuple[tuple[int, ...], ...]
) -> OnArrays:
    """
    Return a function that makes arrays for its results where none are given.

    Args:
        function: Takes vectors, and then arrays for the results; see `array_function_at`.
        shapes: Of the results.
    """
    empty = np.empty
    if len(shapes) != 1:

        def of_several(vectors: tuple, out: Any) -> Any:
            results = tuple(map(empty, shapes)) if out is None else out
            if type(results) is tuple and function(*vectors, *results):
                return results
            return None

        return of_several
    (shape,) = shapes

    def of_one(vectors: tuple, out: Any) -> Any:
        if out is not None:
            return out if function(*vectors, out) else None
        result = empty(shape)
        return result if function(*vectors, result) else None

    def of_number(vectors: tuple, out: Any) -> Any:
        result = of_one(vectors, out)
        return result if result is None or out is not None else result.item()

    return of_one if shape else of_number


class Plain(NamedTuple):
    """
    A plain call.

    Attributes:
        vectors: Its vectors.
        choice: What chooses the function, or None.
        out: What takes the results, or None.
    """

    vectors: tuple
    choice: Optional[str]
    out: Any


def method(
    written: Callable, owner: type, slot: Any, place: int, names: tuple[str, ...], kinds: str
) -> Callable:
    """
    Return a method that looks for a function of arrays first.

    Args:
        written: The method in Python, called for all that is not plain.
        owner: The class; not used.
        slot: The slot in which its objects keep a list of functions.
        place: Of two entries there: the function of a call that makes no choice, and the functions
            by choice; what is no Python function is left alone.
        names: Of the parameters.
        kinds: A letter for each, as `interface/direct_calls.py` has them.
    """
    functions, count = slot.__get__, kinds.count('v')

    @wraps(written)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        known = functions(self)
        if len(given) == count and not named:
            function = known[place]
            found = function(given, None) if type(function) is FunctionType else None
        else:
            found = _evaluated(known[place : place + 2], _plain(names, kinds, given, named))
        return written(self, *given, **named) if found is None else found

    return call


def _evaluated(functions: list, plain: Optional[Plain]) -> Any:
    """Return the results of a plain call, or None."""
    if plain is None:
        return None
    function, choices = functions
    if plain.choice is not None:
        function = choices.get(plain.choice) if choices else None
    if type(function) is not FunctionType:
        return None
    return function(plain.vectors, plain.out)


def _plain(names: tuple[str, ...], kinds: str, given: tuple, named: dict) -> Optional[Plain]:
    """Return a call as a plain one, or None where it is none."""
    bound = dict(zip(names, given))
    if len(given) > len(names) or bound.keys() & named.keys():
        return None
    bound.update(named)
    vectors, choice, out = [], None, None
    for name, kind in zip(names, kinds):
        value = bound.pop(name, _ABSENT)
        if kind == 'v':
            vectors.append(value)
        elif value is _ABSENT:
            continue
        elif kind == 'o':
            out = value
        elif kind == 'c' and type(value) is str:
            choice = value
        elif kind == 'c' or value is not None:
            return None
    return None if bound else Plain(tuple(vectors), choice, out)

# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of functions over many samples: arrays with one row a sample."""

from __future__ import annotations

from typing import Any
from typing import Callable
from typing import Mapping
from typing import Optional

from flexdyn_ros.checked_arguments import Wrenches
from flexdyn_ros.errors import ArgumentError
import numpy as np


def sample_rows(
    vectors: Mapping[str, Any], width_of: Callable[[str], int]
) -> dict[str, np.ndarray]:
    """
    Return the arguments as arrays of rows, with as many rows each.

    Args:
        vectors: Arguments by name, (N, width).
        width_of: Returns the width of one by its name.

    Raises:
        ArgumentError: If an argument has another shape.
    """
    found: dict[str, np.ndarray] = {}
    count: Optional[int] = None
    for name, value in vectors.items():
        width = width_of(name)
        try:
            rows = np.asarray(value)
            if rows.dtype.kind not in 'fiu' and rows.size:
                raise TypeError
            rows = np.ascontiguousarray(rows, dtype=float)
        except (TypeError, ValueError):
            wanted = f'(N, {width})'
            raise ArgumentError(name, f'must hold real numbers, expected {wanted}') from None
        if rows.ndim != 2 or rows.shape[1] != width:
            raise ArgumentError(name, f'has shape {rows.shape}, expected (N, {width})')
        if count is not None and len(rows) != count:
            first = next(iter(found))
            raise ArgumentError(
                name, f'has {len(rows)} samples, and "{first}" has {count}'
            )
        count, found[name] = len(rows), rows
    return found


def sample_wrenches(
    wrenches: Wrenches, count: int, known: Callable[[str], str]
) -> dict[str, np.ndarray]:
    """
    Return wrenches, each (6,) or (N, 6), in the order of their frames.

    Args:
        wrenches: By frame, or None.
        count: Number of samples, N.
        known: Returns a frame's name, or raises UnknownName.

    Raises:
        ArgumentError: If they are no wrenches of so many samples.
    """
    if wrenches is None:
        return {}
    if not isinstance(wrenches, Mapping):
        raise ArgumentError('wrenches', 'must map frame names to six numbers')
    found = {}
    for frame in sorted(wrenches):
        argument, value = f'wrenches["{frame}"]', wrenches[frame]
        try:
            numbers = np.ascontiguousarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentError(argument, 'must hold real numbers') from None
        if numbers.shape not in ((6,), (count, 6)):
            raise ArgumentError(
                argument, f'has shape {numbers.shape}, expected (6,) or ({count}, 6)'
            )
        if not np.isfinite(numbers).all():
            raise ArgumentError(argument, 'has a value that is not finite')
        found[known(frame)] = numbers
    return found


def refuse_infinite(samples: Mapping[str, np.ndarray]) -> None:
    """Raise an error that names the first value that is not finite, if there is one."""
    for name, rows in samples.items():
        finite = np.isfinite(rows)
        if not finite.all():
            where = np.argwhere(~finite)[0].tolist()
            raise ArgumentError(name, f'has a value that is not finite {where}')


def target_array(argument: str, out: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return `out` where it can take the result."""
    if not isinstance(out, np.ndarray) or out.dtype != np.float64:
        raise ArgumentError(argument, f'must be a float64 numpy array, not {type(out).__name__}')
    if out.shape != shape:
        raise ArgumentError(argument, f'has shape {out.shape}, expected {shape}')
    if not out.flags.writeable:
        raise ArgumentError(argument, 'is read-only')
    return out


def must_copy(out: np.ndarray, inputs: tuple[np.ndarray, ...]) -> bool:
    """Return whether a result has to be found elsewhere first."""
    plain = out.flags.c_contiguous and out.flags.aligned and out.dtype.isnative
    return not plain or any(np.may_share_memory(out, each) for each in inputs)

# SPDX-License-Identifier: Apache-2.0
"""Texts of rows: numbers, differences and verdicts in words."""

from __future__ import annotations

import re
from textwrap import fill
from typing import Optional, Union

import numpy as np
from validation.case import NOT_RUN, NotRun, Numbers, Row, Verdict

# As many numbers are shown one by one.
_MOST_NUMBERS = 6
_NOISE = 1e-14  # of the largest


def expected_text(row: Row) -> str:
    """Return the expected value of a row, with its unit."""
    if isinstance(row.expected, str):
        return row.expected
    text = row.shown or numbers_text(row.expected)
    relation = '' if row.relation == 'equal' else f'{row.relation} '
    return relation + _with_unit(text, row.unit)


def ours_text(row: Row) -> str:
    """Return our side of a row, with its unit."""
    if isinstance(row.ours, Verdict):
        return row.ours.detail
    if isinstance(row.ours, NotRun):
        return 'not run'
    return _with_unit(numbers_text(row.ours), row.unit)


def difference_text(row: Row) -> str:
    """Return a row's difference and the allowed one."""
    difference = row.difference
    if difference is None:
        return ''
    if row.relation != 'equal':
        return f'{difference:+.3g}'
    scale = ' of the largest' if row.of_largest else ' (relative)' if row.relative else ''
    return f'{difference:.1e}{scale}, allowed {row.tolerance:.1e}'


def verdict_text(row: Row) -> str:
    """Return a row's verdict, with the missing module where it did not run."""
    if row.verdict == NOT_RUN and isinstance(row.ours, NotRun):
        return f'not run: needs {row.ours.needs}'
    return row.verdict


def note_text(row: Row) -> str:
    """Return the remarks on a row: the reason of a miss, its scale, and its note."""
    return ' '.join(text for text in (row.expected_miss, row.of_largest, row.note) if text)


def numbers_text(value: Union[Numbers, None]) -> str:
    """Return a number, a short vector, or the shape and the largest entry of more."""
    array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        return number_text(float(array), 9)
    if array.size <= _MOST_NUMBERS and array.ndim == 1:
        # Rounding of a value that should be zero is no number to read.
        noise = _NOISE * np.max(np.abs(array), initial=0.0)
        return ', '.join(number_text(x if abs(x) > noise else 0.0) for x in array)
    shape = ' x '.join(map(str, array.shape))
    word = 'matrix' if array.ndim == 2 else 'numbers'
    largest = array.flat[int(np.argmax(np.abs(array)))] if array.size else 0.0
    return f'{shape} {word}, largest {number_text(float(largest))}'


def number_text(value: Optional[float], digits: int = 7) -> str:
    """Return a number with its significant digits."""
    if value is None:
        return ''
    if value == round(value) and abs(value) < 1e7:
        return str(int(round(value)))
    return f'{value:.{digits}g}'


def _with_unit(text: str, unit: str) -> str:
    return f'{text} {unit}' if unit and unit != '1' else text


def paragraph(text: str, indent: str = '') -> str:
    """
    Return text in lines of at most 99 columns.

    Args:
        text: The text; it is broken neither in code nor at a mark that Markdown takes for a list.
        indent: Start of the lines from the second on.
    """
    kept = re.sub(r'`[^`]*`', lambda code: code.group().replace(' ', '\0'), ' '.join(text.split()))
    kept = re.sub(r' ([-+*]|\d+\.) ', '\0\\1 ', kept)
    lines = fill(
        kept, 99, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return lines.replace('\0', ' ')

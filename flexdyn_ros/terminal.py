# SPDX-License-Identifier: Apache-2.0
"""Output on the terminal: colours and tables."""

from __future__ import annotations

import os
import sys
from typing import Optional, Sequence, TextIO

_CODES = {'red': '31', 'green': '32', 'yellow': '33', 'bold': '1', 'dim': '2'}


def paint(text: str, colour: str, stream: Optional[TextIO] = None) -> str:
    """
    Return the text in a colour, or plain where colours are off.

    They are on for a terminal that is not "dumb" while NO_COLOR is unset or empty (no-color.org).

    Args:
        text: The text to show.
        colour: red, green, yellow, bold or dim.
        stream: Stream of the output; stdout when None.
    """
    stream = sys.stdout if stream is None else stream
    if os.environ.get('NO_COLOR') or os.environ.get('TERM') == 'dumb' or not stream.isatty():
        return text
    return f'\x1b[{_CODES[colour]}m{text}\x1b[0m'


def warn(sentence: str) -> None:
    """Print a warning on stderr."""
    print(f'{paint("warning:", "yellow", sys.stderr)} {sentence}', file=sys.stderr)


def heading(text: str) -> str:
    """Return a heading for stdout."""
    return paint(text, 'bold')


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """
    Return rows in aligned columns under their headings, numbers and percentages to the right.

    Args:
        headings: One a column.
        rows: The cells; a float is shown with six significant digits, None as "-".
    """
    cells = [[_cell(value) for value in row] for row in rows]
    right = [all(_is_number(row[k]) for row in rows) for k in range(len(headings))]
    widths = [
        max([len(title), *(len(row[k]) for row in cells)]) for k, title in enumerate(headings)
    ]
    lines = [
        '  ' + '  '.join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right)
        ).rstrip()
        for line in [list(headings), *cells]
    ]
    return '\n'.join(lines)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, type(None))) or str(value).endswith(' %')


def _cell(value: object) -> str:
    if value is None:
        return '-'
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if isinstance(value, float):
        return f'{value:.6g}'
    return str(value)

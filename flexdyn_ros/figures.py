# SPDX-License-Identifier: Apache-2.0
"""The style of all plots: figures without a display, colours, lines, grids, and their files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Union

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.output_files import new_file
from flexdyn_ros.progress import next_stage

# Colours that remain distinct under colour blindness (Okabe and Ito 2008).
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#000000')
MEASURED = '0.6'  # colour of measured values, beside computed ones
FORMATS = ('png', 'svg')
_LINES = ('-', '--', ':', '-.')
_LEGEND_ROWS = 14
_DPI = 150


def column(rows: int, height: float = 2.3, width: float = 9.0) -> tuple[Any, Any]:
    """Return a figure of panels below each other over one axis, and the panels, (rows,)."""
    figure, panels = grid(rows, 1, (width, 1.2 + height * rows), sharex=True)
    return figure, panels[:, 0]


def grid(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """
    Return a figure of panels with a light grid, and the panels, (rows, columns).

    Args:
        rows: Panels below each other.
        columns: Panels beside each other.
        size: Width and height [inch].
        options: Further ones of `Figure.subplots`.

    Raises:
        FlexdynError: matplotlib is not installed.
    """
    next_stage('drawing')
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise FlexdynError(
            'Plots need matplotlib, which is not installed. Install python3-matplotlib or "pip '
            'install matplotlib", or omit plots.'
        ) from error
    figure = Figure(figsize=size, constrained_layout=True)
    FigureCanvasAgg(figure)  # needs no display
    panels = figure.subplots(rows, columns, squeeze=False, **options)
    for axes in panels.flat:
        if axes.name != '3d':
            axes.grid(True, color='#dddddd', linewidth=0.6)
            axes.set_axisbelow(True)
            axes.margins(x=0.0)
            axes.spines[['top', 'right']].set_visible(False)
    return figure, panels


def line(number: int) -> dict[str, Any]:
    """Return colour, dashes and width of the line of a number from 0 in a panel."""
    return {
        'color': COLOURS[number % len(COLOURS)], 'linewidth': 1.2,
        'linestyle': _LINES[(number // len(COLOURS)) % len(_LINES)],
    }


def legend(axes: Any) -> None:
    """Name the lines of a panel at its right."""
    count = len(axes.get_legend_handles_labels()[1])
    axes.legend(
        loc='upper left', bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize='small',
        ncol=1 + max(count - 1, 0) // _LEGEND_ROWS, borderaxespad=0.0,
    )


def save(figure: Any, path: Union[str, os.PathLike[str]]) -> Path:
    """
    Write a figure as PNG or SVG by the suffix of the file; return its path.

    Raises:
        ArgumentError: The suffix is another one.
        FileNotWritten: The file cannot be written.
    """
    kind = Path(path).suffix.lower()[1:]
    if kind not in FORMATS:
        raise ArgumentError('path', f'must end in .png or .svg, not "{path}"')
    with new_file(path) as file:
        figure.savefig(file, format=kind, dpi=_DPI)
    return Path(path)

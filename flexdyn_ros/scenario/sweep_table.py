# SPDX-License-Identifier: Apache-2.0
"""The table of a sweep, as Parquet or CSV, and its picture."""

from __future__ import annotations

import csv
from importlib.util import find_spec
import io
from pathlib import Path
from typing import Any, Optional, Sequence

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.figures import grid, line, save
from flexdyn_ros.output_files import new_file, write_text
import numpy as np

Row = dict[str, Any]
_PANELS = 4  # columns that are drawn where none are named


def columns(rows: Sequence[Row]) -> list[str]:
    """Return the names of all columns, "error" last."""
    names = list(dict.fromkeys(name for row in rows for name in row if name != 'error'))
    return [*names, 'error']


def write_table(rows: Sequence[Row], folder: Path, kind: Optional[str] = None) -> Path:
    """
    Write sweep.parquet or sweep.csv, one row a point.

    Args:
        rows: The rows.
        folder: Folder of the table.
        kind: "parquet" or "csv"; None for Parquet where pyarrow is installed.

    Raises:
        FlexdynError: Parquet is chosen, and pyarrow is not installed.
    """
    names = columns(rows)
    if kind is None:
        kind = 'parquet' if find_spec('pyarrow') else 'csv'
    path = folder / f'sweep.{kind}'
    if kind == 'csv':
        text = io.StringIO()
        writer = csv.writer(text, lineterminator='\n')
        writer.writerow(names)
        writer.writerows([[row.get(name, '') for name in names] for row in rows])
        return write_text(path, text.getvalue())
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise FlexdynError('Parquet needs pyarrow: pip install pyarrow') from error
    with new_file(path) as file:
        parquet.write_table(
            pyarrow.table({name: [row.get(name) for row in rows] for name in names}), file)
    return path


def save_sweep_plot(
    rows: Sequence[Row], keys: Sequence[str], path: Path, chosen: Optional[Sequence[str]] = None
) -> None:
    """
    Draw results over the varied keys: lines over one, a map over two, else points over each.

    Args:
        rows: The rows.
        keys: The varied keys.
        path: The file to write, PNG or SVG.
        chosen: Columns to draw; None for the first ones that vary.

    Raises:
        ArgumentError: There is no such column, or none with numbers.
        FlexdynError: matplotlib is not installed.
    """
    names = [name for name in columns(rows)[:-1] if name not in keys and all(
        isinstance(row.get(name, 0.0), (int, float)) for row in rows)]
    unknown = [name for name in chosen or () if name not in names]
    if unknown or not names:
        raise ArgumentError('plot', f'names {unknown}, expected some of {names}')
    values = {name: np.array([row.get(name, np.nan) for row in rows], dtype=float)
              for name in names}
    drawn = list(chosen or [n for n in names if np.nanstd(values[n]) > 0.0] or names)
    drawn = drawn if chosen else drawn[:_PANELS]
    places = [_places(rows, key) for key in keys]
    across = 1 if len(keys) < 3 else len(keys)
    figure, panels = grid(
        len(drawn), across, (1.0 + 4.6 * across, 0.5 + 2.8 * len(drawn)))
    style = {**line(0), 'marker': '.', **({} if across == 1 else {'linestyle': 'none'})}
    for name, row in zip(drawn, panels):
        if len(keys) == 2:
            points = row[0].scatter(places[0], places[1], c=values[name], marker='s', s=40)
            figure.colorbar(points, ax=row[0], label=name)
            row[0].set(xlabel=keys[0], ylabel=keys[1])
            row[0].margins(0.05)
            continue
        for axes, key, place in zip(row, keys, places):
            order = np.argsort(place, kind='stable')
            axes.plot(place[order], values[name][order], **style)
            axes.set(xlabel=key, ylabel=name)
            axes.margins(0.05)
    save(figure, path)


def _places(rows: Sequence[Row], key: str) -> np.ndarray:
    """Return the values of a key; words count as numbers in their order."""
    values = [row[key] for row in rows]
    if all(isinstance(value, (int, float)) for value in values):
        return np.array(values, dtype=float)
    known = list(dict.fromkeys(map(str, values)))
    return np.array([known.index(str(value)) for value in values], dtype=float)

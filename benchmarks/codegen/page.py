# SPDX-License-Identifier: Apache-2.0
"""The page of results: a table, the machine and the versions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
import os
from pathlib import Path
import platform
from textwrap import fill
from typing import Optional

from flexdyn_ros.codegen.compile.compiler import find_compiler
from flexdyn_ros.codegen.compile.extension import extension

HEAD = """\
# Benchmarks

Written by `make bench-codegen`. It compares the compiled backend, called from Python, with the
Python calls of other libraries in the same run. Both sides run alternately. Ratios are medians
over rounds, with the middle half of the rounds in brackets. Times are medians, with the shortest
round in brackets. The arm has seven joints ([cobot7](../urdf/README.md)), is rigid and has no
friction. Results are compared before they are timed.

"""
COLUMNS = """\
| case | ours, median (least) | peer | peer, median | ratio | required | met |
|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Line:
    """
    A result.

    Attributes:
        name: The measured quantity.
        ours: Our time [s].
        least: Our shortest time [s].
        ratio: Their time over ours, or the growth of time.
        spread: The middle half of the ratios.
        peer: The other side of the comparison.
        theirs: Their time [s].
        met: Whether it is as required; None without a requirement.
        wanted: The requirement.
    """

    name: str
    ours: float
    least: float
    ratio: Optional[float] = None
    spread: Optional[tuple[float, float]] = None
    peer: str = ''
    theirs: Optional[float] = None
    met: Optional[bool] = None
    wanted: str = ''


def page(lines: list[Line]) -> str:
    """Return the page."""
    return HEAD + table(lines) + '\n\n' + machine()


def table(lines: list[Line]) -> str:
    """Return the results as a table."""
    rows = [
        f'| {line.name} | {_time(line.ours)} ({_time(line.least)}) | {line.peer} | '
        f'{"" if line.theirs is None else _time(line.theirs)} | {_ratio(line)} | {line.wanted} | '
        f'{"" if line.met is None else "yes" if line.met else "**no**"} |'
        for line in lines
    ]
    return COLUMNS + '\n'.join(rows)


def machine() -> str:
    """Return the machine and the versions of the programs."""
    load = ', '.join(f'{x:.1f}' for x in os.getloadavg())
    flags = _cpu('flags').split()
    vectors = next((f for f in ('avx512f', 'avx2', 'avx', 'sse2') if f in flags), 'none known')
    versions = ', '.join(f'{name} {_version(name)}' for name in ('numpy', 'pin'))
    called = 'the extension' if extension() is not None else 'ctypes'
    text = (
        f'Machine: {_cpu("model name") or platform.processor()} (family {_cpu("cpu family")}, '
        f'model {_cpu("model")}), {len(os.sched_getaffinity(0))} processors, vectors of '
        f'{vectors}; load averages at the end {load}. Python {platform.python_version()}, '
        f'{versions}, {find_compiler().version}; calls through {called}.'
    )
    return fill(text, 99, break_long_words=False, break_on_hyphens=False) + '\n'


def _ratio(line: Line) -> str:
    if line.ratio is None:
        return ''
    spread = '' if line.spread is None else f' ({line.spread[0]:.1f} to {line.spread[1]:.1f})'
    return f'{line.ratio:.1f}{spread}'


def _time(seconds: float) -> str:
    for unit, size in (('s', 1.0), ('ms', 1e-3), ('us', 1e-6)):
        if seconds >= size:
            return f'{seconds / size:.3g} {unit}'
    return f'{seconds * 1e9:.3g} ns'


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return 'missing'


def _cpu(key: str) -> str:
    try:
        text = Path('/proc/cpuinfo').read_text(encoding='utf-8')
    except OSError:
        return ''
    for line in text.splitlines():
        name, _, value = line.partition(':')
        if name.strip() == key:
            return value.strip()
    return ''

# SPDX-License-Identifier: Apache-2.0
"""Command: python -m benchmarks.rotating_beam writes docs/geometric_stiffening.md and its plot."""

from __future__ import annotations

from pathlib import Path
import sys

from matplotlib.figure import Figure
import numpy as np
from validation.beams_and_linkages.stiffening import column, column_square, rotor, rotor_squares
from validation.case_file import expected, inputs

DOCS = Path(__file__).resolve().parents[2] / 'docs'
MODES = (1, 2, 3, 5)
WRIGHT = dict(zip(inputs('rb_rotating_beam')['speeds'], expected('rb_rotating_beam', 'modes_5')))
GREENHILL = float(expected('rb_column', 'weight'))
PAGE = """\
# Geometric stiffening

<!-- Written by `python -m benchmarks.rotating_beam`. -->

Bending shortens the projection of a beam on its axis (foreshortening). The model contains this
displacement exactly, `s(x) = -1/2 int_0^x |w'|^2`, for every point, point mass, payload and child
joint (`flexdyn_ros/model/modal/foreshortening.py`). Forces along the beam do work on it. A
rotating beam therefore stiffens, and a column under its weight softens, without a geometric
stiffness matrix. With `geometric_stiffening="false"` a beam on a hub becomes unstable in the plane
of rotation above the beam's first frequency.

![Frequencies against hub speed and against weight](geometric_stiffening.png)

Left: first frequencies of a cantilever on a hub of radius 0 against the hub's speed. Both are in
units of sqrt(EI / (rho A L^4)). Dots are the flapping frequencies printed by Wright, Smith,
Thresher and Wang (1982), and those in the plane by `lag^2 = flap^2 - speed^2`. Right: first
frequency of a clamped column against its weight. It buckles at `w L^3 / EI = 7.837` (Greenhill
1881).

First flapping frequency, and its error relative to the printed value:

| speed | printed | {heads} |
|---|---|{rules}
{rows}

The error grows with the force along the beam, since the modes are those of the beam at rest. Two
to three modes a plane are within 1 percent up to ten times the unit. With a tip mass as heavy as
the beam three modes are needed.
"""


def main() -> int:
    """Write page and plot and print their paths."""
    (DOCS / 'geometric_stiffening.md').write_text(page())
    figure().savefig(DOCS / 'geometric_stiffening.png', dpi=110)
    print(f'Written: {DOCS}/geometric_stiffening.md and .png')
    return 0


def page() -> str:
    """Return the page's text."""
    robots = [rotor(modes) for modes in MODES]
    rows = []
    for speed, printed in WRIGHT.items():
        cells = []
        for robot in robots:
            found = rotor_squares(robot, speed)[1] ** 0.5
            cells.append(f'{found:.4f} ({100.0 * (found / printed - 1.0):+.2f} %)')
        rows.append(f'| {speed} | {printed:.4f} | ' + ' | '.join(cells) + ' |')
    heads = ' | '.join(f'{m} mode{"s" if m > 1 else ""}' for m in MODES)
    return PAGE.format(heads=heads, rules='---|' * len(MODES), rows='\n'.join(rows))


def figure() -> Figure:
    """Return the plot."""
    picture = Figure(figsize=(11.0, 4.2), constrained_layout=True)
    left, right = picture.subplots(1, 2)
    speeds = np.linspace(0.0, 10.0, 41)
    for stiffening, style in ((True, '-'), (False, '--')):
        robot = rotor(3, stiffening)
        squares = np.array([rotor_squares(robot, speed) for speed in speeds])
        roots = np.sqrt(np.where(squares > 0.0, squares, np.nan))
        word = 'stiffening' if stiffening else 'without'
        left.plot(speeds, roots[:, 1], style, color='tab:blue', label=f'flapping, {word}')
        left.plot(speeds, roots[:, 0], style, color='tab:red', label=f'in the plane, {word}')
    printed = np.array(list(WRIGHT.items()))
    left.plot(*printed.T, 'o', color='tab:blue', markersize=5, label='Wright et al. 1982')
    in_plane = np.sqrt(printed[:, 1] ** 2 - printed[:, 0] ** 2)
    left.plot(printed[:, 0], in_plane, 'o', color='tab:red', markersize=5)
    unit = r'$\sqrt{EI / \rho A L^4}$'
    left.set(xlabel=f'hub speed / {unit}', ylabel=f'first frequency / {unit}')
    left.set(title='Rotating beam')
    left.legend(frameon=False)
    weights = np.concatenate([np.linspace(-8.0, 7.6, 40), np.linspace(7.62, GREENHILL, 40)])
    upright = column(4)
    squares = np.array([column_square(upright, weight) for weight in weights])
    right.plot(weights, np.sqrt(np.where(squares > 0.0, squares, np.nan)), color='tab:blue')
    right.plot([GREENHILL], [0.0], 'o', color='tab:blue', clip_on=False, label='Greenhill 1881')
    right.set(xlabel='weight per length / $(EI / L^3)$, hanging where negative')
    right.set(title='Column', ylabel=f'first frequency / {unit}', ylim=(0.0, 6.0))
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[['top', 'right']].set_visible(False)
    return picture


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Command: python -m benchmarks.mode_convergence writes docs/mode_convergence.md and its plot."""

from __future__ import annotations

from pathlib import Path
import sys
from typing import Optional

from benchmarks.mode_convergence.study import BASES, deflection_error, exact, HINGED, rates
from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parents[2] / 'docs'
SIZES = tuple(range(1, 9))
SHOWN = (1, 2, 3, 4, 6, 8)
PAGE = """\
# Number of modes

<!-- Written by `python -m benchmarks.mode_convergence`. -->

The study compares several bases for two uniform beams. The first carries a body at its tip, of
twice its mass and inertia 0.1 m L^2. The second has no body and is on a free hinge. All converge
from above, at rates that depend on the shapes.

![Errors against the number of coordinates](mode_convergence.png)

Left: relative error of the first two frequencies with the body at the tip (solid: first, dashed:
second). Middle: of the static deflection under a tip force. Right: of the first frequency on the
hinge. Errors below 1e-12 are drawn at 1e-12. "Exact" are the natural modes of the loaded or pinned
beam; the tests compare them with the frequency equations.

First frequency with the body at the tip, relative error:

| basis | {heads} |
|---|{rules}
{rows}

- Clamped-free modes have no force at the tip, and so converge slowly with a heavy tip.
- One residual-static mode makes the deflection under a tip force exact. Two, with clamped-clamped
  modes, are Craig and Bampton's basis, which suits any body at the tip.
- `loaded="true"` needs one mode for each required frequency, for the load it was computed with.
- On a driven hinge whose motor is soft or free, `boundary="pinned-free"` has the exact shapes.
- Polynomials suit all of these cases, and their modal matrices are full.
"""


def main() -> int:
    """Write page and plot and print their paths."""
    (DOCS / 'mode_convergence.md').write_text(page())
    figure().savefig(DOCS / 'mode_convergence.png', dpi=110)
    print(f'Written: {DOCS}/mode_convergence.md and .png')
    return 0


def frequency_errors(name: str, order: int, hinged: bool = False) -> dict[int, float]:
    """Return the relative error of one frequency (0, 1, ...) by the number of coordinates."""
    basis, truth = (HINGED if hinged else BASES)[name], exact(hinged)[order]
    return {
        size: abs(rates(basis, size, hinged)[order] / truth - 1.0)
        for size in SIZES
        if size > max(order, basis[2] - 1)
    }


def page() -> str:
    """Return the page's text."""
    rows = []
    for name in BASES:
        errors = frequency_errors(name, 0)
        cells = [_cell(errors.get(size)) for size in SHOWN]
        rows.append(f'| {name} | ' + ' | '.join(cells) + ' |')
    heads = ' | '.join(str(size) for size in SHOWN)
    return PAGE.format(heads=heads, rules='---|' * len(SHOWN), rows='\n'.join(rows))


def _cell(error: Optional[float]) -> str:
    """Return an error as text; digits that machines round differently are not printed."""
    if error is None:
        return ''
    return '< 1e-9' if error < 1e-9 else f'{error:.1e}'


def figure() -> Figure:
    """Return the plot."""
    picture = Figure(figsize=(13.0, 4.2), constrained_layout=True)
    left, middle, right = picture.subplots(1, 3, sharex=True, sharey=True)
    for number, name in enumerate(BASES):
        colour = f'C{number}'
        for order, style in ((0, '-o'), (1, '--o')):
            _draw(left, frequency_errors(name, order), style, colour, '' if order else name)
        basis = BASES[name]
        deflections = {size: deflection_error(basis, size) for size in SIZES if size >= basis[2]}
        _draw(middle, deflections, '-o', colour, name)
    for number, name in enumerate(HINGED):
        _draw(right, frequency_errors(name, 0, True), '-o', f'C{number + 5}', name)
    left.set(title='Body at the tip: frequencies', ylabel='relative error', yscale='log')
    middle.set(title='Static deflection under a tip force')
    right.set(title='Free hinge: first frequency')
    for axes in (left, middle, right):
        axes.set(xlabel='coordinates')
        axes.legend(frameon=False, fontsize=8, loc='best' if axes is not left else (0.02, 0.09))
        axes.spines[['top', 'right']].set_visible(False)
    return picture


def _draw(axes, errors: dict[int, float], style: str, colour: str, label: str) -> None:
    values = [max(error, 1e-12) for error in errors.values()]
    axes.plot(list(errors), values, style, color=colour, label=label or None, markersize=4)


if __name__ == '__main__':
    sys.exit(main())

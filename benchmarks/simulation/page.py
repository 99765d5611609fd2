# SPDX-License-Identifier: Apache-2.0
"""The page of results."""

from __future__ import annotations

from benchmarks.codegen.page import Line, machine, table

HEAD = """\
# Speed of simulations

Written by `make bench-simulation`: wall time of `fd.simulate`, called from Python, on the backend
"c" with `rk4` and a step of 1 ms unless a row names another one. Both sides of a ratio run in
turns in one process. Ratios are medians over rounds, with the middle half of the rounds in
brackets. Times are medians, with the shortest round in brackets. A ratio is the factor that the
last but one column names: our time over that of the same work, or the other code's time over ours.

"""
TAIL = """\
The three-link arm is that of `codes_three_links` ([validation](validation.md)): 2 s from rest
under a constant force at its tip. "At equal error" takes each code's fastest setting of those
listed in `benchmarks/simulation/three_links.py` whose tip is within 1 mm, at 2 s, of three modes a
link at 0.25 ms. MuJoCo's arm is in pieces behind hinges (`integrator="RK4"`, contacts and
constraints off). Exudyn's is `ObjectANCFCable2D` with the settings of
`validation/other_codes/exudyn_run.py`; the time is that of its solver, its sensor included.
Exudyn's reduced solids (FFRF) are not measured here.

"""


def page(lines: list[Line]) -> str:
    """Return the page."""
    return HEAD + table(lines) + '\n\n' + TAIL + machine()

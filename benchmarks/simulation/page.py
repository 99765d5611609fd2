# SPDX-License-Identifier: Apache-2.0
"""The page of results."""

from __future__ import annotations

from benchmarks.codegen.page import Line, machine, table

HEAD = """\
# Speed of simulations

Written by `make bench-simulation`: wall time of `fd.simulate`, called from Python on the backend
"c". The method is `rk4` and the step 1 ms unless a row names others. Both sides of a ratio run in
turns in one process. Ratios are medians over rounds, with the middle half of the rounds in
brackets. Times are medians, with the shortest round in brackets. The last but one column names
the ratio: our time over that of the same work, or the other code's time over ours.

"""
TAIL = """\
The three-link arm is that of `codes_three_links` ([validation](validation.md)). It runs 2 s from
rest under a constant force at its tip. "At equal error" takes each code's fastest setting of those
in `benchmarks/simulation/three_links.py` that meet an error. The tip at 2 s is within 1 mm of that
with three modes a link at 0.25 ms. A turn repeats a run for 20 ms. MuJoCo's arm is in pieces
behind hinges, contacts and constraints off. Exudyn's is `ObjectANCFCable2D`, or reduced solids in
floating frames (FFRF), with the settings of `validation/other_codes/exudyn_run.py`. Its time is
that of its solver, its sensor included.

MuJoCo's friction of `cobot7` is its default, which is soft and lets a pushed joint creep.

The growth from 10 to 20 links is that of the processor's instruction cache of 32 kB. The code of
10 links has 34 kB and takes the mass matrix, at 56 bytes a nanosecond. That of 20 links has 96 kB
and takes the recursion, at 39 bytes. Its time is linear: for 10, 20 and 40 links forward dynamics
by it takes 1.1, 2.5 and 5.4 us. Twenty links by the mass matrix take 2.6 us.
Compiled without avx512f the three chains take 10 to 20 % longer, with a growth of 2.5 from
10 to 20 links. Code for size (`-Os`) is not faster.

"""


def page(lines: list[Line]) -> str:
    """Return the page."""
    return HEAD + table(lines) + '\n\n' + TAIL + machine()

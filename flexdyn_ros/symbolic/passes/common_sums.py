# SPDX-License-Identifier: Apache-2.0
"""Common sums: a pair of terms that several sums share, up to a sign, is computed once."""

from flexdyn_ros.symbolic.expression import SUM
from flexdyn_ros.symbolic.pairs import share_pairs
from flexdyn_ros.symbolic.program import Program


def common_sums(program: Program) -> Program:
    """Return the program with the most frequent pairs of terms made nodes, again and again."""
    return share_pairs(program, SUM)

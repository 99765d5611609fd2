# SPDX-License-Identifier: Apache-2.0
"""Common products: a pair of factors that several products share is computed once."""

from flexdyn_ros.symbolic.expression import PRODUCT
from flexdyn_ros.symbolic.pairs import share_pairs
from flexdyn_ros.symbolic.program import Program


def common_products(program: Program) -> Program:
    """Return the program with the most frequent pairs of factors made nodes, again and again."""
    return share_pairs(program, PRODUCT)

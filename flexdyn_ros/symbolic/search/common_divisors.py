# SPDX-License-Identifier: Apache-2.0
"""
Common divisors: what products and sums share up to a multiple is computed once.

Products are taken apart, whoever shares them, and what one node uses alone is multiplied out. Of
all pairs of factors, and of all pairs of terms in any multiple, the one that saves most is made a
node, again and again: x y + 2 x z and 3 a y + 6 a z are multiples of y + 2 z.
"""

from __future__ import annotations

from flexdyn_ros.symbolic.program import Program
from flexdyn_ros.symbolic.search.extraction import extract, search
from flexdyn_ros.symbolic.search.network import Network
from flexdyn_ros.symbolic.search.refinement import refine


def common_divisors(program: Program) -> Program:
    """Return the program with the most valuable divisors made nodes, again and again."""
    network = Network(program)
    extract(network)
    return network.program()


def search_divisors(
    program: Program, steps: int, refinement: int = 0, patience: int = 0
) -> Program:
    """
    Return the program after a search for better divisors, step by step.

    Args:
        program: The program.
        steps: Of `search`, which takes divisors out in other orders.
        refinement: Steps of `refine`, which changes scales too, at most.
        patience: Steps of `refine` without a gain after which it ends.
    """
    network = Network(program)
    search(network, steps)
    refine(network, refinement, patience)
    return network.program()

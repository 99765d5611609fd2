# SPDX-License-Identifier: Apache-2.0
"""
Distribution where it pays: sums in products are multiplied out, gathered and factored anew.

That finds what factoring alone cannot, such as c (x - y) + c (x + y) = 2 c x.
"""

from flexdyn_ros.symbolic.expression import PRODUCT
from flexdyn_ros.symbolic.expression import SUM
from flexdyn_ros.symbolic.private_parts import rewrite_private
from flexdyn_ros.symbolic.program import Program


def distribute(program: Program) -> Program:
    """Return the program with each sum's own parts multiplied out where that saves operations."""
    return rewrite_private(program, (SUM, PRODUCT))

# SPDX-License-Identifier: Apache-2.0
"""
Constant folding: numbers meet across nested products and sums, and become one number.

While a program is built, numbers that stand side by side fold at once; here also those that
nesting keeps apart, c1 (c2 x) = (c1 c2) x and (x + c1) + (c2 - x) = c1 + c2, with like terms
gathered on the way.
"""

from flexdyn_ros.symbolic.expression import PRODUCT
from flexdyn_ros.symbolic.expression import SUM
from flexdyn_ros.symbolic.program import merge_nested
from flexdyn_ros.symbolic.program import Program


def constants(program: Program) -> Program:
    """Return the program with nested sums and products merged and their numbers folded."""
    return merge_nested(merge_nested(program, SUM), PRODUCT)

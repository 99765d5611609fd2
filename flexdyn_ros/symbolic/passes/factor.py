# SPDX-License-Identifier: Apache-2.0
"""Factoring: a factor that several terms of a sum share is taken out, x a + x b = x (a + b)."""

from flexdyn_ros.symbolic.expression import PRODUCT
from flexdyn_ros.symbolic.private_parts import rewrite_private
from flexdyn_ros.symbolic.program import Program


def factor(program: Program) -> Program:
    """Return the program with each sum's terms factored where that saves operations."""
    return rewrite_private(program, (PRODUCT,))

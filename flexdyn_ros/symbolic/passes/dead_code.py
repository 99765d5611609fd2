# SPDX-License-Identifier: Apache-2.0
"""Dead code: what no output needs is dropped (CLEAR's first pass)."""

from flexdyn_ros.symbolic.program import Program


def dead_code(program: Program) -> Program:
    """Return the program without the statements that no output needs."""
    return Program(program.graph, program.outputs)

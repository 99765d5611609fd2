# SPDX-License-Identifier: Apache-2.0
"""Rows of the published tables: our count beside the proved bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional

from flexdyn_ros.codegen.tracing.functions import read_function
from flexdyn_ros.codegen.tracing.loads import read_loads
from flexdyn_ros.codegen.tracing.simplify import simplify
from flexdyn_ros.symbolic.program import Program
from validation.bounds.polynomials import (
    has_numbers,
    operations_outside_calls,
    supports,
    Unsuitable,
)
from validation.bounds.relaxation import least_operations
from validation.counts.robots import table_robot
from validation.counts.tables import CALLS, RIGID

# Small enough to be proved in a minute, all together.
ROWS = (
    'Stanford6, external_force_vector', 'Stanford3, external_force_vector',
    'Puma3, external_force_vector', 'Stanford3, gravity_vector', 'Puma3, gravity_vector',
)


@dataclass(frozen=True)
class OperationBound:
    """
    The proved bounds of a row; see the package for the programs that they hold for.

    Attributes:
        label: The row.
        ours: Operations of our program, those in arguments of sines and cosines left out.
        least: Least operations of any program that is right for all values of the numbers.
        besides: Least operations besides multiplications by numbers, which may be any, of a
            program that is right for the numbers given; None where there are none.
    """

    label: str
    ours: int
    least: int
    besides: Optional[int]

    def line(self) -> str:
        """Return the row as text."""
        besides = '-' if self.besides is None else str(self.besides)
        verdict = 'the least' if self.ours == self.least else ''
        return f'{self.label:36s} {self.ours:5d} {self.least:6d} {besides:>8s}  {verdict}'


HEADER = f'{"row":36s} {"ours":>5s} {"least":>6s} {"besides":>8s}'


def traced(label: str) -> Program:
    """
    Return our program of a row.

    Raises:
        ValueError: If the row is none of a rigid arm.
    """
    name, _, function = label.partition(', ')
    if name not in RIGID:
        raise ValueError(f'"{label}" is no row of {", ".join(RIGID)}, such as "{ROWS[0]}"')
    call, arguments = CALLS.get(function, (function, ()))
    robot = table_robot(name)
    requests, loads = read_function(robot, call), read_loads(robot, arguments)
    return simplify(robot, call, requests, loads).trace.program


def bound_of(
    label: str, program: Program, progress: Callable[[str], None] = lambda text: None
) -> OperationBound:
    """
    Return the proved bounds of a row.

    Args:
        label: The row.
        program: Our program.
        progress: Receives the name of each step.

    Raises:
        Unsuitable: If the bound does not apply to the function.
    """
    outputs = supports(program.outputs)
    progress(f'{len(outputs)} outputs of {sum(map(len, outputs))} monomials')
    least = least_operations(outputs, progress)
    besides = None
    if has_numbers(outputs):
        progress('the same with all numbers as free factors')
        try:
            besides = least_operations(supports(program.outputs, numbers=False), progress)
        except Unsuitable as error:
            progress(f'does not suit: {error}')
    return OperationBound(label, operations_outside_calls(program.outputs), least, besides)

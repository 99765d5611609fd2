# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a generated function: names, lengths and meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace
import re
from typing import Sequence

from flexdyn_ros.symbolic.program import Program

# Of an identifier, so that Fortran's limit of 63 characters leaves room for a prefix.
LONGEST_NAME = 50


@dataclass(frozen=True)
class Input:
    """
    An argument of a generated function.

    Attributes:
        name: Its identifier.
        entries: The meaning of each number, with its unit.
        scalar: Whether it is one number passed by value instead of a vector.
    """

    name: str
    entries: tuple[str, ...]
    scalar: bool = False

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols of its numbers: the name, or name[0] and so on."""
        if self.scalar:
            return (self.name,)
        return tuple(f'{self.name}[{k}]' for k in range(len(self.entries)))


@dataclass(frozen=True)
class Output:
    """
    A result of a generated function.

    Attributes:
        name: Its name.
        shape: (), (n,) or (n, m); matrices are by rows.
        entries: The meaning of each number.
    """

    name: str
    shape: tuple[int, ...]
    entries: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of its entries."""
        return len(self.entries)


@dataclass(frozen=True)
class Trace:
    """
    A function as a program, with its arguments and results named.

    Attributes:
        robot: Name of the robot.
        function: The request, such as "mass_matrix+bias_vector".
        name: Identifier of the generated function.
        inputs: Arguments in order.
        outputs: Results in order; the program's outputs are theirs, one after the other.
        program: The program; its symbols are those of the inputs.
        coordinates: Names of the velocity coordinates, (nv,).
        positions: For each entry of q, the velocity coordinate that it belongs to, (nq,).
        choices: Formulations that were chosen among equivalent ones, in words.
    """

    robot: str
    function: str
    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    program: Program
    coordinates: tuple[str, ...]
    positions: tuple[int, ...]
    choices: tuple[str, ...] = ()


def identifier(text: str) -> str:
    """Return text as a lower-case identifier that C, Python and Fortran accept."""
    name = re.sub(r'[^0-9a-z]+', '_', text.lower())[:LONGEST_NAME].strip('_')
    return name if name[:1].isalpha() else f'n{name}'


def told_apart(inputs: Sequence[Input]) -> list[Input]:
    """Return arguments with a number behind each identifier that one before them has."""
    found: list[Input] = []
    taken: set[str] = set()
    for each in inputs:
        name, number = each.name, 1
        while name in taken:
            number += 1
            name = f'{each.name}_{number}'
        taken.add(name)
        found.append(replace(each, name=name))
    return found

# SPDX-License-Identifier: Apache-2.0
"""
Statements in order, and their split into parts of bounded length.

Compilers take more than linear time for long functions: large programs are written as parts
that pass their common temporaries on in a work array.
"""

from __future__ import annotations

from dataclasses import dataclass

from flexdyn_ros.codegen.emitting.schedule import Schedule
from flexdyn_ros.symbolic.graph import Expression
from flexdyn_ros.symbolic.graph import SYMBOL

# Statements of a part, and the number of statements above which a function is split.
PART_SIZE = 300
SPLIT_SIZE = 1200

TEMPORARY = -1


@dataclass(frozen=True)
class Statement:
    """
    An assignment.

    Attributes:
        node: What is computed.
        output: Place of the output that it goes to, TEMPORARY for a temporary.
        entry: Place of the number in that output.
    """

    node: Expression
    output: int = TEMPORARY
    entry: int = 0


@dataclass(frozen=True)
class Part:
    """
    A piece of a function.

    Attributes:
        statements: Its assignments.
        inputs: Names of the arguments that it reads.
        outputs: Places of the outputs that it writes.
        shares: Whether it reads or writes the work array.
    """

    statements: tuple[Statement, ...]
    inputs: frozenset[str]
    outputs: frozenset[int]
    shares: bool


@dataclass(frozen=True)
class Parts:
    """
    A function in parts.

    Attributes:
        parts: In order; one where the function is not split.
        shared: Place in the work array of each temporary that a later part reads.
    """

    parts: tuple[Part, ...]
    shared: dict[Expression, int]


def statements(plan: Schedule) -> list[Statement]:
    """Return all assignments in order."""
    found = [Statement(node) for node in plan.temporaries]
    nodes = iter(plan.trace.program.outputs)
    for place, output in enumerate(plan.trace.outputs):
        found += [Statement(next(nodes), place, entry) for entry in range(output.size)]
    return found


def split(plan: Schedule, part_size: int = PART_SIZE, split_size: int = SPLIT_SIZE) -> Parts:
    """Return the function in parts of `part_size` statements if it has over `split_size`."""
    lines = statements(plan)
    size = part_size if len(lines) > split_size else max(len(lines), 1)
    groups = [lines[k : k + size] for k in range(0, len(lines), size)] or [[]]
    home = {
        line.node: number for number, group in enumerate(groups) for line in group
        if line.output == TEMPORARY
    }
    shared: dict[Expression, int] = {}
    inputs: list[set[str]] = [set() for _ in groups]
    sharing = set()
    for number, group in enumerate(groups):
        for line in group:
            for read in reads(line, plan):
                if read.kind == SYMBOL:
                    inputs[number].add(read.value.partition('[')[0])
                elif home[read] != number:
                    shared.setdefault(read, len(shared))
                    sharing |= {home[read], number}
    parts = [
        Part(
            tuple(group), frozenset(inputs[number]),
            frozenset(line.output for line in group if line.output != TEMPORARY),
            number in sharing,
        )
        for number, group in enumerate(groups)
    ]
    return Parts(tuple(parts), shared)


def reads(line: Statement, plan: Schedule) -> set[Expression]:
    """Return the symbols and temporaries that a statement reads."""
    if line.output != TEMPORARY and line.node in plan.names:
        return {line.node}
    found: set[Expression] = set()
    stack = list(line.node.operands) if line.node.operands else [line.node]
    while stack:
        node = stack.pop()
        if node in plan.names or node.kind == SYMBOL:
            found.add(node)
        else:
            stack.extend(node.operands)
    return found

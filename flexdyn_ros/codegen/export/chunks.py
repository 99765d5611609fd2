# SPDX-License-Identifier: Apache-2.0
"""
Statements in order, and their split into parts of bounded length.

Compilers take more than linear time for long functions: large programs are written as parts
that pass their common temporaries on in a work array.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flexdyn_ros.codegen.export.schedule import Schedule
from flexdyn_ros.symbolic.graph import CALL, Expression, SYMBOL
from flexdyn_ros.symbolic.program import ordered

# Statements of a part, and the number of statements above which a function is split. Compilers put
# up to 30 bytes a statement aside on the stack where numbers are vectors of eight: 15 KiB.
PART_SIZE = 300
SPLIT_SIZE = 500
# Arrays of the sines and cosines that are taken together.
SINES, COSINES = 'sine', 'cosine'

TEMPORARY = -1


@dataclass(frozen=True)
class Statement:
    """
    An assignment.

    Attributes:
        node: The computation.
        output: Place of its output, TEMPORARY for a temporary.
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
        inputs: Names of the arguments, and arrays of sines and cosines, that it reads.
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


@dataclass(frozen=True)
class Angles:
    """
    Angles whose sines and cosines are taken together, before all else.

    Attributes:
        arguments: The angles.
        early: Temporaries that they need, in order.
        places: Where each of the sines and cosines lies, such as "sine[2]".
        inputs: Names of the arguments that the angles are computed from.
    """

    arguments: tuple[Expression, ...] = ()
    early: tuple[Expression, ...] = ()
    places: dict[Expression, str] = field(default_factory=dict)
    inputs: frozenset[str] = frozenset()


def gathered_angles(plan: Schedule) -> Angles:
    """Return the angles of a program that depend on no function call."""
    early: set[Expression] = set()
    for node in ordered(plan.trace.program.outputs):
        if node.kind != CALL and all(operand in early for operand in node.operands):
            early.add(node)
    arguments: dict[Expression, int] = {}
    places: dict[Expression, str] = {}
    for node in plan.temporaries:
        if node.kind == CALL and node.value in ('sin', 'cos') and node.operands[0] in early:
            place = arguments.setdefault(node.operands[0], len(arguments))
            places[node] = f'{SINES if node.value == "sin" else COSINES}[{place}]'
    needed = ordered(arguments)
    inside = set(needed)
    inputs = {node.value.partition('[')[0] for node in needed if node.kind == SYMBOL}
    return Angles(
        tuple(arguments), tuple(node for node in plan.temporaries if node in inside), places,
        frozenset(inputs),
    )


def statements(plan: Schedule, angles: Angles = Angles(), inline: bool = True) -> list[Statement]:
    """
    Return all assignments in order.

    Args:
        plan: The program.
        angles: The statements before them.
        inline: Whether sines and cosines that were taken together get temporaries.
    """
    before = set(angles.early) if inline else {*angles.early, *angles.places}
    found = [Statement(node) for node in plan.temporaries if node not in before]
    nodes = iter(plan.trace.program.outputs)
    for place, output in enumerate(plan.trace.outputs):
        found += [Statement(next(nodes), place, entry) for entry in range(output.size)]
    return found


def split(plan: Schedule, angles: Angles = Angles(), part_size: int = 0) -> Parts:
    """
    Return the function in parts of a size, or whole where it is not long.

    Args:
        plan: The program.
        angles: The statements before all parts.
        part_size: Statements of a part; when zero PART_SIZE of those of over SPLIT_SIZE.
    """
    lines = statements(plan, angles)
    several = len(lines) > (part_size or SPLIT_SIZE)
    if several:
        lines = statements(plan, angles, inline=False)
    size = (part_size or PART_SIZE) if several else max(len(lines), 1)
    groups = [lines[k : k + size] for k in range(0, len(lines), size)] or [[]]
    home = {
        line.node: number for number, group in enumerate(groups) for line in group
        if line.output == TEMPORARY
    }
    if several:
        home.update(dict.fromkeys(angles.early, -1))  # computed before all parts
    shared: dict[Expression, int] = {}
    inputs: list[set[str]] = [set() for _ in groups]
    sharing = set()
    for number, group in enumerate(groups):
        for line in group:
            if not several and line.node in angles.places:
                continue
            for read in reads(line, plan):
                if read.kind == SYMBOL:
                    inputs[number].add(read.value.partition('[')[0])
                elif several and read in angles.places:
                    inputs[number].add(angles.places[read].partition('[')[0])
                elif home.get(read, number) != number:
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


def reads(line: Statement, plan: Schedule) -> list[Expression]:
    """Return the symbols and temporaries that a statement reads, in an order of their own."""
    if line.output != TEMPORARY and line.node in plan.names:
        return [line.node]
    found: dict[Expression, None] = {}
    stack = list(line.node.operands) if line.node.operands else [line.node]
    while stack:
        node = stack.pop()
        if node in plan.names or node.kind == SYMBOL:
            found[node] = None
        else:
            stack.extend(node.operands)
    return list(found)

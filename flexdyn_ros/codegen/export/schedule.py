# SPDX-License-Identifier: Apache-2.0
"""
The straight-line form that all emitters write: temporaries in order, then results.

A node becomes a temporary where it is used more than once, or where writing it inside its user
would make a line too long. Temporaries are named after the last coordinate, in depth-first
order, that they depend on; sines and cosines after their angle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from flexdyn_ros.codegen.tracing.interface import identifier, Trace
from flexdyn_ros.symbolic.graph import CALL, CONSTANT, Expression, NEGATIVE, split_sign, SYMBOL
from flexdyn_ros.symbolic.program import count_uses, ordered

# Characters of an expression beyond which it becomes a temporary of its own.
LINE = 72
# Coordinate names longer than this are replaced by their number in names of temporaries.
NAME_LIMIT = 14


@dataclass(frozen=True)
class Schedule:
    """
    A program in writing order.

    Attributes:
        trace: The program with its arguments and results.
        temporaries: Nodes that are stored, operands before their users.
        names: Name of each stored node.
        functions: Functions that are called, sorted.
    """

    trace: Trace
    temporaries: tuple[Expression, ...]
    names: dict[Expression, str]
    functions: tuple[str, ...]


def schedule(trace: Trace, store_calls: bool = False) -> Schedule:
    """
    Return the writing order of a program.

    Args:
        trace: The program with its arguments and results.
        store_calls: Whether each function call becomes a temporary.
    """
    outputs = trace.program.outputs
    order, uses = ordered(outputs), count_uses(outputs)
    lengths: dict[Expression, int] = {}
    stored: list[Expression] = []
    for node in order:
        length = _length(node, lengths)
        plain = node.kind in (CONSTANT, SYMBOL, NEGATIVE)
        shared = uses.get(node, 0) > 1 or length > LINE or (store_calls and node.kind == CALL)
        if not plain and shared:
            stored.append(node)
            length = NAME_LIMIT
        lengths[node] = length
    names = _names(trace, order, stored)
    calls = {str(node.value) for node in order if node.kind == CALL}
    return Schedule(trace, tuple(stored), names, tuple(sorted(calls)))


def _length(node: Expression, lengths: dict[Expression, int]) -> int:
    """Return the approximate number of characters of a node, written out."""
    if node.kind in (CONSTANT, SYMBOL):
        return len(repr(node.value)) if node.kind == CONSTANT else len(node.value)
    total = sum(lengths[operand] + 3 for operand in node.operands)
    return total + (len(node.value) if node.kind == CALL else 0)


def _names(
    trace: Trace, order: Sequence[Expression], stored: list[Expression]
) -> dict[Expression, str]:
    names_of_coordinates = labels(trace)
    last = _last_coordinates(trace, order)
    taken = {name for each in trace.inputs for name in (each.name, *each.symbols)}
    names: dict[Expression, str] = {}
    counts: dict[str, int] = {}
    for node in stored:
        name = _angle_name(node, names_of_coordinates)
        if name is None or name in taken:
            place = last[node]
            label = names_of_coordinates[place] if place >= 0 else 'c'
            while name is None or name in taken:
                counts[label] = counts.get(label, 0) + 1
                name = f'{label}_{counts[label]}'
        taken.add(name)
        names[node] = name
    return names


def labels(trace: Trace) -> list[str]:
    """Return a short name of each velocity coordinate."""
    found = []
    for index, name in enumerate(trace.coordinates):
        label = identifier(name)
        found.append(label if len(label) <= NAME_LIMIT else f'x{index}')
    return [
        label if found.count(label) == 1 else f'x{index}' for index, label in enumerate(found)
    ]


def _angle_name(node: Expression, names: list[str]) -> Optional[str]:
    """Return s_<joint> or c_<joint> for the sine or cosine of a joint's own angle."""
    if node.kind != CALL or node.value not in ('sin', 'cos'):
        return None
    argument = split_sign(node.operands[0])[1]
    if argument.kind != SYMBOL or not argument.value.startswith(('q[', 'joint_q[')):
        return None
    index = int(argument.value.partition('[')[2][:-1])
    return f'{node.value[0]}_{names[index]}' if index < len(names) else None


def _last_coordinates(trace: Trace, order: Sequence[Expression]) -> dict[Expression, int]:
    """Return the last velocity coordinate that each node depends on, -1 for none."""
    places = {}
    for each in trace.inputs:
        if each.name in ('q', 'qd', 'qdd', 'joint_q', 'joint_qd', 'joint_qdd', 'tau'):
            positions = each.name in ('q', 'joint_q')
            for index, symbol in enumerate(each.symbols):
                places[symbol] = trace.positions[index] if positions else index
    last: dict[Expression, int] = {}
    for node in order:
        if node.kind == SYMBOL:
            last[node] = places.get(node.value, -1)
        else:
            last[node] = max((last[operand] for operand in node.operands), default=-1)
    return last

# SPDX-License-Identifier: Apache-2.0
"""
Few variables for many temporaries: a variable takes the next temporary once its last use is past.

Interpreted code gains by it: numbers are given back early, to be made anew out of warm memory,
and a function of less than 256 variables needs no long instructions to name them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Collection
from typing import Hashable
from typing import Sequence
from typing import TypeVar

from flexdyn_ros.codegen.emitting.chunks import reads
from flexdyn_ros.codegen.emitting.chunks import Statement
from flexdyn_ros.codegen.emitting.schedule import Schedule

PREFIX = 'x'
Value = TypeVar('Value', bound=Hashable)


def with_registers(plan: Schedule) -> Schedule:
    """Return the schedule with its temporaries renamed to variables that are used again."""
    used = [reads(Statement(node), plan) for node in plan.temporaries]
    kept = set()
    for output in plan.trace.program.outputs:
        kept |= reads(Statement(output, 0), plan)
    taken = {each.name for each in plan.trace.inputs}
    numbers = registers_of(plan.temporaries, used, kept)
    free = (name for name in map(f'{PREFIX}{{}}'.format, count()) if name not in taken)
    variables = [next(free) for _ in set(numbers.values())]
    return replace(plan, names={node: variables[number] for node, number in numbers.items()})


def registers_of(
    values: Sequence[Value], used: Sequence[Collection[Value]], kept: Collection[Value]
) -> dict[Value, int]:
    """
    Return the number of the register that holds each value, from 0 on.

    Args:
        values: What is computed, in order.
        used: For each of them, what it is computed from; others than `values` do not count.
        kept: Those whose registers nothing else may take.
    """
    last = {each: place for place, found in enumerate(used) for each in found}
    registers: dict[Value, int] = {}
    free: list[int] = []
    size = 0
    for place, value in enumerate(values):
        # Read before written: a register may take the result that it was the last to lead to.
        free += sorted({
            registers[each] for each in used[place]
            if each in registers and last[each] == place and each not in kept
        })
        if not free:
            free.append(size)
            size += 1
        registers[value] = free.pop()
    return registers

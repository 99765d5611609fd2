# SPDX-License-Identifier: Apache-2.0
"""
Few variables for many temporaries: a variable takes the next temporary once its last use is past.

Interpreted code gains by it: numbers are given back early, to be made anew out of warm memory,
and a function of less than 256 variables needs no long instructions to name them.
"""

from __future__ import annotations

from dataclasses import replace

from flexdyn_ros.codegen.chunks import reads
from flexdyn_ros.codegen.chunks import Statement
from flexdyn_ros.codegen.schedule import Schedule
from flexdyn_ros.symbolic.expression import Expression

PREFIX = 'x'


def with_registers(plan: Schedule) -> Schedule:
    """Return the schedule with its temporaries renamed to variables that are used again."""
    used = [reads(Statement(node), plan) for node in plan.temporaries]
    last: dict[Expression, int] = {}
    for place, found in enumerate(used):
        last.update(dict.fromkeys(found, place))
    kept = set()
    for output in plan.trace.program.outputs:
        kept |= reads(Statement(output, 0), plan)
    taken = {each.name for each in plan.trace.inputs}
    names: dict[Expression, str] = {}
    free: list[str] = []
    count = 0
    for place, node in enumerate(plan.temporaries):
        # Read before written: a variable may take the result that it was the last to lead to.
        free += sorted(
            names[each] for each in used[place]
            if each in names and last[each] == place and each not in kept
        )
        if not free:
            while f'{PREFIX}{count}' in taken:
                count += 1
            free.append(f'{PREFIX}{count}')
            count += 1
        names[node] = free.pop()
    return replace(plan, names=names)

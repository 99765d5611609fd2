# SPDX-License-Identifier: Apache-2.0
"""
Operations in runs of one kind, so that an interpreter decides what to do once a run.

Inside a run operations depend on none of the later ones and often not on each other: a
processor works on several at once.
"""

from __future__ import annotations

from heapq import heappop
from heapq import heappush
from typing import Sequence

from flexdyn_ros.codegen.emitting.lowering import Operation
from flexdyn_ros.codegen.emitting.lowering import RESULT

# Of an operation of the same kind as the one before it, against a new run.
SAME_KIND = 0.1


def in_runs(operations: Sequence[Operation]) -> list[Operation]:
    """
    Return the same operations in another order that can be done, in few long runs.

    A run goes on while there is any operation of its kind whose operands are known; the next one
    is of the kind that most runs wait for, one after the other.

    Args:
        operations: Each after those that it reads; numbered in this order.
    """
    users: list[list[int]] = [[] for _ in operations]
    missing = [0] * len(operations)
    for place, operation in enumerate(operations):
        for read in set(operation.reads):
            if read.kind == RESULT:
                users[read.place].append(place)
                missing[place] += 1
    waiting = _waiting_runs(operations, users)
    ready: dict[str, list[tuple[float, int]]] = {each.name: [] for each in operations}
    for place, count in enumerate(missing):
        if not count:
            heappush(ready[operations[place].name], (-waiting[place], place))
    ordered: list[Operation] = []
    kind = ''
    while len(ordered) < len(operations):
        if not ready.get(kind):
            kind = min(
                (name for name, heap in ready.items() if heap),
                key=lambda name: (ready[name][0][0], -len(ready[name])),
            )
        _, place = heappop(ready[kind])
        ordered.append(operations[place])
        for user in users[place]:
            missing[user] -= 1
            if not missing[user]:
                heappush(ready[operations[user].name], (-waiting[user], user))
    return ordered


def _waiting_runs(operations: Sequence[Operation], users: list[list[int]]) -> list[float]:
    """Return about how many runs must follow each operation before all is done."""
    waiting = [0.0] * len(operations)
    for place in range(len(operations) - 1, -1, -1):
        name = operations[place].name
        for user in users[place]:
            step = SAME_KIND if operations[user].name == name else 1.0
            waiting[place] = max(waiting[place], waiting[user] + step)
    return waiting

# SPDX-License-Identifier: Apache-2.0
"""
Orders of operations that leave a processor little to wait for and few values to put aside.

List scheduling (Gibbons and Muchnick 1986, "Efficient instruction scheduling for a pipelined
architecture", SIGPLAN Notices 21) for a processor that starts one operation a cycle. Real ones
start several, out of order, but see only some hundred instructions ahead: in such an order, what
they see next is what can be done next. Of what has its operands, that goes first which leaves the
fewest values in registers.
"""

from __future__ import annotations

from heapq import heapify
from heapq import heappop
from heapq import heappush
from typing import Sequence

from flexdyn_ros.codegen.emitting.operations import ADD
from flexdyn_ros.codegen.emitting.operations import DIVIDE
from flexdyn_ros.codegen.emitting.operations import FUSED
from flexdyn_ros.codegen.emitting.operations import MULTIPLY
from flexdyn_ros.codegen.emitting.operations import NEGATE
from flexdyn_ros.codegen.emitting.operations import Operation
from flexdyn_ros.codegen.emitting.operations import STORE
from flexdyn_ros.codegen.emitting.operations import SUBTRACT

# Cycles from the start of an operation to its result on current processors, about.
LATENCIES = {
    ADD: 3, SUBTRACT: 3, MULTIPLY: 3, DIVIDE: 13, NEGATE: 1, STORE: 1, **dict.fromkeys(FUSED, 4),
}
# An operation may be placed some cycles before its operands are known: so many, or so many.
AHEAD = (2, 3)
# What a processor does for one of two threads that share it: instructions a cycle, and how many
# it looks ahead.
PER_CYCLE, WINDOW = 2.25, 112


def orders(steps: Sequence[Operation]) -> list[list[Operation]]:
    """
    Return orders worth trying, the given one first.

    Args:
        steps: Operations, those before others whose results they use.
    """
    needs = _needs(steps)
    waiting = [LATENCIES[step.kind] for step in steps]
    for place in range(len(steps) - 1, -1, -1):
        for need in needs[place]:
            waiting[need] = max(waiting[need], LATENCIES[steps[need].kind] + waiting[place])
    found = [list(steps)]
    for ranks in ([-cycles for cycles in waiting], list(range(len(steps)))):
        for ahead in AHEAD:
            order = _Listing(steps, needs, ranks, ahead).run()
            found.append([steps[place] for place in order])
    return found


def cycles(steps: Sequence[Operation], ends: Sequence[int]) -> float:
    """
    Return about how many cycles straight-line code takes.

    Args:
        steps: Its operations in order.
        ends: Place of the instruction of each; those between load and store.
    """
    needs = _needs(steps)
    known = [0.0] * len(steps)
    # When all before each instruction is done.
    done = [0.0] * (ends[-1] + 1 if ends else 1)
    place, last = 0, 0.0
    for number, end in enumerate(ends):
        start = max(end / PER_CYCLE, done[end - WINDOW] if end >= WINDOW else 0.0,
                    max((known[need] for need in needs[number]), default=0.0))
        known[number] = start + LATENCIES[steps[number].kind]
        while place < end:
            done[place] = last
            place += 1
        last = max(last, known[number])
    return last


def _needs(steps: Sequence[Operation]) -> list[set[int]]:
    """Return the places of the steps whose results each step uses."""
    made = {step.result: place for place, step in enumerate(steps) if step.kind != STORE}
    return [
        {made[operand] for operand in step.operands if isinstance(operand, int)} for step in steps
    ]


class _Listing:
    """Lists steps; among those that leave equally many values, by rank."""

    def __init__(
        self, steps: Sequence[Operation], needs: Sequence[set[int]], ranks: Sequence[int],
        ahead: int,
    ):
        self._steps, self._needs, self._ranks, self._ahead = steps, needs, ranks, ahead
        self._users: list[list[int]] = [[] for _ in steps]
        for place, each in enumerate(needs):
            for need in each:
                self._users[need].append(place)
        self._left = [len(users) for users in self._users]
        # How many more values are held once a step is done.
        self._more = [int(bool(users)) for users in self._users]
        for users in self._users:
            if len(users) == 1:
                self._more[users[0]] -= 1
        self._is_ready, self._is_done = [False] * len(steps), [False] * len(steps)
        self._ready: list[tuple[int, int, int]] = []

    def run(self) -> list[int]:
        """Return the places of the steps in order."""
        missing, known = [len(each) for each in self._needs], [0] * len(self._steps)
        coming = [(0, place) for place, count in enumerate(missing) if not count]
        heapify(coming)
        order: list[int] = []
        cycle, waiting = 0, 0
        while len(order) < len(self._steps):
            if not waiting:
                cycle = max(cycle, coming[0][0] - self._ahead)
            while coming and coming[0][0] <= cycle + self._ahead:
                place = heappop(coming)[1]
                self._is_ready[place] = True
                self._offer(place)
                waiting += 1
            place = self._next()
            order.append(place)
            waiting -= 1
            for user in self._users[place]:
                known[user] = max(known[user], cycle + LATENCIES[self._steps[place].kind])
                missing[user] -= 1
                if not missing[user]:
                    heappush(coming, (known[user], user))
            cycle += 1
        return order

    def _offer(self, place: int) -> None:
        heappush(self._ready, (self._more[place], self._ranks[place], place))

    def _next(self) -> int:
        """Take the best step; what was offered before it became better is left out."""
        while True:
            more, _, place = heappop(self._ready)
            if self._is_ready[place] and more == self._more[place]:
                break
        self._is_ready[place], self._is_done[place] = False, True
        for need in self._needs[place]:
            self._left[need] -= 1
            if self._left[need] == 1:
                self._free_with_last(need)
        return place

    def _free_with_last(self, need: int) -> None:
        """Note that the one step that still uses a value gives its register back."""
        last = next(user for user in self._users[need] if not self._is_done[user])
        self._more[last] -= 1
        if self._is_ready[last]:
            self._offer(last)

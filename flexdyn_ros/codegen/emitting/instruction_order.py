# SPDX-License-Identifier: Apache-2.0
"""The order of operations that suits a processor which runs several of them at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable
from typing import Mapping
from typing import Sequence

from flexdyn_ros.codegen.emitting.schedule import Schedule
from flexdyn_ros.codegen.emitting.writer import Writer
from flexdyn_ros.symbolic.graph import CALL
from flexdyn_ros.symbolic.graph import Expression
from flexdyn_ros.symbolic.graph import PRODUCT
from flexdyn_ros.symbolic.graph import QUOTIENT
from flexdyn_ros.symbolic.graph import SUM
from flexdyn_ros.symbolic.program import ordered

# Cycles that operations take on current processors, about.
LATENCIES = {SUM: 4, PRODUCT: 4, QUOTIENT: 13, CALL: 50}


class LateLast(Writer):
    """
    Writes sums and products with the operands that are known last at the end.

    What a processor waits for then takes part in one operation instead of several.
    """

    def __init__(
        self, names: Mapping[Expression, str], symbol: Callable[[str], str],
        call: Callable[[str], str], delays: Mapping[Expression, int],
        number: Callable[[float], str] = repr,
    ):
        super().__init__(names, symbol, number, call)
        self._delays = delays

    def _compute(self, node: Expression) -> tuple[str, int]:
        if node.kind not in (SUM, PRODUCT):
            return super()._compute(node)
        ordered_operands = tuple(sorted(node.operands, key=self._delays.__getitem__))
        # The same operation: a node of its own that no graph knows.
        return super()._compute(
            Expression(node.graph, node.kind, ordered_operands, node.value, node.number)
        )


def delays_of(outputs: Sequence[Expression]) -> dict[Expression, int]:
    """Return about how many cycles after the inputs each node is known."""
    delays: dict[Expression, int] = {}
    for node in ordered(outputs):
        times = sorted(delays[operand] for operand in node.operands)
        known = times[0] if times else 0
        for time in times[1:]:
            known = max(known, time) + LATENCIES[node.kind]
        if len(times) == 1:
            known += LATENCIES.get(node.kind, 0)
        delays[node] = known
    return delays


def waiting_for(outputs: Sequence[Expression]) -> dict[Expression, int]:
    """Return about how many cycles after each node the last result that needs it is known."""
    waiting = dict.fromkeys(ordered(outputs), 0)
    for node in reversed(list(waiting)):
        for operand in node.operands:
            longest = waiting[node] + LATENCIES.get(node.kind, 0)
            waiting[operand] = max(waiting[operand], longest)
    return waiting


def spare_of(outputs: Sequence[Expression]) -> dict[Expression, int]:
    """Return by about how many cycles each node can be late without any result being later."""
    delays, waiting = delays_of(outputs), waiting_for(outputs)
    last = max((delays[node] for node in outputs), default=0)
    return {node: last - delays[node] - waiting[node] for node in delays}


def urgent_first(plan: Schedule) -> Schedule:
    """
    Return the plan with temporaries in the order of the longest chain that waits for them.

    Operations of different chains then stand side by side, which processors run at once.
    """
    waiting = waiting_for(plan.trace.program.outputs)
    # Operands come first: they wait longer, or are older where a sign takes no time.
    temporaries = sorted(plan.temporaries, key=lambda node: (-waiting[node], node.number))
    return replace(plan, temporaries=tuple(temporaries))


def angles_first(plan: Schedule) -> Schedule:
    """Return the plan with sines and cosines of what needs no other call moved to the front."""
    early: set[Expression] = set()
    for node in ordered(plan.trace.program.outputs):
        if node.kind != CALL and all(operand in early for operand in node.operands):
            early.add(node)
    first = [node for node in plan.temporaries if is_angle(node) and node.operands[0] in early]
    needed = set(ordered(first))
    before = [node for node in plan.temporaries if node in needed and node not in set(first)]
    moved = {*first, *before}
    rest = [node for node in plan.temporaries if node not in moved]
    return replace(plan, temporaries=(*before, *first, *rest))


def is_angle(node: Expression) -> bool:
    """Return whether a node is a sine or a cosine."""
    return node.kind == CALL and node.value in ('sin', 'cos')

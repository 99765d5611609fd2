# SPDX-License-Identifier: Apache-2.0
"""The passes in order, each with its effect on the counts, as CLEAR reports them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Callable, Sequence

from flexdyn_ros.symbolic.graph import Expression, PRODUCT, SUM
from flexdyn_ros.symbolic.passes.common_pairs import share_pairs
from flexdyn_ros.symbolic.passes.factoring import reuse, rewrite_single_use
from flexdyn_ros.symbolic.passes.identities import trigonometry
from flexdyn_ros.symbolic.program import merge_nested, operation_counts, Program
from flexdyn_ros.symbolic.search.extraction import common_divisors

Pass = Callable[[Program], Program]


def dead_code(program: Program) -> Program:
    """Return the program without the statements that no output needs (CLEAR's first pass)."""
    return Program(program.graph, program.outputs)


def constants(program: Program) -> Program:
    """
    Return the program with nested sums and products merged and their numbers folded.

    While a program is built, numbers that stand side by side fold at once. This pass folds those
    that nesting keeps apart, c1 (c2 x) = (c1 c2) x and (x + c1) + (c2 - x) = c1 + c2.
    """
    return merge_nested(merge_nested(program, SUM), PRODUCT)


# Run in this order until none of them saves anything more.
PASSES: dict[str, Pass] = {
    'dead_code': dead_code,
    'trigonometry': trigonometry,
    'constants': constants,
    'factor': partial(rewrite_single_use, opened=(PRODUCT,)),
    'distribute': partial(rewrite_single_use, opened=(SUM, PRODUCT)),
    'reuse': reuse,
    'common_products': partial(share_pairs, kind=PRODUCT),
    'common_sums': partial(share_pairs, kind=SUM),
    'common_divisors': common_divisors,
}
# Runs when the others save no more operations: it takes apart the nodes that they have built.
LAST = 'common_divisors'
ROUND_LIMIT = 8


@dataclass(frozen=True)
class PassReport:
    """The effect of one pass: its name and the counts (mul, add, trig) after it."""

    name: str
    counts: dict[str, int]


def optimise(
    program: Program, passes: Sequence[str] = tuple(PASSES)
) -> tuple[Program, tuple[PassReport, ...]]:
    """
    Return an equal program with fewer operations, and the effect of each pass.

    Args:
        program: The program as traced.
        passes: Names of the passes to run, in order; the whole list is repeated while it saves.
    """
    traced = program.statements or program.outputs
    reports = [PassReport('traced', operation_counts(traced))]
    # Passes that left the program as it was, or raised its cost: they would do the same again.
    tried: dict[str, tuple[Expression, ...]] = {}
    for _ in range(ROUND_LIMIT):
        before = _total(reports[-1])
        for name in passes:
            if tried.get(name) == program.outputs:
                continue
            if name == LAST and _total(reports[-1]) < before:
                continue
            candidate = PASSES[name](program)
            counts = operation_counts(candidate.outputs)
            kept = sum(counts.values()) <= _total(reports[-1])
            if not kept or candidate.outputs == program.outputs:
                tried[name] = program.outputs
            if kept:
                program = candidate
                reports.append(PassReport(name, counts))
        if _total(reports[-1]) >= before:
            break
    return program, tuple(reports)


def _total(report: PassReport) -> int:
    return sum(report.counts.values())

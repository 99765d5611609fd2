# SPDX-License-Identifier: Apache-2.0
"""A function ready to be written: traced, optimised, the cheapest of its formulations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional, Sequence

from flexdyn_ros.codegen.tracing.functions import Request
from flexdyn_ros.codegen.tracing.interface import Trace
from flexdyn_ros.codegen.tracing.loads import Loads
from flexdyn_ros.codegen.tracing.trace import (
    ANGLE_TOLERANCE,
    compared,
    methods,
    solving_methods,
    trace_requests,
)
from flexdyn_ros.model.records.robot import Robot
from flexdyn_ros.symbolic.optimise import optimise, PASSES, PassReport
from flexdyn_ros.symbolic.passes.factoring import gather_numbers
from flexdyn_ros.symbolic.passes.identities import descend_stumpff
from flexdyn_ros.symbolic.program import operation_counts, Program
from flexdyn_ros.symbolic.search.refinement import search_divisors

# Operations of a traced program above which the passes are left out, as they would take long. For
# `quick` code the limit is lower.
SIZE_LIMIT = 100_000
QUICK_SIZE_LIMIT = 3_000
# Operations of a traced program up to which the passes start from two forms of it.
TRIAL_LIMIT = 2_000
# Passes that take most of the time: the cheapest formulation alone goes through them. The search
# for divisors starts with the second.
REUSE = 'reuse'
SLOW_PASSES = (REUSE, 'common_divisors')
QUICK_PASSES = tuple(name for name in PASSES if name not in SLOW_PASSES)
# Steps of the search for a cheaper program. Numbers for each operation and each formulation that
# went through the passes, which take their time too; and in all, for large programs.
SEARCH_STEPS = 0.5
SEARCH_LIMIT = 1_000
LARGE_LIMIT = 200
# Cost up to which every formulation is searched, as alone and as one of several, not the cheapest
# one so far only.
SEARCHED_SIZE = 250
# Programs up to this size are refined, at any cost in time. Steps for each operation, the most in
# all, and for each operation those without a gain that end it.
REFINED_SIZE = 1_000
REFINEMENT = 4.0
REFINEMENT_LIMIT = 1_500
PATIENCE = 0.6
# Formulations whose traced counts are beyond this multiple of the least are not optimised.
HOPELESS = 1.15
# A call of sine or cosine takes longer than an addition: formulations are compared so.
CALL_WEIGHT = 2


@dataclass(frozen=True)
class Simplified:
    """
    A program ready to be written.

    Attributes:
        trace: The program with its arguments and results.
        report: The effect of each pass.
    """

    trace: Trace
    report: tuple[PassReport, ...]


def simplify(
    robot: Robot,
    function: str,
    requests: Sequence[Request],
    loads: Loads,
    *,
    optimised: bool = True,
    rotation_tolerance: float = ANGLE_TOLERANCE,
    pivots: bool = False,
    quick: bool = False,
    method: Optional[str] = None,
) -> Simplified:
    """
    Return the cheapest program of a function.

    Args:
        robot: The robot.
        function: The request.
        requests: The same, read.
        loads: The quantities that stay arguments.
        optimised: Whether inertial parameters are regrouped and the passes run.
        rotation_tolerance: See `trace_requests`.
        pivots: The same.
        quick: Whether equivalent formulations are compared before the passes instead of after,
            slow passes are left out, and large programs go without any.
        method: Method that solves for accelerations, the cheapest when None, or that computes the
            mass matrix. It is replaced where the robot does not allow it.
    """
    suitable = compared(robot, requests, quick) if optimised else solving_methods(robot, requests)
    traces = [
        trace_requests(
            robot, function, requests, loads, formulation, optimised, rotation_tolerance, pivots
        )
        for formulation in ((method,) if method in methods(robot, requests) else suitable)
    ]
    counts = [_total(operation_counts(each.program.outputs)) for each in traces]
    least = min(counts)
    if not optimised:
        chosen = traces[counts.index(least)]
        return Simplified(chosen, _traced(chosen))
    if quick:
        return _optimised(traces[counts.index(least)], least, QUICK_SIZE_LIMIT, QUICK_PASSES)
    candidates = [
        _optimised(each, count, SIZE_LIMIT, QUICK_PASSES, TRIAL_LIMIT)
        for each, count in zip(traces, counts) if count <= HOPELESS * least
    ]
    candidates.sort(key=_final)
    if least > SIZE_LIMIT:
        return candidates[0]
    efforts = {len(candidates)}
    if _final(candidates[0]) <= SEARCHED_SIZE:
        # The search may turn the order round, and a longer one may lead elsewhere.
        efforts.add(1)
    else:
        del candidates[1:]
    return min(
        (_searched(each, effort) for each in candidates for effort in sorted(efforts)),
        key=_final,
    )


def _optimised(
    trace: Trace, count: int, limit: int, passes: Sequence[str], trials: int = 0
) -> Simplified:
    """
    Return a program after the passes.

    Args:
        trace: The program as traced.
        count: Its cost.
        limit: Cost above which the passes are left out.
        passes: Their names.
        trials: Cost up to which they also start from products with the numbers of their factors,
            and the better end is taken.
    """
    program = descend_stumpff(trace.program)
    if count > limit:
        return Simplified(replace(trace, program=program), _traced(trace))
    starts = {'stumpff': program}
    if count <= trials:
        starts['numbers'] = gather_numbers(program)
    ends = []
    for name, start in starts.items():
        first = _traced(trace)
        counts = operation_counts(start.outputs)
        end, report = optimise(start, passes)
        if counts != first[0].counts:
            first = (*first, PassReport(name, counts))
        ends.append(Simplified(replace(trace, program=end), (*first, *report[1:])))
    return min(ends, key=_final)


def _searched(found: Simplified, effort: int) -> Simplified:
    """Return a program after reuse, and after a search for a cheaper one of some effort."""
    program, report = optimise(found.trace.program, (REUSE,))
    before = report[-1].counts
    searched = search_cheaper(program, effort)
    counts = operation_counts(searched.outputs)
    report = (*found.report, *report[1:])
    if _total(counts) < _total(before):
        program, report = searched, (*report, PassReport('search', counts))
    return Simplified(replace(found.trace, program=program), report)


def search_cheaper(program: Program, effort: int = 1) -> Program:
    """
    Return a program after a search for a cheaper one.

    Small programs get more steps for each operation. Up to a size they are refined until no gain
    comes for long. This takes most of the time in which their code is made.

    Args:
        program: The program after the passes.
        effort: Number of formulations that went through the passes.
    """
    counts = operation_counts(program.outputs)
    size = counts['mul'] + counts['add']
    limit = SEARCH_LIMIT if size <= TRIAL_LIMIT else LARGE_LIMIT
    steps = min(int(SEARCH_STEPS * effort * size), limit)
    refinement = min(int(REFINEMENT * size), REFINEMENT_LIMIT) if size <= REFINED_SIZE else 0
    return search_divisors(program, steps, refinement, int(PATIENCE * size))


def _traced(trace: Trace) -> tuple[PassReport, ...]:
    return (PassReport('traced', operation_counts(trace.program.outputs)),)


def _final(simplified: Simplified) -> int:
    """Return the cost of a program after all that was done to it."""
    return _total(simplified.report[-1].counts)


def _total(counts: dict[str, int]) -> int:
    """Return the cost that formulations are compared by."""
    return counts['mul'] + counts['add'] + CALL_WEIGHT * counts['trig']

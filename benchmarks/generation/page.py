# SPDX-License-Identifier: Apache-2.0
"""The text of docs/generation.md."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

from benchmarks.generation.example import example, NAMES
from benchmarks.generation.listing import listing
from flexdyn_ros.codegen.tracing.simplify import search_cheaper
from flexdyn_ros.codegen.tracing.trace import trace
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.symbolic.optimise import optimise, PASSES
from flexdyn_ros.symbolic.program import operation_counts, Program

URDF = Path(__file__).resolve().parents[2] / 'urdf'
# Robot, its xacro arguments, function.
CASES = (
    ('stanford_arm', {}, 'inverse_dynamics'),
    ('puma560', {'model': 'el_rayyes'}, 'inverse_dynamics'),
    ('puma560', {'model': 'el_rayyes'}, 'mass_matrix+bias_vector'),
    ('canadarm', {}, 'inverse_dynamics'),
    ('canadarm', {}, 'mass_matrix+bias_vector'),
)
EXPLAINED = {
    'dead_code': 'what no output needs is dropped',
    'trigonometry': 'squares of sine and cosine to one, sums of parallel axes',
    'constants': 'nested sums and products are merged, their numbers fold, like terms meet',
    'factor': 'a factor that several terms of a sum share is taken out',
    'distribute': 'what only one sum uses is multiplied out and factored anew, where that pays',
    'reuse': 'sums are opened into parts that others share, where known sums then serve',
    'common_products': 'a pair of factors that several products share is computed once',
    'common_sums': 'a pair of terms that several sums share, up to a sign, is computed once',
    'common_divisors': 'pairs of factors, and pairs of terms in any multiple, are computed once, the best first',
}

HEAD = """# Generated code: how it works

*Written by `python -m benchmarks.generation`; do not edit.*

An algorithm of `dynamics/` runs on symbols instead of floats. What it computes becomes a graph in which
equal expressions are one node; numbers fold, zeros and ones vanish and signs move outward while the
graph grows. Before that, inertial parameters are regrouped to base parameters (`dynamics/base_parameters.py`), numerically, so
that they cost nothing at run time. Then the passes of `symbolic/passes/` run in order, again and again, while they save
anything. A pass that would cost more is not kept. Last, the cheapest program is searched for a cheaper one: a node, or a
few, are multiplied out in what uses them and common divisors are taken out anew, another one first; what costs no more is
kept (`symbolic/search/extraction.py`), about once for every other operation and each formulation tried, by random numbers that are always the same.
Programs of up to 1000 operations are refined, as long as that pays (`symbolic/search/refinement.py`): intermediate results are also computed in other
units, which takes away numbers (there, too), and a square of a sine beside that of its cosine is replaced by one minus the other (there, too).
Where several formulations give the same function (mass
matrix and factors, or recursive elimination; closed forms for small arms), all are tried and the cheapest is written.

Operations are multiplications (with divisions) and additions (with subtractions); negations are free, sines and cosines
are counted apart. `fd.generate(...).counts` counts them by parsing the C that it emits.
"""


def page(progress: Callable[[str], None]) -> str:
    """Return the page; `progress` is told what is being worked on."""
    return '\n'.join([HEAD, _example_part(), _ablation_part(progress)])


def _example_part() -> str:
    lines = [
        '## A small example through every pass',
        '',
        'Statements of the Stanford arm that El-Rayyes 1990 carries through CLEAR (figures 3.2 to 3.8).',
        'Y1, Y2, ... are nodes used more than once. Sharing equal nodes has happened already: the graph does it.',
        '',
    ]
    program = example()
    lines += _step('Traced', 'with statements that nothing uses', program, program.statements)
    for name, run in PASSES.items():
        program = run(program)
        lines += _step(f'`{name}`', EXPLAINED[name], program, program.outputs)
    return '\n'.join(lines)


def _step(title: str, meaning: str, program: Program, counted) -> list[str]:
    counts = operation_counts(counted)
    total = counts['mul'] + counts['add']
    return [
        f'**{title}**: {meaning}. {counts["mul"]} multiplications, {counts["add"]} additions'
        f' ({total}), {counts["trig"]} sines and cosines.',
        '',
        '```',
        listing(program, NAMES),
        '```',
        '',
    ]


def _ablation_part(progress: Callable[[str], None]) -> str:
    titles = [f'{robot} {function.replace("_", " ")}' for robot, _, function in CASES]
    columns = [_column(*case, progress) for case in CASES]
    lines = [
        '## What each pass is worth',
        '',
        'Multiplications and additions together, with all passes, and with one left out at a time (the',
        'others then take over part of its work). The last row traces the inertial parameters as they stand.',
        '',
        '| | ' + ' | '.join(titles) + ' |',
        '|---|' + '---|' * len(titles),
    ]
    for row in columns[0]:
        lines.append(f'| {row} | ' + ' | '.join(str(column[row]) for column in columns) + ' |')
    return '\n'.join(lines) + '\n'


def _column(
    robot: str, arguments: dict, function: str, progress: Callable[[str], None]
) -> dict[str, int]:
    progress(f'{robot} {function}')
    loaded = load_robot(URDF / f'{robot}.urdf.xacro', xacro_arguments=arguments)
    found = {
        'traced': _total(trace(loaded, function).program.outputs),
        'all passes': _optimised(loaded, function),
        'all passes and the search': _searched(loaded, function),
    }
    for name in PASSES:
        if name != 'dead_code':
            kept = [other for other in PASSES if other != name]
            found[f'without `{name}`'] = _optimised(loaded, function, passes=kept)
    found['without base parameters'] = _optimised(loaded, function, base_parameters=False)
    return found


def _optimised(robot, function: str, passes=tuple(PASSES), base_parameters: bool = True) -> int:
    program = trace(robot, function, base_parameters=base_parameters).program
    return _total(optimise(program, passes)[0].outputs)


def _searched(robot, function: str) -> int:
    program, _ = optimise(trace(robot, function).program)
    return _total(search_cheaper(program).outputs)


def _total(outputs) -> int:
    counts = operation_counts(outputs)
    return counts['mul'] + counts['add']

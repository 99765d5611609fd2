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
    'dead_code': 'statements without an output are dropped',
    'trigonometry': 'squares of sine and cosine become one, parallel axes one angle',
    'constants': 'nested sums and products merge, numbers fold, like terms are collected',
    'factor': 'a common factor of several terms is extracted',
    'distribute': 'terms of one sum are multiplied out and factored again, if cheaper',
    'reuse': 'sums are split into parts that other sums have already',
    'common_products': 'a pair of factors of several products is computed once',
    'common_sums': 'a pair of terms of several sums, up to a sign, is computed once',
    'common_divisors': 'common pairs of factors or scaled terms are computed once, best first',
}

HEAD = """# Generated code

*Written by `python -m benchmarks.generation`; do not edit.*

## From an algorithm to a program

1. **Base parameters.** Inertial parameters are regrouped numerically before tracing
   (`dynamics/base_parameters.py`). This costs nothing at run time.
2. **Tracing.** An algorithm of `dynamics/` runs on symbols instead of floats, and builds a graph.
   Equal expressions are one node. Numbers fold, zeros and ones vanish, and signs move outward.
3. **Passes.** The passes of `symbolic/passes/` run in order, repeatedly, while they save
   operations. A pass that would cost more is dropped.
4. **Formulations.** Several formulations may give the same function: mass matrix and factors,
   recursive elimination, closed forms for small arms. All are tried, and the cheapest is written.
5. **Search** (`symbolic/search/extraction.py`). The search starts from the cheapest program. It
   multiplies a node, or a few, out into their uses, and extracts common divisors in another order.
   A result that costs no more is kept. This runs about once for every other operation and each
   formulation, with fixed random numbers.
6. **Refinement** (`symbolic/search/refinement.py`), for programs of up to 1000 operations, while
   it saves operations. It also computes intermediate results in other units, which removes
   numbers. It replaces the square of a sine beside that of its cosine by one minus the other.

Operations are multiplications (with divisions) and additions (with subtractions). Negations are
free; sines and cosines are counted apart. `fd.generate(...).counts` counts them by parsing the
emitted C.
"""


def page(progress: Callable[[str], None]) -> str:
    """Return the page; `progress` receives the name of each step."""
    return '\n'.join([HEAD, _example_part(), _ablation_part(progress)])


def _example_part() -> str:
    lines = [
        '## A small example through every pass',
        '',
        'The statements are those of the Stanford arm that El-Rayyes 1990 simplifies by CLEAR',
        '(figures 3.2 to 3.8). Y1, Y2, ... are nodes used more than once. The graph shares equal',
        'nodes already.',
        '',
    ]
    program = example()
    lines += _step('Traced', 'with unused statements', program, program.statements)
    for name, run in PASSES.items():
        program = run(program)
        lines += _step(f'`{name}`', EXPLAINED[name], program, program.outputs)
    return '\n'.join(lines)


def _step(title: str, meaning: str, program: Program, counted) -> list[str]:
    counts = operation_counts(counted)
    total = counts['mul'] + counts['add']
    return [
        f'**{title}**: {meaning}.',
        f'{counts["mul"]} multiplications, {counts["add"]} additions ({total}), '
        f'{counts["trig"]} sines and cosines.',
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
        '## The effect of each pass',
        '',
        'The table gives multiplications and additions together, with all passes, and without one',
        'pass. The others then do part of its work. The last row traces the original inertial',
        'parameters.',
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

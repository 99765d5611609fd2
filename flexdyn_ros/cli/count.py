# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn count`: operation counts of the generated code.

Count multiplications (with divisions), additions (with subtractions) and calls of sin, cos and
other functions in the generated C, as traced and after all passes. Operations on constants and
signs are free.

Examples:
  flexdyn count arm.urdf
  flexdyn count arm.urdf --function inverse_dynamics --function mass_matrix+bias_vector --json
"""

from __future__ import annotations

import argparse

from flexdyn_ros.cli.options import load, show
from flexdyn_ros.progress import ProgressBar
from flexdyn_ros.terminal import heading, table

_KINDS = ('mul', 'add', 'trig')
SUMMARY = 'operation counts of generated code'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument(
        '--function', metavar='NAME', action='append', default=[], dest='functions',
        help='function, as for flexdyn generate; may be repeated (default: all but derivatives by '
        'parameters)',
    )


def run(call: argparse.Namespace) -> int:
    """Print the counts of each function."""
    from flexdyn_ros.codegen import generate
    from flexdyn_ros.codegen.tracing.functions import FUNCTIONS, functions_of, read_function

    robot = load(call)
    # Derivatives by parameters are about parameters that the caller names.
    plain = [name for name in functions_of(robot) if not FUNCTIONS[name].of_parameters]
    functions = call.functions or [*plain, 'mass_matrix+bias_vector']
    for function in functions:
        read_function(robot, function)
    rows = []
    with ProgressBar(label='counting') as bar:
        for function in bar.over(functions):
            traced = generate(robot, function, optimise=False).counts
            rows.append((function, traced, generate(robot, function).counts))
    title = heading(f'Operations of "{robot.name}", as traced and after all passes')
    counts = table(
        ('function', 'traced', 'mul', 'add', 'calls', 'total'),
        [
            (name, sum(old.values()), *(new[kind] for kind in _KINDS), sum(new.values()))
            for name, old, new in rows
        ],
    )
    show(call, {
        'robot': robot.name,
        'functions': {name: {'traced': old, 'optimised': new} for name, old, new in rows},
    }, f'{title}\n{counts}')
    return 0

# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn generate`: source code of a dynamics function.

Write the source of a dynamics function, or of several that share their work. For C it also writes
a header, an example main and a CMake snippet. Existing files are replaced.

Examples:
  flexdyn generate arm.urdf --function inverse_dynamics --language c -o generated
  flexdyn generate arm.urdf --function mass_matrix+bias_vector --language fortran
  flexdyn generate arm.urdf --function jacobian:tool --language python
  flexdyn generate arm.urdf --argument gravity --argument payload:tool --argument forearm/mass
"""

from __future__ import annotations

import argparse

from flexdyn_ros.cli.options import load, print_json
from flexdyn_ros.errors import ArgumentError
from flexdyn_ros.output_files import new_folder, write_text

# What a caller of the library knows by another name.
_OPTIONS = {'function': '--function', 'arguments': '--argument', 'name': '--name'}
SUMMARY = 'source code of a dynamics function'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument(
        '--function', metavar='NAME', default='inverse_dynamics',
        help='method of Dynamics, or several joined by +; jacobian:FRAME selects a frame '
        '(default: inverse_dynamics)',
    )
    parser.add_argument(
        '--language', choices=('c', 'python', 'fortran'), default='c',
        help='language of the source (default: c)',
    )
    parser.add_argument(
        '-o', '--output', metavar='DIR', default='.', help='folder for the source (default: .)'
    )
    parser.add_argument(
        '--argument', metavar='NAME', action='append', default=[], dest='arguments',
        help='argument of the generated function: gravity, payload[:LINK], wrench:FRAME, or a '
        'parameter such as LINK/mass; may be repeated',
    )
    parser.add_argument('--name', help="name of the generated function (default: the function's)")
    parser.add_argument(
        '--no-optimise', action='store_false', dest='optimise',
        help='write the traced program without simplification',
    )


def run(call: argparse.Namespace) -> int:
    """Write the files and print their paths."""
    from flexdyn_ros.codegen import generate

    robot = load(call)
    try:
        code = generate(
            robot, call.function, call.language, call.optimise, call.arguments, name=call.name
        )
    except ArgumentError as error:
        option = _OPTIONS.get(error.argument, error.argument)
        raise ArgumentError(option, error.problem) from error
    folder = new_folder(call.output)
    paths = [str(write_text(folder / name, text)) for name, text in code.files.items()]
    if call.json:
        print_json({
            'robot': robot.name, 'function': code.function, 'language': code.language,
            'name': code.name, 'counts': code.counts, 'files': paths,
            'arguments': {each.name: list(each.entries) for each in code.inputs},
        })
        return 0
    counts = code.counts
    print(
        f'{code.function} of "{robot.name}": {counts["mul"]} multiplications, {counts["add"]} '
        f'additions, {counts["trig"]} calls of functions. Written:'
    )
    print('\n'.join(f'  {path}' for path in paths))
    return 0

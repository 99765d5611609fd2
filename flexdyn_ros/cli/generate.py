# SPDX-License-Identifier: Apache-2.0
"""`flexdyn generate`: source code of a dynamics function."""

from __future__ import annotations

import argparse
from typing import Any

from flexdyn_ros.cli.options import add_parser as add_model_parser
from flexdyn_ros.cli.options import load
from flexdyn_ros.errors import NotYetSupported

_DESCRIPTION = """\
Write the source of a dynamics function. Not available in this version: the description is read
and checked, and the command then stops with exit code 1.
"""
_EXAMPLES = """\
example:
  flexdyn generate arm.urdf --function inverse_dynamics --language c -o generated
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = add_model_parser(
        subparsers, 'generate', 'source code of a dynamics function (not available yet)',
        _DESCRIPTION, _EXAMPLES,
    )
    parser.add_argument(
        '--function', metavar='NAME', default='inverse_dynamics',
        help='a method of Dynamics, or several joined by + (default: inverse_dynamics)',
    )
    parser.add_argument(
        '--language', choices=('c', 'python', 'fortran'), default='c',
        help='language of the source (default: c)',
    )
    parser.add_argument(
        '-o', '--output', metavar='DIR', default='.', help='folder for the source (default: .)'
    )
    parser.set_defaults(run=run)


def run(call: argparse.Namespace) -> int:
    """Check the model, then say that generation is not available."""
    robot = load(call)
    raise NotYetSupported(
        f'source code of "{call.function}" cannot be generated in this version',
        file=robot.source, element='robot', name=robot.name,
        advice='Use fd.Dynamics, which computes the same numbers in Python',
    )

# SPDX-License-Identifier: Apache-2.0
"""`flexdyn count`: operation counts of the generated code."""

from __future__ import annotations

import argparse
from typing import Any

from flexdyn_ros.cli.options import add_parser as add_model_parser
from flexdyn_ros.cli.options import load
from flexdyn_ros.errors import NotYetSupported

_DESCRIPTION = """\
Count multiplications, additions and trigonometric calls of the generated code. Not available in
this version: the description is read and checked, and the command then stops with exit code 1.
"""
_EXAMPLES = """\
example:
  flexdyn count arm.urdf
"""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = add_model_parser(
        subparsers, 'count', 'operation counts of generated code (not available yet)',
        _DESCRIPTION, _EXAMPLES,
    )
    parser.set_defaults(run=run)


def run(call: argparse.Namespace) -> int:
    """Check the model, then say that counting is not available."""
    robot = load(call)
    raise NotYetSupported(
        'operations cannot be counted in this version, as no code is generated yet',
        file=robot.source, element='robot', name=robot.name,
    )

# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn demo`: a demonstration that needs no description.

It leaves an environment of another ROS before anything is imported. Effects of PYTHONPATH and
LD_LIBRARY_PATH on a running process cannot be undone. Where they are set and not needed,
the demonstration starts again without them.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the subcommand; its own options are those of the demonstration."""
    parser = subparsers.add_parser(
        'demo', help='demonstration without a description', add_help=False,
        description='Run the demonstration. Example: flexdyn demo', prefix_chars='\0',
    )
    parser.add_argument('options', nargs=argparse.REMAINDER)
    parser.set_defaults(run=run, debug=False)


def run(call: argparse.Namespace) -> int:
    """Run the demonstration, which reads its own options; return its exit code."""
    from flexdyn_ros.demo.environment import is_foreign, UNCLAIMED, variables

    if is_foreign():
        command = [sys.executable, '-m', 'flexdyn_ros', 'demo', *call.options]
        sys.stdout.flush()
        os.execve(sys.executable, command, variables(UNCLAIMED, os.devnull))
    from flexdyn_ros.demo import session

    return session.run(call.options)

# SPDX-License-Identifier: Apache-2.0
"""`flexdyn demo`: a demonstration that needs no description."""

from __future__ import annotations

import argparse
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
    """Hand over to the demonstration, which reads its own options."""
    from flexdyn_ros.demo.main import run as run_demo

    return run_demo(call.options)

# SPDX-License-Identifier: Apache-2.0
"""`flexdyn demo`: a demonstration that needs no description."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from flexdyn_ros.errors import NotYetSupported

_MODULE = 'flexdyn_ros.demo.main'


def add_parser(subparsers: Any) -> None:
    """Add the subcommand; its own options are those of the demonstration."""
    parser = subparsers.add_parser(
        'demo', help='a demonstration that needs no description', add_help=False,
        description='Run the demonstration. Example: flexdyn demo', prefix_chars='\0',
    )
    parser.add_argument('options', nargs=argparse.REMAINDER)
    parser.set_defaults(run=run, debug=False)


def run(call: argparse.Namespace) -> int:
    """Hand over to the demonstration, which reads its own options."""
    try:
        module = import_module(_MODULE)
    except ModuleNotFoundError as error:
        if error.name is None or not _MODULE.startswith(error.name):
            raise
        raise NotYetSupported(
            'this version comes without a demonstration',
            advice='Try flexdyn simulate with one of the robots in urdf/',
        ) from None
    return int(module.run(call.options))

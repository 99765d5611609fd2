# SPDX-License-Identifier: Apache-2.0
"""
`flexdyn convert`: between a URDF and the SDOF notation of serial chains.

A file that ends in .yaml or .yml is a chain in van der Merwe's notation. It holds gimbal rotations
and displacements of each link, and those that its joint moves. It becomes a URDF with the
extension. Any other description becomes such a file, where the notation can express it. That is an
open chain of rigid links whose joints turn or slide, with viscous friction.

Positions are the same in both. A frame "tip" ends the chain of a URDF. Frames of the links of a
YAML file are chosen anew, so that joints are about their axes. Limits are left out.

Examples:
  flexdyn convert chain.yaml -o chain.urdf
  flexdyn convert arm.urdf -o arm.yaml
"""

from __future__ import annotations

import argparse
from pathlib import Path

from flexdyn_ros.cli.options import load, print_json
from flexdyn_ros.output_files import write_text

SUMMARY = 'between a URDF and the SDOF notation of serial chains'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the subcommand."""
    parser.add_argument('-o', '--output', metavar='FILE', help='file to write; stdout without it')


def run(call: argparse.Namespace) -> int:
    """Write the other form."""
    if Path(call.urdf).suffix in ('.yaml', '.yml'):
        from flexdyn_ros.model.sdof.notation import read_sdof
        from flexdyn_ros.model.sdof.urdf import sdof_to_urdf

        text = sdof_to_urdf(read_sdof(Path(call.urdf).read_text(encoding='utf-8'), call.urdf))
    else:
        from flexdyn_ros.model.sdof.chain import robot_to_sdof
        from flexdyn_ros.model.sdof.notation import write_sdof

        text = write_sdof(robot_to_sdof(load(call)))
    if call.output:
        write_text(call.output, text)
    if call.json:
        print_json({'text': text})
    elif not call.output:
        print(text, end='')
    return 0

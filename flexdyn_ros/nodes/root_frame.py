# SPDX-License-Identifier: Apache-2.0
"""Prints the root link of a URDF or xacro file, for launch files."""

from __future__ import annotations

import subprocess
import sys
from typing import Optional, Sequence
from xml.etree import ElementTree


def root_link(text: str) -> str:
    """
    Return the link of a URDF that is no joint's child.

    Args:
        text: URDF text.

    Raises:
        ValueError: There is no such link, or several.
    """
    robot = ElementTree.fromstring(text)
    children = {child.get('link', '') for child in robot.iterfind('joint/child')}
    roots = [
        link.get('name', '') for link in robot.iterfind('link')
        if link.get('name') not in children
    ]
    if len(roots) != 1:
        raise ValueError(
            f'the description has {len(roots)} root links: {", ".join(roots)}. '
            'Connect them by joints')
    return roots[0]


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Print the root link of a URDF or xacro file."""
    (file,) = sys.argv[1:] if arguments is None else arguments
    text = subprocess.run(['xacro', file], check=True, capture_output=True, text=True).stdout
    print(root_link(text), end='')
    return 0


if __name__ == '__main__':
    sys.exit(main())

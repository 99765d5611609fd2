# SPDX-License-Identifier: Apache-2.0
"""
Run a command apart from every other ROS: see `flexdyn_ros/isolation.py`.

It needs no environment: `python3 -I -S scripts/isolated.py [--prefix VENV] COMMAND ...`.
"""

import argparse
import os
from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from flexdyn_ros.isolation import DomainClaim, isolated_environment  # noqa: E402


def main() -> int:
    """Replace this process by a command in an isolated environment."""
    parser = argparse.ArgumentParser(description='Run a command isolated from every other ROS.')
    parser.add_argument('--prefix', type=Path, default=Path(sys.prefix), metavar='VENV')
    parser.add_argument('command', nargs=argparse.REMAINDER, metavar='COMMAND ...')
    options = parser.parse_args()
    if not options.command:
        parser.error('a command is needed')
    try:
        claim = DomainClaim()
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    claim.keep_across_exec()
    environment = isolated_environment(os.environ, options.prefix, claim.domain_id)
    try:
        os.execvpe(options.command[0], options.command, environment)
    except OSError as error:
        print(f'{options.command[0]}: {error.strerror}', file=sys.stderr)
    return 127


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""
The entry of the demonstration: leaves an environment of another ROS before anything is imported.

What PYTHONPATH and LD_LIBRARY_PATH have done to a running process cannot be undone, so that the
demonstration starts again without them where they are set and not needed.
"""

from __future__ import annotations

import os
import sys
from typing import Sequence

from flexdyn_ros.demo.environment import DemoEnvironment
from flexdyn_ros.demo.environment import UNCLAIMED


def run(words: Sequence[str]) -> int:
    """
    Run the demonstration.

    Args:
        words: Its options, as words of a command line.

    Returns:
        The exit code: 0, 1 where something is missing or failed, 130 where it was interrupted.
    """
    environment = DemoEnvironment()
    if environment.has_foreign_paths and not environment.keeps_paths:
        command = [sys.executable, '-m', 'flexdyn_ros', 'demo', *words]
        variables = environment.variables(UNCLAIMED, os.devnull)
        sys.stdout.flush()
        os.execve(sys.executable, command, variables)
    from flexdyn_ros.demo import session

    return session.run(words, environment)

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

from flexdyn_ros.demo.environment import is_foreign, UNCLAIMED, variables


def run(words: Sequence[str]) -> int:
    """
    Run the demonstration.

    Args:
        words: Its options, as words of a command line.

    Returns:
        The exit code: 0, 1 where something is missing or failed, 130 where it was interrupted.
    """
    if is_foreign():
        command = [sys.executable, '-m', 'flexdyn_ros', 'demo', *words]
        sys.stdout.flush()
        os.execve(sys.executable, command, variables(UNCLAIMED, os.devnull))
    from flexdyn_ros.demo import session

    return session.run(words)

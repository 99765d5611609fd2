# SPDX-License-Identifier: Apache-2.0
"""Has the pictures drawn, by a process for each robot."""

from __future__ import annotations

from pathlib import Path
import sys
import threading
from typing import Sequence

from flexdyn_ros.demo.environment import DemoEnvironment
from flexdyn_ros.demo.environment import UNCLAIMED
from flexdyn_ros.demo.supervisor import Interrupted
from flexdyn_ros.demo.supervisor import RunFailed
from flexdyn_ros.launching.processes import ProcessGroup


def draw(
    folder: Path, robots: Sequence[str], environment: DemoEnvironment, stop: threading.Event
) -> list[str]:
    """
    Draw the pictures in processes of their own.

    Args:
        folder: Folder of the results.
        robots: Keys of the robots.
        environment: What the processes inherit.
        stop: Set from outside to end it.

    Returns:
        Names of the pictures, relative to the folder.

    Raises:
        Interrupted: It was ended from outside.
        RunFailed: Something could not be drawn.
    """
    variables = environment.variables(UNCLAIMED, folder)
    group = ProcessGroup()
    logs = [folder / robot / 'pictures.log' for robot in robots]
    try:
        for robot, log in zip(robots, logs):
            with open(log, 'w', encoding='utf-8') as output:
                command = [
                    sys.executable, '-m', 'flexdyn_ros.demo.pictures', str(folder), robot]
                group.start(robot, command, variables, output)
        group.wait(stop.is_set)
    finally:
        group.stop()
    if stop.is_set():
        raise Interrupted('The demonstration was interrupted.')
    said = [log.read_text(encoding='utf-8').split('\n') for log in logs]
    for member, lines in zip(group.members, said):
        if member.code:
            last = ([line for line in lines if line.strip()] or ['no reason given'])[-1]
            raise RunFailed(f'The pictures of {member.name} could not be drawn: {last}')
    return [line for lines in said for line in lines if line.endswith('.png')]

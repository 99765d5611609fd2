# SPDX-License-Identifier: Apache-2.0
"""Runs a launch file until it ends or gets SIGINT or SIGTERM: `python -m launch_stand_in`."""

from __future__ import annotations

import argparse
from importlib import import_module
import os
import signal
import sys
import threading
from typing import Any, Optional, Sequence

from flexdyn_ros.demo.processes import ProcessGroup
from launch_stand_in import stand_in
from launch_stand_in.context import LaunchFileError


def run_stand_in(file: str, arguments: dict[str, str]) -> int:
    """
    Run a launch file without launch_ros.

    Args:
        file: The launch file.
        arguments: Launch arguments.

    Returns:
        0, or 1 where a process did not end cleanly.
    """
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    resolved = stand_in.resolve(file, arguments)
    group, last = ProcessGroup(), []
    try:
        for item in resolved:
            name = item.name or item.executable
            environment = {**os.environ, **item.environment}
            with open(os.devnull, encoding='utf-8') as nothing:
                member = group.start(
                    name, item.command, environment, standard_input=nothing
                )
            last += [member] if item.ends_all else []
            print(f'[{name}] process started with pid [{member.process.pid}]', flush=True)
        group.wait(lambda: stopping.is_set() or any(m.code is not None for m in last))
    finally:
        group.stop()
        _remove_parameter_files(resolved)
    for sentence in group.failures():
        print(f'[error] {sentence}', file=sys.stderr, flush=True)
    return 1 if group.failures() else 0


def _remove_parameter_files(resolved: Sequence[Any]) -> None:
    for item in resolved:
        files = [b for a, b in zip(item.command, item.command[1:]) if a == '--params-file']
        for file in set(files) - set(map(str, item.parameters)):
            if os.path.exists(file):
                os.remove(file)


def run_launch_service(file: str, arguments: dict[str, str]) -> int:
    """
    Run a launch file with launch_ros.

    Args:
        file: The launch file.
        arguments: Launch arguments.

    Returns:
        The exit code of the LaunchService.
    """
    launch = import_module('launch')
    actions = import_module('launch.actions')
    sources = import_module('launch.launch_description_sources')
    service = launch.LaunchService(noninteractive=True)
    source = sources.PythonLaunchDescriptionSource(file)
    service.include_launch_description(launch.LaunchDescription([
        actions.IncludeLaunchDescription(source, launch_arguments=arguments.items()),
    ]))
    return int(service.run())


def main(words: Optional[Sequence[str]] = None) -> int:
    """
    Run a launch file.

    Args:
        words: Command line after the program's name; None for the process's own.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(
        prog='python3 -m launch_stand_in', description='Run a launch file.'
    )
    parser.add_argument('file', metavar='LAUNCH_FILE')
    parser.add_argument('arguments', nargs='*', metavar='NAME:=VALUE')
    options = parser.parse_intermixed_args(words)
    wrong = [word for word in options.arguments if ':=' not in word]
    if wrong:
        parser.error(f'{wrong[0]} is not of the form NAME:=VALUE')
    arguments = dict(word.split(':=', 1) for word in options.arguments)
    run = run_launch_service if stand_in.launch_ros_is_installed() else run_stand_in
    try:
        return run(options.file, arguments)
    except LaunchFileError as error:
        print(f'[error] {error}', file=sys.stderr)
        return 1

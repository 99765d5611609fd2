# SPDX-License-Identifier: Apache-2.0
"""
Runs a launch file until it ends or is told to stop; `python -m flexdyn_ros.launching`.

SIGINT and SIGTERM stop it, and so does the end of its standard input where --stop-with-stdin is
given: then nothing outlives a caller that was killed.
"""

from __future__ import annotations

import argparse
from importlib import import_module
import json
import os
import re
import signal
import sys
import threading
from typing import Any
from typing import Optional
from typing import Sequence

from flexdyn_ros.launching import stand_in
from flexdyn_ros.launching.context import LaunchFileError
from flexdyn_ros.launching.processes import ProcessGroup


class ProcessList:
    """The started processes, as a JSON file for whoever wants to know them."""

    def __init__(self, path: Optional[str]):
        """
        Start empty.

        Args:
            path: The file, or None.
        """
        self._path = path
        self._processes: list[dict[str, Any]] = []

    def add(self, pid: int, name: str, executable: str, launched_by: str) -> None:
        """Add one process and write the file."""
        self._processes.append(
            {'pid': pid, 'name': name, 'executable': executable, 'launched_by': launched_by}
        )
        if self._path:
            partial = f'{self._path}.part'
            with open(partial, 'w', encoding='utf-8') as file:
                json.dump(self._processes, file, indent=1)
            os.replace(partial, self._path)


def run_stand_in(file: str, arguments: dict[str, str], processes: ProcessList) -> int:
    """
    Run a launch file without launch_ros.

    Args:
        file: The launch file.
        arguments: Launch arguments.
        processes: Where started processes are noted.

    Returns:
        0, or 1 where a process did not end cleanly.
    """
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    resolved = stand_in.resolve(file, arguments)
    group = ProcessGroup()
    try:
        for item in resolved:
            name = item.name or item.executable
            environment = {**os.environ, **item.environment}
            # Standard input stays with this process, which may be told to stop through it.
            with open(os.devnull, encoding='utf-8') as nothing:
                member = group.start(
                    name, item.command, environment, standard_input=nothing
                )
            print(f'[{name}] process started with pid [{member.process.pid}]', flush=True)
            processes.add(member.process.pid, name, item.command[0], 'flexdyn_ros.launching')
        group.wait(stopping.is_set)
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


def run_launch_service(file: str, arguments: dict[str, str], processes: ProcessList) -> int:
    """
    Run a launch file with launch_ros.

    Args:
        file: The launch file.
        arguments: Launch arguments.
        processes: Where started processes are noted.

    Returns:
        The exit code of the LaunchService.
    """
    launch = import_module('launch')
    actions = import_module('launch.actions')
    handlers = import_module('launch.event_handlers')
    sources = import_module('launch.launch_description_sources')

    def note(event: Any, context: Any) -> None:
        # launch numbers the processes: "driver-1".
        name = re.sub(r'-[0-9]+$', '', event.process_name)
        processes.add(event.pid, name, event.cmd[0], 'launch_ros')

    service = launch.LaunchService(noninteractive=True)
    source = sources.PythonLaunchDescriptionSource(file)
    service.include_launch_description(launch.LaunchDescription([
        actions.RegisterEventHandler(handlers.OnProcessStart(on_start=note)),
        actions.IncludeLaunchDescription(source, launch_arguments=arguments.items()),
    ]))
    return int(service.run())


def stop_with_standard_input() -> None:
    """Send this process SIGINT when its standard input ends."""

    def watch() -> None:
        try:
            while os.read(0, 4096):
                pass
        except OSError:
            pass
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=watch, name='standard input', daemon=True).start()


def main(words: Optional[Sequence[str]] = None) -> int:
    """
    Run a launch file.

    Args:
        words: Command line after the program's name; None for the process's own.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(
        prog='python3 -m flexdyn_ros.launching', description='Run a launch file.'
    )
    parser.add_argument('file', metavar='LAUNCH_FILE')
    parser.add_argument('arguments', nargs='*', metavar='NAME:=VALUE')
    parser.add_argument('--processes', metavar='FILE', help='JSON file of the started processes')
    parser.add_argument(
        '--stop-with-stdin', action='store_true', help='stop when the standard input ends'
    )
    options = parser.parse_intermixed_args(words)
    wrong = [word for word in options.arguments if ':=' not in word]
    if wrong:
        parser.error(f'{wrong[0]} is not of the form NAME:=VALUE')
    arguments = dict(word.split(':=', 1) for word in options.arguments)
    run = run_launch_service if stand_in.launch_ros_is_installed() else run_stand_in
    if options.stop_with_stdin:
        stop_with_standard_input()
    try:
        return run(options.file, arguments, ProcessList(options.processes))
    except LaunchFileError as error:
        print(f'[error] {error}', file=sys.stderr)
        return 1

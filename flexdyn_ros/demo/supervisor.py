# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of one run, watches them, and stops them."""

from __future__ import annotations

import json
from pathlib import Path
import subprocess
import sys
import threading
import time
from typing import Any
from typing import Callable

from flexdyn_ros.demo.environment import DemoEnvironment
from flexdyn_ros.demo.plan import Run
from flexdyn_ros.demo.run_report import COMPANIONS
from flexdyn_ros.demo.run_report import PROCESSES
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.isolation import DomainClaim
from flexdyn_ros.launching.processes import Member
from flexdyn_ros.launching.processes import ProcessGroup

# The launcher needs up to two rounds of signals for its own processes [s].
PATIENCE = 12.0
# Real time without progress after which a run has failed; a first start generates code [s].
STUCK = 120.0
POLL = 0.05  # [s]


class RunFailed(FlexdynError):
    """A run did not come to its end."""


class Interrupted(FlexdynError):
    """A run was stopped from outside."""


class RunSupervisor:
    """
    One run of the demonstration.

    Attributes:
        run: What is run.
        simulated: Simulated time reached [s].
    """

    def __init__(self, run: Run, environment: DemoEnvironment, stop: threading.Event):
        """
        Prepare.

        Args:
            run: What to run.
            environment: What the processes inherit.
            stop: Set from outside to end the run.
        """
        self.run = run
        self.simulated = 0.0
        self._environment = environment
        self._stop = stop
        self._news_at = time.monotonic()
        self._logs: list[Any] = []

    def execute(self) -> dict[str, Any]:
        """
        Run to the end.

        Returns:
            The report of the recorder.

        Raises:
            RunFailed: A process ended too early, nothing moved any more, or one ended badly.
            Interrupted: It was stopped from outside.
        """
        self._news_at = time.monotonic()
        self.run.write()
        claim = DomainClaim()
        group = ProcessGroup(PATIENCE)
        try:
            self._start(group, self._environment.variables(
                claim.domain_id, self.run.path / 'ros_log'))
            self._watch(group)
        finally:
            group.stop()
            claim.release()
            for log in self._logs:
                log.close()
        failures = group.failures()
        if failures:
            raise RunFailed(self._because(' '.join(failures)))
        return json.loads((self.run.path / 'report.json').read_text(encoding='utf-8'))

    def _start(self, group: ProcessGroup, variables: dict[str, str]) -> None:
        python = [sys.executable, '-m']
        file = self._environment.prefix / 'share/flexdyn_ros/launch/bringup.launch.py'
        arguments = [f'{k}:={v}' for k, v in self.run.launch_arguments().items()]
        processes = str(self.run.path / PROCESSES)
        launcher = self._start_one(group, variables, 'launch', [
            *python, 'flexdyn_ros.launching', str(file), *arguments,
            '--processes', processes, '--stop-with-stdin',
        ])
        reference = self._start_one(group, variables, 'reference_publisher', [
            *python, 'flexdyn_ros.demo.reference_node', str(self.run.file),
        ])
        companions = [
            {
                'pid': member.process.pid, 'name': member.name,
                'executable': ' '.join(member.command[:3]), 'launched_by': 'flexdyn demo',
            }
            for member in (launcher, reference)
        ]
        (self.run.path / COMPANIONS).write_text(json.dumps(companions, indent=1))
        recorder = self._start_one(group, variables, 'recorder', [
            *python, 'flexdyn_ros.demo.recorder_node', str(self.run.file),
        ], listen=True)
        threading.Thread(target=self._listen, args=(recorder,), daemon=True).start()

    def _start_one(
        self, group: ProcessGroup, variables: dict[str, str], name: str, command: list[str],
        listen: bool = False,
    ) -> Member:
        log = open(self.run.path / f'{name}.log', 'w', encoding='utf-8')
        self._logs.append(log)
        output = subprocess.PIPE if listen else log
        return group.start(name, command, variables, output, subprocess.PIPE)

    def _listen(self, recorder: Member) -> None:
        """Take the recorder's lines: progress, and what belongs into its log."""
        for line in recorder.process.stdout:
            word, _, rest = line.decode(errors='replace').strip().partition(' ')
            if word == 'progress':
                self.simulated = float(rest)
                self._news_at = time.monotonic()
            elif word == 'recorded':
                self.simulated = self.run.duration
            else:
                with open(self.run.path / 'recorder.log', 'a', encoding='utf-8') as log:
                    log.write(f'{word} {rest}\n')

    def _watch(self, group: ProcessGroup) -> None:
        """Return when the recorder has finished; raise where that will not come."""
        recorder = next(member for member in group.members if member.name == 'recorder')
        while recorder.code is None:
            if self._stop.is_set():
                raise Interrupted('The demonstration was interrupted.')
            for member in group.ended():
                if member is not recorder:
                    raise RunFailed(self._because(
                        f'the process {member.name} ended early, with code {member.code}.'))
            for name in self._vanished():
                if recorder.code is None:
                    raise RunFailed(self._because(f'the process {name} ended early.'))
            if time.monotonic() - self._news_at > STUCK:
                raise RunFailed(self._because(f'nothing moved for {STUCK:.0f} s.'))
            time.sleep(POLL)
        if recorder.code:
            raise RunFailed(self._because(f'the recorder ended with code {recorder.code}.'))

    def _vanished(self) -> list[str]:
        """Return the names of launched processes that are gone."""
        file = self.run.path / PROCESSES
        if not file.exists():
            return []
        launched = json.loads(file.read_text(encoding='utf-8'))
        return [item['name'] for item in launched if not Path(f'/proc/{item["pid"]}').exists()]

    def _because(self, why: str) -> str:
        """Return a sentence with what the logs say."""
        said = last_errors(self.run.path)
        detail = f' Its logs say: {said}' if said else ''
        return f'{self.run.title}: {why}{detail} See {self.run.path}.'


def last_errors(folder: Path, most: int = 2) -> str:
    """Return the last lines of error in the logs of a run."""
    lines: list[str] = []
    for file in sorted(folder.glob('*.log')):
        text = file.read_text(encoding='utf-8', errors='replace').splitlines()
        lines += [line.strip() for line in text if is_error(line)]
    return ' '.join(lines[-most:])


def is_error(line: str) -> bool:
    """Return whether a line of a log is an error, of ROS or of Python."""
    head = line.split(':')[0].rpartition('.')[2]
    marks: tuple[Callable[[], bool], ...] = (
        lambda: '[ERROR]' in line or '[FATAL]' in line or line.startswith('[error]'),
        lambda: head.isidentifier() and head.endswith(('Error', 'Exception')),
    )
    return any(mark() for mark in marks)

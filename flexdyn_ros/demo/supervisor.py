# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of one run, watches them, and stops them."""

from __future__ import annotations

import json
from pathlib import Path
import re
import subprocess
import threading
import time
from typing import IO

from flexdyn_ros.demo.environment import variables
from flexdyn_ros.demo.plan import CONTROLS, DemoRun, NODES
from flexdyn_ros.demo.processes import Member, ProcessGroup, watched
from flexdyn_ros.errors import FlexdynError
from flexdyn_ros.isolation import DomainClaim

# Real time without progress after which a run has failed; a first start generates code [s].
STUCK = 120.0
POLL = 0.05  # [s]
DRIVER = 'driver'

# A line of a log that reports an error, of ROS or of Python.
ERROR = re.compile(r'\[(ERROR|FATAL)\]|^([A-Za-z_]\w*\.)*\w*(Error|Exception)(:|$)')


class RunFailed(FlexdynError):
    """A run did not come to its end."""


class Interrupted(FlexdynError):
    """A run was stopped from outside."""


class RunSupervisor:
    """
    One run of the demonstration.

    Attributes:
        run: The run.
        simulated: Simulated time reached [s].
    """

    def __init__(self, run: DemoRun, stop: threading.Event):
        """
        Prepare.

        Args:
            run: The run.
            stop: Set from outside to end the run.
        """
        self.run = run
        self.simulated = 0.0
        self._stop = stop
        self._news_at = 0.0
        self._logs: list[IO[str]] = []

    def execute(self) -> None:
        """
        Run to the end; the driver writes the report of the run.

        Raises:
            RunFailed: A process ended too early, nothing moved any more, or one ended badly.
            Interrupted: It was stopped from outside.
        """
        if self._stop.is_set():
            raise Interrupted
        self._news_at = time.monotonic()
        self.run.write()
        claim = DomainClaim()
        group = ProcessGroup()
        try:
            self._start(group, variables(claim.domain_id, self.run.path / 'ros_log'))
            self._watch(group)
        except BaseException:
            self._stop.set()
            raise
        finally:
            group.stop()
            claim.release()
            for log in self._logs:
                log.close()
        failures = group.failures()
        if failures:
            raise RunFailed(self._with_advice(' '.join(failures)))

    def _start(self, group: ProcessGroup, environment: dict[str, str]) -> None:
        """Start the nodes and the driver; list their process ids in a file."""
        commands = {
            node: watched(
                f'flexdyn_ros.nodes.{node}', '--ros-args', '--params-file',
                str(self.run.path / f'{node}.yaml'),
                *(word for pair in remappings.items() for word in ('-r', ':='.join(pair))))
            for node, remappings in NODES.items()
        }
        commands[DRIVER] = watched('flexdyn_ros.demo.driver_node', str(self.run.file))
        for name, command in commands.items():
            log = open(self.run.path / f'{name}.log', 'w', encoding='utf-8')
            self._logs.append(log)
            output = subprocess.PIPE if name == DRIVER else log
            member = group.start(name, command, environment, output, subprocess.PIPE)
        threading.Thread(target=self._listen, args=(member, log), daemon=True).start()
        pids = {member.name: member.process.pid for member in group.members}
        (self.run.path / 'processes.json').write_text(json.dumps(pids, indent=1) + '\n')

    def _listen(self, driver: Member, log: IO[str]) -> None:
        """Take the driver's lines: progress, and lines for its log."""
        for line in driver.process.stdout:
            text = line.decode(errors='replace')
            if text.startswith('progress '):
                self.simulated = float(text.split()[1])
                self._news_at = time.monotonic()
            elif not log.closed:
                log.write(text)
                log.flush()

    def _watch(self, group: ProcessGroup) -> None:
        """Return when the driver has finished; raise where that will not come."""
        while True:
            ended = {member.name: member.code for member in group.ended()}
            if ended.get(DRIVER) == 0:
                return
            if self._stop.is_set():
                raise Interrupted
            for name, code in ended.items():
                raise RunFailed(self._with_advice(
                    f'the process {name} ended early, with code {code}.'))
            if time.monotonic() - self._news_at > STUCK:
                raise RunFailed(self._with_advice(f'no motion for {STUCK:.0f} s.'))
            time.sleep(POLL)

    def _with_advice(self, why: str) -> str:
        """Return a sentence with the last errors of the logs."""
        errors = last_errors(self.run.path)
        detail = f' Last errors of its logs: {errors}' if errors else ''
        title = f'{self.run.robot}, {CONTROLS[self.run.control]}'
        return f'{title}: {why}{detail} Read the logs in {self.run.path}.'


def last_errors(folder: Path) -> str:
    """Return the last two lines of error in the logs of a run."""
    lines: list[str] = []
    for file in sorted(folder.glob('*.log')):
        text = file.read_text(encoding='utf-8', errors='replace').splitlines()
        lines += [line.strip() for line in text if ERROR.search(line)]
    return ' '.join(lines[-2:])

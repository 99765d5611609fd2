# SPDX-License-Identifier: Apache-2.0
"""
Processes that start and stop together, and end with their parent.

`python -m flexdyn_ros.demo.processes MODULE ...` runs a module until its standard input ends: then
nothing outlives a caller that was killed.
"""

from __future__ import annotations

from dataclasses import dataclass
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Mapping, Optional, Sequence

PATIENCE = 5.0  # for a clean stop after each signal, as in launch [s]
POLL = 0.02  # [s]


@dataclass
class Member:
    """
    One process of a group.

    Attributes:
        name: Its name in messages.
        process: The process.
        killed: Whether it had to be killed.
    """

    name: str
    process: subprocess.Popen[Any]
    killed: bool = False

    @property
    def code(self) -> Optional[int]:
        """Exit code, None while it runs."""
        return self.process.poll()


class ProcessGroup:
    """
    Processes that are stopped together: SIGINT, then SIGTERM, then SIGKILL.

    Each process gets a session of its own, so that Ctrl-C in a terminal reaches only the process
    that holds this group. That one then stops them in order.
    """

    def __init__(self, patience: float = PATIENCE):
        """
        Start empty.

        Args:
            patience: Time between two signals [s].
        """
        self.members: list[Member] = []
        self._patience = patience

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Optional[Mapping[str, str]] = None,
        output: Any = None,
        standard_input: Any = None,
    ) -> Member:
        """
        Start a process.

        Args:
            name: Its name in messages.
            command: Command line.
            environment: The whole environment; None inherits.
            output: File of its standard output and error; None inherits.
            standard_input: As for subprocess.Popen.
        """
        process = subprocess.Popen(
            list(command), env=environment, stdout=output, stdin=standard_input,
            stderr=None if output is None else subprocess.STDOUT, start_new_session=True,
        )
        member = Member(name, process)
        self.members.append(member)
        return member

    def ended(self) -> list[Member]:
        """Return the processes that have ended."""
        return [member for member in self.members if member.code is not None]

    def wait(self, until: Callable[[], bool]) -> None:
        """Return when all have ended, or when `until` returns True."""
        while len(self.ended()) < len(self.members) and not until():
            time.sleep(POLL)

    def stop(self) -> None:
        """Stop all, and return when none runs."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            for member in self.members:
                if member.code is None:
                    member.killed = number == signal.SIGKILL
                    member.process.send_signal(number)
            self._wait_patiently()
        for member in self.members:
            member.process.wait()

    def _wait_patiently(self) -> None:
        end = time.monotonic() + self._patience
        self.wait(lambda: time.monotonic() > end)

    def failures(self) -> list[str]:
        """Return a sentence for each process that did not end with code 0."""
        found = []
        for member in self.ended():
            if member.killed:
                found.append(f'{member.name} did not stop on a signal and was killed.')
            elif member.code:
                found.append(f'{member.name} ended with {_meaning(member.code)}.')
        return found


def _meaning(code: int) -> str:
    if code >= 0:
        return f'exit code {code}'
    try:
        return f'signal {signal.Signals(-code).name}'
    except ValueError:
        return f'signal {-code}'


def watched(module: str, *words: str) -> list[str]:
    """Return the command that runs a module until its standard input ends."""
    return [sys.executable, '-m', 'flexdyn_ros.demo.processes', module, *words]


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


def main() -> None:
    """Run the module that the command line names, as `python -m` does."""
    stop_with_standard_input()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)


if __name__ == '__main__':
    main()

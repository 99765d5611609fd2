# SPDX-License-Identifier: Apache-2.0
"""Groups of processes: they stop together, and name those that failed."""

import os
from pathlib import Path
import subprocess
import sys
import time

from flexdyn_ros.demo.processes import ProcessGroup
import pytest

STUBBORN = """
import signal, sys, time
for number in {numbers}:
    signal.signal(number, signal.SIG_IGN)
print('ready', flush=True)
time.sleep(60)
"""


@pytest.fixture
def group():
    """Return a group that is stopped after the test."""
    made = ProcessGroup(patience=1.0)
    yield made
    made.stop()


def start(group, code):
    member = group.start('child', [sys.executable, '-c', code], output=subprocess.PIPE)
    if 'ready' in code:
        assert member.process.stdout.readline() == b'ready\n'
    return member


def test_clean_ends_are_no_failures(group):
    start(group, 'pass')
    group.wait(lambda: False)
    assert group.failures() == []


def test_exit_codes_and_signals_are_told(group):
    start(group, 'raise SystemExit(3)')
    start(group, 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)')
    group.wait(lambda: False)
    assert group.failures() == [
        'child ended with exit code 3.', 'child ended with signal SIGKILL.']


@pytest.mark.parametrize('numbers, ending', [
    ('[signal.SIGINT]', 'ended with signal SIGTERM'),
    ('[signal.SIGINT, signal.SIGTERM]', 'did not stop on a signal and was killed'),
])
def test_stubborn_processes_are_stopped_all_the_same(group, numbers, ending):
    member = start(group, STUBBORN.format(numbers=numbers))
    group.stop()
    assert member.code is not None
    assert group.failures() == [f'child {ending}.']


def test_processes_are_out_of_the_reach_of_the_terminal(group):
    member = start(group, STUBBORN.format(numbers='[]'))
    assert os.getsid(member.process.pid) == member.process.pid


def test_a_launcher_ends_with_its_standard_input():
    code = (
        'from flexdyn_ros.demo.processes import stop_with_standard_input\n'
        'import time\nstop_with_standard_input()\n'
        'try:\n    print("ready", flush=True)\n    time.sleep(60)\n'
        'except KeyboardInterrupt:\n    print("stopped")\n'
    )
    environment = {**os.environ, 'PYTHONPATH': str(Path(__file__).resolve().parents[2])}
    process = subprocess.Popen(
        [sys.executable, '-c', code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout.readline() == b'ready\n'
    began = time.monotonic()
    process.stdin.close()
    assert process.stdout.readline() == b'stopped\n'
    assert process.wait(10) == 0
    assert time.monotonic() - began < 10

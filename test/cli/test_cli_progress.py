# SPDX-License-Identifier: Apache-2.0
"""On a terminal no subcommand is silent for long, and elsewhere none shows progress."""

import io
import os
import pty
import sys
import time

from flexdyn_ros.cli import main as command_line
from flexdyn_ros.progress import next_stage, ProgressBar
from flexdyn_ros.terminal import warn
import pytest

REQUIRED = {
    'plot': ['motion.npz'], 'inverse-dynamics': ['motion.csv'], 'identify': ['log.csv'],
    'replay': ['bag'], 'track-tip': ['--frame', 'tool'],
    'flex': ['--link', 'boom', '--tube', '1', '1'],
    'update-modes': ['--measured', 'bench.yaml', '-o', 'new.urdf'], 'reduce': ['-o', 'new.npz'],
    'sweep': ['study.yaml', '--over', 'payload.mass=1:2:3'], 'demo': [],
}
SUBCOMMANDS = sorted(command_line.build_parser()._subparsers._group_actions[0].choices)


class PseudoTerminal:
    """A terminal whose text can be awaited."""

    def __init__(self):
        """Open both ends."""
        self._leader, follower = pty.openpty()
        os.set_blocking(self._leader, False)
        self.stream, self._shown = open(follower, 'w', buffering=1), ''

    def shown(self):
        """Return all that has been shown."""
        try:
            self._shown += os.read(self._leader, 1 << 16).decode()
        except BlockingIOError:
            pass
        return self._shown

    def wait_for(self, text):
        """Return once the text has been shown."""
        end = time.monotonic() + 20.0
        while text not in self.shown():
            assert time.monotonic() < end, self._shown
            time.sleep(0.001)

    def close(self):
        """Close both ends."""
        self.stream.close()
        os.close(self._leader)


@pytest.fixture
def terminal(monkeypatch):
    """Return a pseudo-terminal where bars appear soon."""
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.setattr('flexdyn_ros.progress._QUIET_TIME', 0.01)
    found = PseudoTerminal()
    yield found
    found.close()


def run_instead(run, command, monkeypatch, stream):
    """Let a subcommand run something else, with stdout and stderr there; return its exit code."""
    for name in ('stdout', 'stderr'):
        monkeypatch.setattr(sys, name, stream)
    parser = command_line.build_parser()
    parser._subparsers._group_actions[0].choices[command].set_defaults(run=run)
    monkeypatch.setattr(command_line, 'build_parser', lambda: parser)
    needs_robot = command not in ('reduce', 'sweep', 'demo')
    return command_line.main([command, *['arm.urdf'] * needs_robot, *REQUIRED.get(command, [])])


@pytest.mark.parametrize('command', SUBCOMMANDS)
def test_a_slow_subcommand_shows_its_stages(command, terminal, monkeypatch):
    """Those before, between and after its own bars, until it prints."""
    def slow(call):
        terminal.wait_for('\rreading [')
        with ProgressBar(label='integrating') as bar:
            bar.update(0.5)
            terminal.wait_for('\rintegrating [###############---------------]  50 % ')
        while '\rshort [' not in terminal.shown():  # none of them lasts as long as a bar waits
            with ProgressBar(label='short'):
                time.sleep(0.002)
        next_stage('drawing')
        terminal.wait_for('\rdrawing [------------------------------]   0 %     ? s left')
        warn('doubtful')
        terminal.wait_for('doubtful\r\n\rdrawing [')
        print('first')
        time.sleep(0.05)
        print('second')
        return 0

    assert run_instead(slow, command, monkeypatch, terminal.stream) == 0
    terminal.wait_for('second\r\n')
    lines = terminal.shown().split('\n')
    printed = [line.rstrip('\r').rpartition('\r')[2] for line in lines[-3:]]
    assert printed == ['first', 'second', '']
    assert '\r' + ' ' * 20 in lines[-3]  # the bar is cleared
    assert sys.stdout is sys.stderr is terminal.stream


def test_an_error_stands_in_a_line_of_its_own(terminal, monkeypatch):
    def slow(call):
        terminal.wait_for('\rreading [')
        raise OSError(2, 'No such file', 'arm.urdf')

    assert run_instead(slow, 'info', monkeypatch, terminal.stream) == 2
    terminal.wait_for('No such file')
    assert terminal.shown().rstrip().rpartition('\r')[2].endswith('arm.urdf: No such file.')


def test_progress_elsewhere_is_not_shown(monkeypatch):
    """Where stderr is no terminal, streams are those of the caller."""
    monkeypatch.setattr('flexdyn_ros.progress._QUIET_TIME', 1e-3)
    file = io.StringIO()

    def slow(call):
        time.sleep(0.05)
        assert sys.stdout is sys.stderr is file
        return 0

    assert run_instead(slow, 'info', monkeypatch, file) == 0
    assert file.getvalue() == ''


def test_a_bar_fits_into_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv('COLUMNS', '40')
    stream = io.StringIO()
    for label in ('short', 'a label that is longer than the terminal is wide'):
        bar = ProgressBar(True, stream, label, stays=False)
        with bar:
            bar._draw()
    assert all(len(line) < 40 for line in stream.getvalue().split('\r'))
    assert 'a label that' in stream.getvalue() and 'short [-------' in stream.getvalue()

# SPDX-License-Identifier: Apache-2.0
"""The command line as a whole: help, version, exit codes, errors, colours."""

import argparse
import os
from pathlib import Path
import pty
import re
import signal
import subprocess
import sys
import time

from command import flexdyn, flexdyn_afresh, flexdyn_many, surroundings
from flexdyn_ros.cli.main import build_parser
import pytest

UNIT = re.compile(r'(1|SI|s|Hz|m|rad|kg|N|N m|N/m|rad/s|m/s|m/s\^2|Pa|kg/m\^3)( \| [\w /]+)*')
NUMERIC = {
    'modes': 2, 'flex': 5, 'reduce': 11, 'simulate': 9, 'identify': 2, 'excite': 7, 'replay': 1,
    'track-tip': 6, 'update-modes': 3,
}
COMMANDS = (
    'check', 'info', 'modes', 'flex', 'reduce', 'simulate', 'inverse-dynamics', 'generate',
    'count', 'identify', 'excite', 'replay', 'track-tip', 'update-modes', 'convert',
)


def subparser(command):
    """Return the parser of one subcommand."""
    for action in build_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices[command]
    raise AssertionError('no subcommands')


def options(command):
    """Return the options of a subcommand with the paragraph that --help prints for each."""
    parser = subparser(command)
    text = parser.format_help()
    for action in parser._actions:
        if action.option_strings:
            start = text.index(f'\n  {action.option_strings[0]}') + 1
            following = re.search(r'\n(  -|\n)', text[start:])
            yield action, text[start:start + following.start()]


@pytest.mark.parametrize('command', COMMANDS)
def test_help_gives_every_option_a_meaning_and_numbers_a_unit(command):
    """Numeric options and name=value pairs carry their unit in brackets; each has an example."""
    numeric = 0
    for action, paragraph in options(command):
        assert action.help, action.option_strings
        real = action.type not in (None, int, Path) and not action.choices
        if real or 'VALUE' in (action.metavar or ''):
            numeric += 1
            units = re.findall(r'\[([^\]]+)\]', ' '.join(paragraph.split()))
            assert any(UNIT.fullmatch(unit) for unit in units), paragraph
    assert numeric == NUMERIC.get(command, 0)
    text = subparser(command).format_help()
    assert 'example' in text
    assert f'flexdyn {command} ' in text
    assert 'exit codes' in text


def test_help_lists_all_commands(folder):
    """The top help names each subcommand and the exit codes."""
    run = flexdyn('--help', cwd=folder)
    assert run.returncode == 0
    for command in (*COMMANDS, 'flex', 'reduce', 'demo'):
        assert re.search(rf'^    {command}\s', run.stdout, re.MULTILINE)
    assert 'NO_COLOR' in run.stdout
    for command in COMMANDS:
        assert flexdyn(command, '--help', cwd=folder).returncode == 0


def test_version_is_that_of_the_package(folder):
    """One line on stdout."""
    import flexdyn_ros

    run = flexdyn('--version', cwd=folder)
    assert (run.returncode, run.stdout) == (0, f'flexdyn {flexdyn_ros.__version__}\n')


# Words, exit code and sentence: 1 for the model, 2 for the call.
WRONG = [
    ([], 2, 'COMMAND'),
    (['fly', 'arm.urdf'], 2, "invalid choice: 'fly'"),
    (['info'], 2, 'required: URDF'),
    (['info', 'nowhere.urdf'], 2, '"URDF" names a file, "nowhere.urdf"'),
    (['info', 'arm.urdf', '--fast'], 2, '--fast'),
    (['info', 'arm.urdf', '--extension', 'none.xml'], 2, '"--extension" names a file'),
    (['info', 'broken.urdf'], 1, 'broken.urdf'),
    (['modes', 'arm.urdf', '--at', 'elbow'], 2, '"--at" needs name=value, not "elbow"'),
    (['modes', 'arm.urdf', '--at', 'elbo=1'], 2, 'Did you mean "elbow"?'),
    (['modes', 'arm.urdf', '--at', 'elbow=x'], 2, 'value "x"'),
    (['modes', 'arm.urdf', '--at', 'elbow=nan'], 2, 'value "nan"'),
    (['modes', 'arm.urdf', '--at', 'elbow=1', 'elbow=2'], 2, 'gives "elbow" twice'),
    (['modes', '--at', 'elbow=1', 'arm.urdf'], 2, 'before the options'),
    (['simulate', 'arm.urdf', '--dt', '-1'], 2, 'not positive'),
    (['simulate', 'arm.urdf', '--dt', 'soon'], 2, 'soon'),
    (['simulate', 'arm.urdf', '--t-end', 'inf'], 2, 'inf'),
    (['simulate', 'arm.urdf', '--method', 'euler'], 2, 'euler'),
    (['simulate', 'arm.urdf', '--out', 'arm.urdf/x'], 2, 'arm.urdf/x cannot be written'),
    (['generate', 'arm.urdf', '--function', 'inverse'], 2, 'Did you mean'),
    (['generate', 'arm.urdf', '--argument', 'gravty'], 2, '"--argument" names "gravty"'),
    (['generate', 'arm.urdf', '-o', 'arm.urdf/x'], 2, 'arm.urdf'),
    (['generate', 'nowhere.urdf'], 2, 'nowhere.urdf'),
    (['generate', 'arm.urdf', '--language', 'cobol'], 2, 'cobol'),
    (['count', 'arm.urdf', '--function', 'jacobian:hand'], 2, 'No frame is called "hand"'),
]


@pytest.fixture(scope='module')
def answers(folder):
    """Return exit code, stdout and stderr of all wrong calls."""
    (folder / 'broken.urdf').write_text('<robot name="x"><link name="a"></robot>')
    return flexdyn_many([words for words, *_ in WRONG], folder)


@pytest.mark.parametrize('k', range(len(WRONG)), ids=[' '.join(words) for words, *_ in WRONG])
def test_errors_are_a_sentence_on_stderr_with_the_exit_code(answers, k):
    """No traceback, nothing on stdout."""
    _, expected, message = WRONG[k]
    code, out, err = answers[k]
    assert code == expected, err
    assert message in err
    assert out == ''
    assert 'Traceback' not in err
    assert err.startswith('error: ')
    assert err.count('\n') == 1


@pytest.mark.parametrize('k', range(0, len(WRONG), 6))
def test_a_fresh_interpreter_says_the_same(folder, answers, k):
    run = flexdyn_afresh(*WRONG[k][0], cwd=folder)
    assert [run.returncode, run.stdout, run.stderr] == answers[k]


def test_debug_shows_where_an_error_arose(folder):
    """The traceback comes before the sentence."""
    run = flexdyn('info', 'nowhere.urdf', '--debug', cwd=folder)
    assert run.returncode == 2
    assert run.stderr.startswith('Traceback')
    assert 'error: Argument "URDF"' in run.stderr


def test_an_unexpected_exception_is_called_a_bug(folder):
    """Neither a traceback nor a claim that the model is wrong."""
    code = (
        'import sys, flexdyn_ros.cli.info as info\n'
        'def fail(call): raise RuntimeError("surprise")\n'
        'info.load = fail\n'
        'from flexdyn_ros.cli.main import main\n'
        'sys.exit(main(sys.argv[1:]))\n'
    )
    runs = [
        subprocess.run([sys.executable, '-c', code, 'info', 'arm.urdf', *more], cwd=folder,
                       env=surroundings(), capture_output=True, text=True)
        for more in ([], ['--debug'])
    ]
    assert [run.returncode for run in runs] == [1, 1]
    assert 'bug in flexdyn: RuntimeError: surprise' in runs[0].stderr
    assert 'Traceback' not in runs[0].stderr
    assert 'Traceback' in runs[1].stderr


def test_a_missing_package_is_no_bug(folder):
    """As under a Python without the environment of this package."""
    code = (
        'import sys; sys.modules["urdf_parser_py"] = None\n'
        'from flexdyn_ros.cli.main import main\n'
        'sys.exit(main(sys.argv[1:]))\n'
    )
    run = subprocess.run([sys.executable, '-c', code, 'info', 'arm.urdf'], cwd=folder,
                         env=surroundings(), capture_output=True, text=True)
    assert run.returncode == 2
    assert f'{sys.executable} has no Python package "urdf_parser_py". Activate' in run.stderr
    assert run.stderr.count('\n') == 1


def test_description_may_come_on_stdin(folder):
    """A dash reads the text, as a pipe from xacro gives it."""
    text = (folder / 'arm.urdf').read_text()
    run = flexdyn('info', '-', cwd=folder, stdin=text)
    assert run.returncode == 0, run.stderr
    assert 'arm' in run.stdout
    empty = flexdyn('info', '-', cwd=folder, stdin='')
    assert empty.returncode == 2
    assert 'stdin holds no XML' in empty.stderr


def on_terminal(words, cwd, **environment):
    """Run with stdout and stderr on a pseudo-terminal; return the output."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, '-m', 'flexdyn_ros', *words], cwd=cwd, env=surroundings(**environment),
        stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
    )
    os.close(follower)
    shown = b''
    while True:
        try:
            block = os.read(leader, 4096)
        except OSError:  # Linux reports the other end's closing so
            break
        if not block:
            break
        shown += block
    os.close(leader)
    process.wait(timeout=60)
    return shown.decode()


def test_colours_are_for_terminals_without_no_color(folder):
    """Escapes on a terminal; none with NO_COLOR, on a dumb terminal, or in a pipe."""
    assert '\x1b[' in on_terminal(['info', 'arm.urdf'], folder)
    assert '\x1b[31m' in on_terminal(['info', 'nowhere.urdf'], folder)
    assert '\x1b' not in on_terminal(['info', 'arm.urdf'], folder, NO_COLOR='1')
    assert '\x1b' not in on_terminal(['info', 'nowhere.urdf'], folder, NO_COLOR='1')
    assert '\x1b' not in on_terminal(['info', 'arm.urdf'], folder, TERM='dumb')
    assert '\x1b' not in flexdyn('info', 'arm.urdf', cwd=folder).stdout


def test_a_closed_pipe_is_quiet(folder):
    """`flexdyn info | head -0` shows no error."""
    run = subprocess.run(
        f'{sys.executable} -m flexdyn_ros info arm.urdf; echo "code $?" >&2', shell=True,
        cwd=folder, env=surroundings(), stdout=_closed_pipe(), stderr=subprocess.PIPE, text=True,
    )
    assert run.stderr == 'code 141\n'


def _closed_pipe():
    """Return the writing end of a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def test_interrupt_stops_with_130(folder):
    """Ctrl-C on a long run ends it without a trace; a warning may name the files of the motion."""
    process = subprocess.Popen(
        [sys.executable, '-m', 'flexdyn_ros', 'simulate', 'arm.urdf', '--t-end', '10000', '--out',
         'interrupted'],
        cwd=folder, env=surroundings(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    deadline = time.monotonic() + 60
    while not (folder / 'interrupted').is_dir() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors.endswith('error: Interrupted.\n')
    assert all(line.startswith(('error: ', 'warning: ')) for line in errors.splitlines())


@pytest.mark.parametrize(('words', 'code', 'absent'), [
    (['--help'], 0, {'numpy'}),
    (['--version'], 0, {'numpy'}),
    (['check', 'broken.urdf'], 1, set()),
    (['check', 'arm.urdf', '--extension', 'flexible.xml'], 0, set()),
])
def test_start_up_imports_neither_scipy_nor_matplotlib(folder, words, code, absent):
    """Help, version and check stay quick."""
    program = (
        'import sys\n'
        'from flexdyn_ros.cli.main import main\n'
        'try:\n'
        '    code = main(sys.argv[1:])\n'
        'except SystemExit as stop:\n'
        '    code = stop.code\n'
        f'heavy = {sorted({"scipy", "matplotlib", "rclpy", *absent})}\n'
        'print([name for name in heavy if name in sys.modules], file=sys.stderr)\n'
        'sys.exit(code)\n'
    )
    (folder / 'broken.urdf').write_text('<robot name="x"><link name="a"></robot>')
    run = subprocess.run([sys.executable, '-c', program, *words], cwd=folder, env=surroundings(),
                         capture_output=True, text=True)
    assert run.returncode == code, run.stderr
    assert run.stderr.splitlines()[-1] == '[]'

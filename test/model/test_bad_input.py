# SPDX-License-Identifier: Apache-2.0
"""
Wrong descriptions, one small file each, and the error that each must give.

The table data/bad/table.csv names the check, the file, the element and name of the error, a
word of its message and the exit code of `flexdyn check`. An .xml file is an extension of
data/arm.urdf. Every row is tried in this process and by the command line in one of its own.
"""

import csv
import json
import os
from pathlib import Path
import subprocess
import sys

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.model.load import load_robot
from model_texts import ARM, DATA
import pytest

BAD = DATA / 'bad'
ROOT = Path(__file__).resolve().parents[2]

with open(BAD / 'table.csv', newline='', encoding='ascii') as table:
    ROWS = list(csv.DictReader(table))
each_row = pytest.mark.parametrize('row', ROWS, ids=[row['file'] for row in ROWS])


def _is_extension(row):
    return row['file'].endswith('.xml')


def test_table_is_large_and_complete():
    assert len(ROWS) >= 100
    assert len({row['check'] for row in ROWS}) >= 40
    files = {row['file'] for row in ROWS if row['check'] != 'missing file'}
    assert files == {path.name for path in BAD.iterdir()} - {'table.csv'}
    assert len({row['file'] for row in ROWS}) == len(ROWS)


def test_the_arm_that_is_extended_is_right():
    assert load_robot(ARM, strict=True).n_joints == 8


@each_row
def test_error_in_process(row, capfd):
    path = BAD / row['file']
    with pytest.raises(FlexdynError) as caught:
        if _is_extension(row):
            load_robot(ARM, extension=path, strict=True)
        else:
            load_robot(path, strict=True)
    error = caught.value
    assert row['word'] in str(error)
    assert str(error).endswith(('.', '?'))
    assert capfd.readouterr() == ('', '')
    if row['exit'] == '2':
        assert isinstance(error, ArgumentError)
        return
    assert (error.element or '') == row['element']
    if row['name'] or row['element'] in ('', 'robot'):
        assert (error.name or '') == row['name']
    assert error.file in (str(path), str(ARM))


def _words(row):
    extension = [str(ARM), '--extension'] if _is_extension(row) else []
    return ['check', *extension, row['file']]


def _run(command, **options):
    return subprocess.run(
        [sys.executable, *command], cwd=BAD, capture_output=True, text=True, timeout=300,
        check=False, env={**os.environ, 'PYTHONPATH': str(ROOT), 'NO_COLOR': '1'}, **options,
    )


@pytest.fixture(scope='module')
def answers():
    """Exit code, stdout and stderr of `flexdyn check` for each file."""
    server = str(Path(__file__).parents[1] / 'run_commands.py')
    done = _run([server], input=json.dumps([_words(row) for row in ROWS]))
    assert done.returncode == 0, done.stderr
    return {row['file']: answer
            for row, answer in zip(ROWS, json.loads(done.stdout), strict=True)}


def _check_answer(row, code, out, err):
    text = out + err
    assert code == int(row['exit']), text
    assert row['word'] in text
    assert f'<{row["element"]}>' in text or not row['element']
    assert f'"{row["name"]}"' in text or not row['name']
    assert 'Traceback' not in text
    assert 'bug in flexdyn' not in text
    if out == '':
        assert len(err.strip().splitlines()) == 1


@each_row
def test_error_in_a_process_of_its_own(row, answers):
    _check_answer(row, *answers[row['file']])


@pytest.mark.parametrize('row', ROWS[::20], ids=[row['file'] for row in ROWS[::20]])
def test_error_from_a_fresh_interpreter(row, answers):
    done = _run(['-m', 'flexdyn_ros', *_words(row)])
    _check_answer(row, done.returncode, done.stdout, done.stderr)
    assert [done.returncode, done.stdout, done.stderr] == answers[row['file']]

# SPDX-License-Identifier: Apache-2.0
"""
Wrong descriptions, one small file each, and the error that each must give.

The table data/bad/table.csv names the check, the file, and the element and name of the error. Then
come a word of its message and the exit code of `flexdyn check`. An .xml file is an extension of
data/arm.urdf. Every row is tried in this process, and by the command line in one of its own: every
fifth in the default run.
"""

import csv
import os
from pathlib import Path
import subprocess
import sys

from flexdyn_ros.errors import ArgumentError, FlexdynError
from flexdyn_ros.model.load import load_robot
from fork_server import COMMANDS, run_forked
from model_texts import ARM, DATA
import pytest
from thinned import thinned

BAD = DATA / 'bad'
ROOT = Path(__file__).resolve().parents[2]

with open(BAD / 'table.csv', newline='', encoding='ascii') as table:
    ROWS = list(csv.DictReader(table))
FILES = [row['file'] for row in ROWS]
each_row = pytest.mark.parametrize('row', ROWS, ids=FILES)


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


def _environment():
    return {**os.environ, 'PYTHONPATH': str(ROOT), 'NO_COLOR': '1'}


def _forked(row):
    return run_forked(COMMANDS, ['flexdyn_ros', *_words(row)], BAD, _environment())


def _check_answer(row, done):
    out, err = done.stdout, done.stderr
    text = out + err
    assert done.returncode == int(row['exit']), text
    assert row['word'] in text
    assert f'<{row["element"]}>' in text or not row['element']
    assert f'"{row["name"]}"' in text or not row['name']
    assert 'Traceback' not in text
    assert 'bug in flexdyn' not in text
    if out == '':
        assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize('row', thinned(ROWS, lambda row: ROWS.index(row) % 5 == 0), ids=FILES)
def test_error_in_a_process_of_its_own(row):
    _check_answer(row, _forked(row))


@pytest.mark.parametrize('row', ROWS[::40], ids=FILES[::40])
def test_error_from_a_fresh_interpreter(row):
    done = subprocess.run(
        [sys.executable, '-m', 'flexdyn_ros', *_words(row)], cwd=BAD, capture_output=True,
        text=True, timeout=300, env=_environment(),
    )
    _check_answer(row, done)
    forked = _forked(row)
    assert (done.stdout, done.stderr) == (forked.stdout, forked.stderr)

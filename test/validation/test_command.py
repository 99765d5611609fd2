# SPDX-License-Identifier: Apache-2.0
"""`python -m validation`."""

import json
import os

from fork_server import COMMANDS, ROOT, run_forked

MODULES = (*COMMANDS, 'validation.registry')


def validation(*words, cwd):
    """Run the command with words in a folder; return the completed process."""
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    return run_forked(MODULES, ['validation', *words], cwd, environment)


def test_a_case_by_name(tmp_path):
    done = validation('er_case1', '--out', 'pictures', cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'static deflection of the tip' in done.stdout
    assert '0.01637' in done.stdout
    assert (tmp_path / 'pictures' / 'er_case1.png').stat().st_size > 10_000


def test_json(tmp_path):
    done = validation('er_case2', '--json', cwd=tmp_path)
    record, = json.loads(done.stdout)
    assert record['name'] == 'er_case2' and not record['failed']
    assert {row['verdict'] for row in record['rows']} <= {'met', 'explained'}


def test_list(tmp_path):
    done = validation('--list', cwd=tmp_path)
    assert done.returncode == 0
    assert 'er_case1' in done.stdout and 'El-Rayyes' in done.stdout
    records = json.loads(validation('--list', '--json', cwd=tmp_path).stdout)
    assert {'er_case1', 'er_case2'} <= {record['name'] for record in records}


def test_wrong_calls(tmp_path):
    for words, problem in (
        (('vm_hsml',), 'Did you mean "vm_hslm"?'), ((), '--list'),
        (('er_case1', '--quick'), '--list'), (('er_case1', '--page', 'x.md'), '--all'),
        (('er_case1', '--jobs', '0'), '--jobs'),
    ):
        done = validation(*words, cwd=tmp_path)
        assert done.returncode == 2, words
        assert problem in done.stderr


def test_step_size_study(tmp_path):
    """RK4 is four times as costly with a quarter of the step; wrong starts are refused."""
    words = ['validation.martins_machado', '--duration', '0.02', '--methods', 'rk4', '--steps',
             '4e-4', '1e-4']
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    done = run_forked(MODULES, [*words, '--json'], tmp_path, environment)
    coarse, fine = json.loads(done.stdout)
    assert fine['evaluations'] == 4.0 * coarse['evaluations']
    assert fine['error'] < coarse['error'] < 1e-4
    wrong = run_forked(MODULES, [*words, '--q0', '1'], tmp_path, environment)
    assert wrong.returncode == 2 and '--q0' in wrong.stderr

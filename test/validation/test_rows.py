# SPDX-License-Identifier: Apache-2.0
"""Verdicts of rows, their words, and the page."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
from validation import __main__ as command, run
from validation.case import Case, NotRun, Row, Source, Verdict
from validation.page import page
from validation.registry import cases
from validation.run import Outcome, run_case, run_cases
from validation.words import difference_text, expected_text, ours_text

SOURCE = Source('el_rayyes', 'Someone, 1990', 'table 1')


def row(ours, expected=2.0, **others):
    """Return a row."""
    kind = 'bound' if 'relation' in others else 'printed'
    return Row('length', expected, ours, 'm', **{'kind': kind, **others})


@pytest.mark.parametrize('found, difference, verdict', [
    (row(2.05, tolerance=0.1), 0.05, 'met'),
    (row(1.85, tolerance=0.1), 0.15, 'missed'),
    (row(2.05, tolerance=0.1, relative=True), 0.025, 'met'),
    (row(3.0, relation='at most'), 1.0, 'missed'),
    (row(1.0, relation='at most'), -1.0, 'met'),
    (row(1.0, relation='at least'), 1.0, 'missed'),
    (row(np.nan, tolerance=0.1), np.inf, 'missed'),
    (row(np.array([1.0, 4.0]), np.array([1.0, 2.0])), 2.0, 'missed'),
    (row(np.array([1.0, 4.0]), np.array([1.0, 5.0]), relative=True, tolerance=0.3), 0.2, 'met'),
    # Of each entry, not of the largest; an expected zero leaves no room.
    (row(np.array([2.0, 9.0]), np.array([1.0, 9.0]), relative=True, tolerance=0.3), 1.0, 'missed'),
    (row(np.array([1e-9, 9.0]), np.array([0.0, 9.0]), relative=True, tolerance=0.3), np.inf,
     'missed'),
    (row(np.array([2.0, 9.0]), np.array([1.0, 9.0]), of_largest='noise', tolerance=0.3), 1 / 9,
     'met'),
    (row(3.0, expected_miss='a misprint', instead=3.0), 1.0, 'explained'),
    (row(2.0, expected_miss='a misprint', instead=2.0), 0.0, 'missed'),
    # It misses, but not where the explanation puts it.
    (row(3.1, expected_miss='a misprint', instead=3.0), 1.1, 'missed'),
    (row(Verdict(True, 'x'), 'it falls'), None, 'met'),
    (row(Verdict(False, 'x'), 'it falls'), None, 'missed'),
    (row(1e-9, expected_miss='rounding', instead=0.0, instead_within=1e-8), 2.0, 'explained'),
    (row(1e-7, expected_miss='rounding', instead=0.0, instead_within=1e-8), 2.0, 'missed'),
    (row(NotRun('exudyn (pip install exudyn)')), None, 'not run'),
])
def test_verdicts(found, difference, verdict):
    assert found.verdict == verdict
    assert found.difference == (None if difference is None else pytest.approx(difference))


def test_words():
    assert expected_text(row(1.0, relation='at most')) == 'at most 2 m'
    assert expected_text(row(1.0, shown='2.0')) == '2.0 m'
    assert ours_text(row(np.array([1.25, 3.0]), np.ones(2))) == '1.25, 3 m'
    assert ours_text(row(np.eye(4), np.eye(4))) == '4 x 4 matrix, largest 1 m'
    assert difference_text(row(2.05, tolerance=0.1)) == '5.0e-02, allowed 1.0e-01'


def test_no_numbers_are_no_row():
    with pytest.raises(ValueError, match='no number to compare'):
        row(np.zeros(0), np.zeros(0))


@pytest.mark.parametrize('wrong', [
    {'kind': 'told'}, {'relation': 'below'}, {'kind': 'printed', 'relation': 'at most'},
    {'expected_miss': 'a misprint'}, {'instead': 3.0}, {'relation': 'at most', 'tolerance': 0.1},
    {'expected': 'it falls', 'ours': Verdict(False, 'x'), 'expected_miss': 'it does not'},
])
def test_unknown_words_are_errors(wrong):
    with pytest.raises(ValueError):
        row(**{'ours': 1.0, **wrong})


def case(run, **others):
    """Return a case."""
    return Case('er_case1', 'A beam', SOURCE, run, **others)


def test_a_case_that_breaks_or_has_no_row_fails():
    assert not run_case(case(lambda progress: [row(2.0)])).failed
    assert run_case(case(lambda progress: [row(1.0)])).failed
    empty = run_case(case(lambda progress: []))
    assert empty.failed and 'gave no row' in empty.error
    broken = run_case(case(lambda progress: 1 / 0))
    assert broken.failed and 'ZeroDivisionError' in broken.error


def test_what_is_not_installed_is_reported():
    outcome = run_case(case(lambda progress: [row(2.0)], needs=('no_such_module',)))
    assert not outcome.failed
    assert outcome.verdicts['not run'] == 1
    assert 'pip install no_such_module' in outcome.rows[0].ours.needs


def test_side_by_side_as_one_after_another():
    """In processes of their own; each reports the fraction done."""
    chosen = [cases()[name] for name in ('er_puma_gravity', 'vm_rotation_matrix')]
    seen = set()
    outcomes = {
        outcome.name: outcome for outcome in run_cases(chosen, None, 2, seen.update)
    }
    assert set(outcomes) == {'er_puma_gravity', 'vm_rotation_matrix'}
    assert not any(outcome.failed for outcome in outcomes.values())
    assert seen <= set(outcomes)


def test_a_process_that_dies_is_a_case_that_breaks(monkeypatch):
    """The others still have their outcome, and so has the page."""
    failed = Future()
    failed.set_exception(BrokenProcessPool('a process died'))
    outcome = run._outcome(failed, 'er_case1')
    assert outcome.failed and 'a process died' in outcome.error


def test_the_command_writes_the_page(tmp_path, monkeypatch, capsys):
    """All cases that there are, pictures in a folder beside it."""
    few = {name: cases()[name] for name in ('er_stanford_constants', 'four_bar_torque')}
    monkeypatch.setattr(command, 'cases', lambda: few)
    file = tmp_path / 'validation.md'
    assert command.main(['--all', '--page', str(file)]) == 0
    text = file.read_text()
    assert '`er_stanford_constants`' in text
    assert '(validation/four_bar_torque.png)' in text
    assert (tmp_path / 'validation' / 'four_bar_torque.png').exists()
    assert 'er_stanford_constants' in capsys.readouterr().out


def test_page(tmp_path):
    """Every row has a line with its name; misses stand out; reasons are notes."""
    explained = row(3.0, expected_miss='A misprint.', instead=3.0)
    rows = (row(2.0), row(1.0), explained, row(NotRun('x (y)')))
    text = page([Outcome('er_case1', rows)], [case(None)], 'validation')
    assert '| equal to the printed value | 4 | 1 | 1 | 1 | 1 |' in text
    assert text.count('`er_case1`') == 5  # once more among the explained deviations
    assert '**missed**' in text
    assert 'explained (1)' in text and '1. A misprint.' in text
    assert 'not run: needs x (y)' in text
    assert 'Cases that miss or fail: er_case1.' in text
    fine = page([Outcome('er_case1', rows[:1])], [case(None)], 'validation')
    assert 'All 1 cases meet their source' in fine

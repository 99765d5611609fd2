# SPDX-License-Identifier: Apache-2.0
"""The file of cases and the code that computes them agree."""

from flexdyn_ros.errors import UnknownName
import numpy as np
import pytest
from validation import case_file
from validation.case_file import case_names, make_rows
from validation.registry import cases, chosen, MODULES

FILE = """
publication: Someone, 1990
rests_on: A table
cases:
  a:
    title: First
    place: table 1
    rows:
      length: {quantity: length, unit: m, expected: [1.0, 2.0], absolute: 0.1}
      word: {quantity: word, expected: it falls, kind: qualitative}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Let the file of cases be in an empty folder; return it."""
    monkeypatch.setattr(case_file, 'FOLDER', tmp_path)
    case_file.sources.cache_clear()
    yield tmp_path
    case_file.sources.cache_clear()


def test_every_case_has_code_and_every_code_a_case():
    """`cases` lists those without; there are cases, and modules stand once in the list."""
    assert set(cases()) == set(case_names())
    assert len(cases()) >= 2
    assert len(set(MODULES)) == len(MODULES)


def test_code_without_a_case_is_an_error(folder):
    (folder / 'x.yaml').write_text(FILE)
    cases.cache_clear()
    with pytest.raises(ValueError, match=r"without code: \['a'\]; code of no case"):
        cases()
    cases.cache_clear()


def test_results_and_rows_belong_together(folder):
    (folder / 'x.yaml').write_text(FILE)
    with pytest.raises(ValueError, match=r"without a result \['word'\]"):
        make_rows('a', {'length': [1, 2]})
    with pytest.raises(ValueError, match=r"without a row \['other'\]"):
        make_rows('a', {'length': [1, 2], 'word': True, 'other': 1})
    with pytest.raises(ValueError, match='a statement and a Verdict'):
        make_rows('a', {'length': [1, 2], 'word': 1.0})
    with pytest.raises(ValueError, match=r'ours=\(3,\) but expected=\(2,\)'):
        make_rows('a', {'length': np.ones(3), 'word': case_file.Verdict(True, '')})


@pytest.mark.parametrize('change, problem', [
    (('absolute', 'tolerance'), 'unknown'), (('title: First', 'name: First'), 'missing'),
    (('absolute: 0.1', 'absolute: 0.1, relative: 0.1'), 'two tolerances'),
    (('absolute: 0.1', 'of_largest: 0.1'), 'needs a reason'),
    (('place: table 1', 'place: table 1\n    cost: high'), 'cost'),
    (('      word', '      length'), 'given twice'),
])
def test_mistakes_in_the_file_are_named(folder, change, problem):
    (folder / 'x.yaml').write_text(FILE.replace(*change))
    with pytest.raises(Exception, match=problem):
        case_file.sources()


def test_one_name_in_two_files_is_an_error(folder):
    for name in 'xy':
        (folder / f'{name}.yaml').write_text(FILE)
    with pytest.raises(ValueError, match='y.yaml: a stands in x.yaml already'):
        case_file.sources()


def test_unknown_names_suggest_known_ones():
    with pytest.raises(UnknownName, match='vm_hslm'):
        chosen(['vm_hsml'])
    assert [case.name for case in chosen(['er_case2', 'er_case1', 'er_case2'])] == [
        'er_case2', 'er_case1']

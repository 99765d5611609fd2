# SPDX-License-Identifier: Apache-2.0
"""The scripts that count lines and that apply seeded faults."""

import importlib.util
import re
import shutil
import subprocess

from clean_environment import ROOT
import pytest


def script(name):
    """Return a script as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / 'scripts' / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COUNTED = '''
# A comment.
"""A docstring
of two lines."""

import os  # counted


def f(a,
      b):
    """Return nothing."""
    return """a text
in two lines"""


N = 3
"""The docstring of a number."""
'''


def test_blank_lines_comments_and_docstrings_are_no_code():
    count = script('count_lines')
    assert count.python_lines(COUNTED) == 6  # import, def in two lines, return in two, N
    assert count.c_lines('/* a\n b */\nint x; // y\n\n  // z\nint w;\n') == 2


def test_what_is_not_installed_is_not_counted():
    folders = script('count_lines').counts()
    assert folders['flexdyn_ros/dynamics'] > 1000
    assert not any(name.startswith(('validation', 'benchmarks', 'test')) for name in folders)


def test_every_seeded_fault_still_applies():
    """The list is checked against the files as it is read; `make test-faults` applies it."""
    faults = script('seeded_faults')
    listed = faults.read_faults()
    assert len(listed) >= faults.FEWEST
    assert len(set(listed)) == len(listed)


def test_a_fault_whose_text_is_gone_is_named(monkeypatch, tmp_path):
    faults = script('seeded_faults')
    entry = "- [flexdyn_ros/errors.py, 'no such text', 'x', test/test_public_names.py]\n"
    (tmp_path / 'faults.yaml').write_text(entry)
    monkeypatch.setattr(faults, 'LIST', tmp_path / 'faults.yaml')
    with pytest.raises(SystemExit, match="errors.py: 'no such text' occurs 0 times"):
        faults.read_faults()


@pytest.mark.skipif(shutil.which('make') is None, reason='make is not installed')
def test_make_help_lists_every_target_with_a_text():
    text = (ROOT / 'Makefile').read_text(encoding='utf-8')
    targets = re.findall(r'^([\w-]+):.* ## ', text, re.MULTILINE)
    done = subprocess.run(
        ['make', '--no-print-directory', 'help'], cwd=ROOT, capture_output=True, text=True,
        check=True)
    assert len(targets) > 20
    assert re.findall(r'^  make ([\w-]+) ', done.stdout, re.MULTILINE) == targets

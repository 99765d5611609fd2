# SPDX-License-Identifier: Apache-2.0
"""
Apply the seeded faults of test/faults/faults.yaml one by one; each must fail its tests.

A fault is one line of that file: the file, a text that occurs once in it, and its replacement. The
line ends with the test file (or test) that must fail without the tests marked slow. Faults are
applied to copies of the repository. The exit code is 1 where a fault survives, where its text is
missing, or where its tests cannot run.
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / 'test' / 'faults' / 'faults.yaml'
NOT_COPIED = ('.git', '.venv*', '.*_cache', 'build', 'install', 'log', '__pycache__', '*.egg-info')
FEWEST = 30
TIME_LIMIT = 900.0  # for the tests of one fault [s]
FAILED = 1  # exit code of pytest where tests ran and failed


class Fault(NamedTuple):
    """One line of the list."""

    file: str
    text: str
    replacement: str
    test: str


def read_faults() -> list[Fault]:
    """Return the list; each entry is checked against the files."""
    faults = [Fault(*entry) for entry in yaml.safe_load(LIST.read_text(encoding='utf-8'))]
    wrong = []
    for fault in faults:
        path = ROOT / fault.file
        found = path.read_text(encoding='utf-8').count(fault.text) if path.is_file() else 0
        if found != 1:
            wrong.append(f'{fault.file}: {fault.text!r} occurs {found} times, not once')
        if not (ROOT / fault.test.partition('::')[0]).is_file():
            wrong.append(f'{fault.test}: no such test file')
    if wrong:
        sys.exit('\n'.join(wrong))
    return faults


def failure_of(fault: Fault, copy: Path) -> str:
    """Return the defect of the tests that should catch a fault; '' where they fail."""
    path = copy / fault.file
    original = path.read_text(encoding='utf-8')
    path.write_text(original.replace(fault.text, fault.replacement), encoding='utf-8')
    environment = {
        **os.environ, 'PYTHONDONTWRITEBYTECODE': '1', 'FLEXDYN_CACHE_DIR': str(copy / '.cache'),
    }
    try:
        done = subprocess.run(
            [sys.executable, '-m', 'pytest', '-q', '-x', '--timeout=600', '-m', 'not slow',
             fault.test],
            cwd=copy, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=TIME_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return f'its tests took more than {TIME_LIMIT:.0f} s'
    finally:
        path.write_text(original, encoding='utf-8')
    if done.returncode == 0:
        return 'survives its tests'
    if done.returncode != FAILED:
        return f'its tests did not run: {(done.stdout.strip().splitlines() or [""])[-1]}'
    return ''


def main() -> int:
    """Apply the chosen faults; print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--only', metavar='TEXT', default='',
                        help='faults of files or tests with TEXT')
    parser.add_argument('--jobs', type=int, default=1, help='faults at the same time')
    call = parser.parse_args()
    known = read_faults()
    chosen = [fault for fault in known if call.only in f'{fault.file} {fault.test}']
    copies: queue.Queue[Path] = queue.Queue()
    survived = 0

    def work(fault: Fault) -> tuple[str, float]:
        copy = copies.get()
        began = time.monotonic()
        try:
            return failure_of(fault, copy), time.monotonic() - began
        finally:
            copies.put(copy)

    with tempfile.TemporaryDirectory(prefix='flexdyn_faults_') as folder:
        for number in range(max(1, call.jobs)):
            copy = Path(folder) / str(number)
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
            copies.put(copy)
        with ThreadPoolExecutor(max(1, call.jobs)) as pool:
            for fault, (problem, seconds) in zip(chosen, pool.map(work, chosen)):
                survived += bool(problem)
                verdict = problem or 'caught'
                print(f'{seconds:5.0f} s  {fault.file}: {fault.replacement!r}: {verdict}',
                      flush=True)
    print(f'{len(chosen) - survived} of {len(chosen)} faults were caught.')
    if not call.only and len(known) < FEWEST:
        print(f'The list has {len(known)} faults, fewer than {FEWEST}.')
        return 1
    return 1 if survived else 0


if __name__ == '__main__':
    sys.exit(main())

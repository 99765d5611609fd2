# SPDX-License-Identifier: Apache-2.0
"""The Python and shell blocks of each document run, in their order, in one folder a document."""

import json
import os
from pathlib import Path
import re

from fork_server import COMMANDS, run_forked
import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'^```(python|bash)\n(.*?)^```', re.DOTALL | re.MULTILINE)
# Lines of a signature and not of a program: the variables stand for data of the reader.
SIGNATURES = {'identification.md'}
PAGES = {
    str(path.relative_to(ROOT)): BLOCK.findall(path.read_text(encoding='utf-8'))
    for path in sorted([*ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md')])
    if path.name not in SIGNATURES and path.parent.name != 'generated'
}
RUNNER = """
import json, subprocess, sys
names = {}
for language, block in json.load(open('blocks.json')):
    if language == 'python':
        exec(compile(block, block, 'exec'), names)
    else:
        subprocess.run(['bash', '-euo', 'pipefail', '-c', block], check=True)
"""
# Where ROS 2 is not installed, its launch files run by the stand-in of the tests.
ROS2 = """#!/usr/bin/env bash
file=$(find -L "$FLEXDYN_ROOT/launch" "$FLEXDYN_ROOT/examples" -name "$3")
exec python -m launch_stand_in "$file" "${@:4}"
"""


# Pages whose programs take long; `make test-all` runs them.
LONG = (
    'docs/how_to/see_an_arm_bend.md', 'docs/simulate_a_task.md', 'docs/tutorials/feed_forward.md',
    'docs/tutorials/flexible_link.md', 'docs/tutorials/gravity_compensation.md',
    'docs/tutorials/identify.md', 'docs/tutorials/simulate_and_animate.md',
)


@pytest.mark.parametrize('page', [
    pytest.param(name, marks=[pytest.mark.slow] if name in LONG else [])
    for name, blocks in PAGES.items() if blocks
])
def test_the_blocks_of_a_document_run(page, tmp_path):
    (tmp_path / 'blocks.json').write_text(json.dumps(PAGES[page]))
    (tmp_path / 'runner.py').write_text(RUNNER)
    done = run_forked(COMMANDS, [tmp_path / 'runner.py'], tmp_path, environment(tmp_path))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def environment(folder):
    """Return the environment of a reader whose shell finds this package and ros2."""
    found = dict(os.environ)
    path = [str(ROOT), str(ROOT / 'test'), found.get('PYTHONPATH', '')]
    found.update(PYTHONPATH=os.pathsep.join(filter(None, path)), FLEXDYN_ROOT=str(ROOT))
    programs = folder / 'programs'
    programs.mkdir()
    (programs / 'ros2').write_text(ROS2)
    (programs / 'ros2').chmod(0o755)
    found['PATH'] = os.pathsep.join([found['PATH'], str(programs)])
    return found


def test_documents_with_blocks_are_found():
    assert sum(bool(blocks) for blocks in PAGES.values()) > 10
    languages = {language for blocks in PAGES.values() for language, _ in blocks}
    assert languages == {'python', 'bash'}

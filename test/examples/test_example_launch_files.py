# SPDX-License-Identifier: Apache-2.0
"""The launch files of the examples run, draw their pictures, and end."""

from pathlib import Path
import subprocess
import sys

import pytest
from test_document_blocks import environment
from test_examples import check_picture

pytest.importorskip('rclpy', reason='rclpy is not installed here: `make test` installs it')
pytestmark = pytest.mark.ros
FILES = sorted((Path(__file__).resolve().parents[2] / 'examples').glob('*.launch.py'))


@pytest.mark.slow
@pytest.mark.parametrize('file', FILES, ids=lambda path: path.name)
def test_a_launch_file_draws_and_ends(file, tmp_path):
    picture = tmp_path / 'picture.png'
    done = subprocess.run(
        [sys.executable, '-m', 'launch_stand_in', file, f'picture:={picture}', 'duration:=1.0'],
        env=environment(tmp_path), capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'ERROR' not in done.stdout + done.stderr
    check_picture(picture)


def test_there_are_three_launch_files():
    assert len(FILES) >= 3

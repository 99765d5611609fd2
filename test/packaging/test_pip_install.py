# SPDX-License-Identifier: Apache-2.0
"""The package in an empty virtual environment, to which `pip install .` brings its needs."""

import json
import os
from pathlib import Path
import shutil
import subprocess
import sys

from clean_environment import ROOT
from flexdyn_ros.isolation import without_foreign
import pytest

CANADARM = 'package://flexdyn_ros/urdf/canadarm.urdf.xacro'
NOT_SOURCES = ('.git', '.venv*', 'build', 'install', 'log', '*.egg-info', '__pycache__', '*.so')

USE_LIBRARY = """
import json
import flexdyn_ros as fd
from flexdyn_ros.shared_files import shared_folder
names = [getattr(fd, name) is not None for name in fd.__all__]
robots = {}
for file in sorted((shared_folder() / 'urdf').glob('*.urdf.xacro')):
    robot = fd.load_robot(file)
    robots[file.name] = robot.nv
print(json.dumps([fd.__file__, robots]))
"""
"""Reads every public name and every ready robot."""

pytestmark = [pytest.mark.slow]


@pytest.fixture(scope='module')
def environment(tmp_path_factory):
    """Return the folder with the programs of a new environment that holds this package alone."""
    folder = tmp_path_factory.mktemp('pip')
    sources = folder / 'sources'
    shutil.copytree(ROOT, sources, ignore=shutil.ignore_patterns(*NOT_SOURCES))
    subprocess.run([sys.executable, '-m', 'venv', folder / 'venv'], check=True, timeout=120)
    programs = folder / 'venv' / 'bin'
    output_of([programs / 'python', '-m', 'pip', 'install', '--quiet', sources], folder, 900)
    shutil.rmtree(sources)
    return programs


def output_of(command, folder, limit=120):
    """Return the output of a command that runs in a folder apart from this environment."""
    result = subprocess.run(
        [str(word) for word in command], cwd=folder, env=without_foreign(os.environ),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_library_and_ready_robots(environment, tmp_path):
    """Every public name is there, and every robot of urdf/ loads from the installed files."""
    text = output_of([environment / 'python', '-c', USE_LIBRARY], tmp_path)
    place, robots = json.loads(text)
    assert Path(place).is_relative_to(environment.parent)
    assert set(robots) == {path.name for path in (ROOT / 'urdf').glob('*.urdf.xacro')}
    assert min(robots.values()) > 0


@pytest.mark.parametrize('words', [
    ['check', CANADARM],
    ['info', CANADARM, '--json'],
    ['modes', CANADARM, 'modes:=1'],
    ['simulate', CANADARM, '--t-end', '0.05', '--no-plots', '--out', 'swing'],
    ['generate', CANADARM, '--function', 'inverse_dynamics', '--language', 'c', '-o', 'code'],
    ['count', CANADARM, '--function', 'inverse_dynamics'],
    ['demo', '--help'],
    ['--version'],
], ids=lambda words: words[0])
def test_commands(environment, tmp_path, words):
    """Each subcommand works from any folder, by its script and as a module."""
    assert output_of([environment / 'flexdyn', *words], tmp_path)
    assert output_of([environment / 'python', '-m', 'flexdyn_ros', '--version'], tmp_path)


def test_the_extension_is_part_of_the_installation(environment, tmp_path):
    """`pip` builds the C extension with the numpy that pyproject.toml names."""
    found = output_of([environment / 'python', '-c', (
        'from pathlib import Path; import flexdyn_ros; '
        'print(*Path(flexdyn_ros.__file__).parent.rglob("*.so"))'
    )], tmp_path)
    assert found.strip()

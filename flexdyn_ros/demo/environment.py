# SPDX-License-Identifier: Apache-2.0
"""The environment of the demonstration's processes: one ROS, this machine, a domain of its own."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
from typing import Mapping
from typing import Optional
from typing import Union

import flexdyn_ros
from flexdyn_ros.isolation import isolated_environment
from flexdyn_ros.isolation import PATH_VARIABLES

PathLike = Union[str, 'os.PathLike[str]']

MARKER = Path('share/ament_index/resource_index/packages/flexdyn_ros')
EXECUTABLE = Path('lib/flexdyn_ros/forward_dynamics_node')
GUARD = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'  # stops ROS wheels from setting up their libraries
ISOLATED = 'FLEXDYN_DEMO_ISOLATED'  # says that the environment is one of those made here
UNCLAIMED = 0  # a domain id for processes that do not use DDS

# The arithmetic of a few joints gains nothing from threads, and several processes share the cores.
THREADS = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1'}


def own_prefix(environment: Mapping[str, str]) -> Optional[Path]:
    """
    Return the prefix under which this package is installed as ament has it, None where nowhere.

    Args:
        environment: Variables of the calling shell.
    """
    package = Path(flexdyn_ros.__file__).resolve().parent
    sourced = environment.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    candidates = [Path(sys.prefix), *package.parents, *map(Path, filter(None, sourced))]
    for prefix in candidates:
        if (prefix / MARKER).exists() and (prefix / EXECUTABLE).exists():
            return prefix
    return None


class DemoEnvironment:
    """
    What the processes of the demonstration inherit.

    Where this Python finds ROS by itself, as that of a virtual environment with ROS packages
    does, every search path of the calling shell is dropped. Where it does not, ROS came from the
    shell that sourced it, and its paths stay; what reaches the network never does.

    Attributes:
        prefix: Where this package is installed, None where nowhere.
        keeps_paths: Whether the search paths of the shell stay.
    """

    def __init__(self, environment: Optional[Mapping[str, str]] = None):
        """
        Look at the calling shell.

        Args:
            environment: Its variables; default the process's own.
        """
        self._environment = dict(os.environ if environment is None else environment)
        self.prefix = own_prefix(self._environment)
        self.keeps_paths = False
        if self.has_foreign_paths and not self._finds_ros():
            self.keeps_paths = True
            self.keeps_paths = self._finds_ros()

    @property
    def has_foreign_paths(self) -> bool:
        """Whether the calling shell has search paths that are not those set here."""
        names = (*PATH_VARIABLES, GUARD)
        return ISOLATED not in self._environment and any(map(self._environment.get, names))

    def variables(self, domain_id: int, log_folder: PathLike) -> dict[str, str]:
        """
        Return all variables for a process.

        Args:
            domain_id: The claimed domain.
            log_folder: Where ROS writes its logs.
        """
        found = isolated_environment(self._environment, Path(sys.prefix), domain_id)
        before = {
            name: self._environment[name]
            for name in PATH_VARIABLES
            if self.keeps_paths and self._environment.get(name)
        }
        found.update(before)
        source = str(Path(flexdyn_ros.__file__).resolve().parents[1])
        prefix = [str(self.prefix)] if self.prefix else []
        found['PYTHONPATH'] = _joined(source, before.get('PYTHONPATH'))
        found['AMENT_PREFIX_PATH'] = _joined(*prefix, found['AMENT_PREFIX_PATH'])
        if self.keeps_paths and self._environment.get('ROS_DISTRO') == 'humble':
            found['ROS_LOCALHOST_ONLY'] = '1'  # its name for ROS_AUTOMATIC_DISCOVERY_RANGE
        found.update(THREADS)
        found.update(
            MPLBACKEND='Agg', PYTHONUNBUFFERED='1',
            ROS_LOG_DIR=str(log_folder), RCUTILS_COLORIZED_OUTPUT='0',
        )
        found[ISOLATED] = '1'
        return found

    def _finds_ros(self) -> bool:
        """Return whether Python finds rclpy."""
        done = subprocess.run(
            [sys.executable, '-c', 'import rclpy'], capture_output=True,
            env=self.variables(UNCLAIMED, os.devnull),
        )
        return done.returncode == 0


def _joined(*parts: Optional[str]) -> str:
    return os.pathsep.join(dict.fromkeys(filter(None, parts)))
